import type { CommandContext } from './context.js';
import { printLines, printNotice } from './io.js';
import { printRows, printJson } from './output/formats.js';
import { connectRegistry, assertMirrorExists, findMirrorLocation } from './mirror-location.js';

type CommandCall = Pick<CommandContext, 'io' | 'format'>;

export async function runInContext(
  called: CommandCall,
  work: (context: CommandContext) => Promise<unknown>,
): Promise<void> {
  const closings: (() => Promise<unknown>)[] = [];
  try {
    await work(createContext(called, close => void closings.push(close)));
  } finally {
    for (const close of closings.toReversed()) await close();
  }
}

function createContext(called: CommandCall, atEnd: (close: () => Promise<unknown>) => void): CommandContext {
  const { io, format } = called;
  const settings = memoize(() => findMirrorLocation(io));
  const location = memoize(() => assertMirrorExists(settings(), io));
  const opened = <T extends { close(): Promise<unknown> }>(open: () => Promise<T>) =>
    memoize(async () => {
      const it = await open();
      atEnd(() => it.close());
      return it;
    });
  const writers = opened(() => location().engine.openWriters(io.now));
  const pdfs = opened(() => location().engine.openPdfs(io.now));
  return {
    ...called,
    requireMirror: location,
    findMirror: settings,
    openReader: opened(() => location().engine.openReader()),
    openInbox: opened(() => location().engine.openInbox(io.now)),
    openWriters: async () => {
      const { createMirror } = await import('../mirror/create-mirror.js');
      const all = await writers();
      return { ...all, mirror: createMirror(all.mirror, io.now) };
    },
    openPdfs: async () => (await pdfs()).pdfs,
    connectRegistry: memoize(() => connectRegistry(settings(), io)),
    printRows: (columns, rows, shape) => printRows(io, format, columns, rows, shape),
    printJson: value => printJson(io, value),
    printResult: async (done, ...sentences) => {
      if (format === 'json') await printJson(io, done);
      printNotice(io, ...sentences);
    },
    printLines: (...lines) => printLines(io, ...lines),
    printNotice: (...lines) => printNotice(io, ...lines),
  };
}

function memoize<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
