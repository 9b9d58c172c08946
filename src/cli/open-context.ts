import type { CommandContext } from './context.js';
import { printLines, printNotice } from './io.js';
import { printAnswer } from './output/answer.js';
import { printRows, printJson } from './output/output-formats.js';
import {
  connectRegistry,
  describeDemoData,
  findMirrorLocation,
  requireExistingMirror,
} from './mirror-location.js';

/** The outside world of one command, and the output format that its options ask for. */
type CommandEnvironment = Pick<CommandContext, 'io' | 'format'>;
type CloseResource = () => Promise<unknown>;

/** Runs a command with a new context. Afterwards closes everything that the command has opened. */
export async function runInContext(
  environment: CommandEnvironment,
  runCommand: (context: CommandContext) => Promise<unknown>,
): Promise<void> {
  const closers: CloseResource[] = [];
  try {
    await runCommand(createContext(environment, close => void closers.push(close)));
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

/** Creates the context of a command, which opens databases on demand. `onOpened` receives the function that closes each one. */
function createContext(
  environment: CommandEnvironment,
  onOpened: (close: CloseResource) => void,
): CommandContext {
  const { io, format } = environment;
  const findMirror = memoize(() => findMirrorLocation(io));
  const requireMirror = memoize(() => {
    const location = requireExistingMirror(findMirror(), io);
    // Only status and doctor name the mirror, so a demo's credits would pass for real ones elsewhere.
    if (location.isDemo) printNotice(io, describeDemoData(location));
    return location;
  });
  const getEngine = () => requireMirror().engine;
  const openOnce = <T extends { close(): Promise<unknown> }>(open: () => Promise<T>) =>
    memoize(async () => {
      const resource = await open();
      onOpened(() => resource.close());
      return resource;
    });
  const openWriters = openOnce(() => getEngine().openWriterStores(io.now));
  const openPdfs = openOnce(() => getEngine().openPdfs(io.now));
  return {
    ...environment,
    requireMirror,
    findMirror,
    openReader: openOnce(() => getEngine().openReader()),
    openInbox: openOnce(() => getEngine().openInbox(io.now)),
    openWriters: async () => {
      const { createMirror } = await import('../mirror/create-mirror.js');
      const writers = await openWriters();
      return { ...writers, mirror: createMirror(writers.mirror, io.now) };
    },
    openPdfs: async () => (await openPdfs()).pdfs,
    connectRegistry: memoize(() => connectRegistry(findMirror(), io)),
    printRows: (columns, rows, shape) => printRows(io, format, columns, rows, shape),
    printAnswer: (answer, shape) => printAnswer(io, format, answer, shape),
    printJson: value => printJson(io, value),
    printResult: async (result, ...sentences) => {
      if (format === 'json') await printJson(io, result);
      printNotice(io, ...sentences);
    },
    printLines: (...lines) => printLines(io, ...lines),
    printNotice: (...lines) => printNotice(io, ...lines),
  };
}

/** Returns a function that calls `compute` once and caches the result. */
function memoize<T>(compute: () => T): () => T {
  let computed: { readonly value: T } | null = null;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}
