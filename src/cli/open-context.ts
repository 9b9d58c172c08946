import type { CommandContext } from './context.js';
import { printLines, printNotice } from './io.js';
import { printRows, printJson } from './output/output.js';
import { connect, demandMirror, findSettings } from './mirror-location.js';

type Called = Pick<CommandContext, 'io' | 'format'>;

export async function withContext(
  called: Called,
  work: (context: CommandContext) => Promise<unknown>,
): Promise<void> {
  const closings: (() => Promise<unknown>)[] = [];
  try {
    await work(createContext(called, close => void closings.push(close)));
  } finally {
    for (const close of closings.toReversed()) await close();
  }
}

function createContext(called: Called, atEnd: (close: () => Promise<unknown>) => void): CommandContext {
  const { io, format } = called;
  const settings = once(() => findSettings(io));
  const location = once(() => demandMirror(settings(), io));
  const opened = <T extends { close(): Promise<unknown> }>(open: () => Promise<T>) =>
    once(async () => {
      const it = await open();
      atEnd(() => it.close());
      return it;
    });
  const writers = opened(() => location().engine.openWriters(io.now));
  const pdfs = opened(() => location().engine.openPdfs(io.now));
  return {
    ...called,
    location,
    settings,
    reader: opened(() => location().engine.openReader()),
    inbox: opened(() => location().engine.openInbox(io.now)),
    writers: async () => {
      const { createMirror } = await import('../mirror/create-mirror.js');
      const all = await writers();
      return { ...all, mirror: createMirror(all.mirror, io.now) };
    },
    pdfs: async () => (await pdfs()).pdfs,
    client: once(() => connect(settings(), io)),
    rows: (columns, rows, shape) => printRows(io, format, columns, rows, shape),
    value: value => printJson(io, value),
    printResult: async (done, ...sentences) => {
      if (format === 'json') await printJson(io, done);
      printNotice(io, ...sentences);
    },
    printLines: (...lines) => printLines(io, ...lines),
    printNotice: (...lines) => printNotice(io, ...lines),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
