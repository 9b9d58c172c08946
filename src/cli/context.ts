import type { Reader } from '../engines/contract/reader.js';
import type { InboxPort } from '../inbox/port.js';
import type { PdfStore } from '../mirror/pdf-store.js';
import type { RegistryClient } from '../registry/clients.js';
import { type Io, print, say } from './io.js';
import { type Format, type Row, writeRows, writeValue } from './output/output.js';
import type { TableShape } from './output/table.js';
import { findPlace, findSettings } from './place/find-place.js';
import type { MirrorWriters } from './place/mirror-writer.js';
import type { Place } from './place/place.js';

/** What a command may ask for. What it opens is closed as it ends. */
export interface Context {
  readonly io: Io;
  readonly format: Format;
  /** Where the mirror is that the settings name, or the demo's. */
  readonly place: () => Place;
  /** The same for what needs no mirror there. */
  readonly settings: () => Place;
  readonly reader: () => Promise<Reader>;
  readonly inbox: () => Promise<InboxPort>;
  readonly writers: () => Promise<MirrorWriters>;
  readonly pdfs: () => Promise<PdfStore>;
  readonly client: () => Promise<RegistryClient>;
  /** Data in the form that was asked for: rows, or one value as JSON. */
  readonly rows: (columns: readonly string[], rows: Rows, shape?: TableShape) => Promise<number>;
  readonly value: (value: unknown) => Promise<void>;
  readonly print: (...lines: readonly string[]) => Promise<void>;
  /** Talk, which is no data. */
  readonly say: (...lines: readonly string[]) => void;
}

type Rows = Iterable<Row> | AsyncIterable<Row>;

export async function withContext(
  io: Io,
  format: Format,
  work: (context: Context) => Promise<unknown>,
): Promise<void> {
  const closings: (() => Promise<unknown>)[] = [];
  try {
    await work(createContext(io, format, close => void closings.push(close)));
  } finally {
    for (const close of closings.toReversed()) await close();
  }
}

function createContext(io: Io, format: Format, atEnd: (close: () => Promise<unknown>) => void): Context {
  const place = once(() => findPlace(io));
  const settings = once(() => findSettings(io));
  const opened = <T extends { close(): Promise<unknown> }>(open: () => Promise<T>) =>
    once(async () => {
      const it = await open();
      atEnd(() => it.close());
      return it;
    });
  const writers = opened(() => place().engine.openWriters(io.now));
  const pdfs = opened(() => place().engine.openPdfs(io.now));
  return {
    io,
    format,
    place,
    settings,
    reader: opened(() => place().engine.openReader()),
    inbox: opened(() => place().engine.openInbox(io.now)),
    writers: async () => {
      const { createMirror } = await import('../mirror/create-mirror.js');
      const all = await writers();
      return { ...all, mirror: createMirror(all.mirror, io.now) };
    },
    pdfs: async () => (await pdfs()).pdfs,
    client: once(async () => {
      const { connect } = await import('./place/connect.js');
      return await connect(settings(), io);
    }),
    rows: (columns, rows, shape) => writeRows(io, format, columns, rows, shape),
    value: value => writeValue(io, value),
    print: (...lines) => print(io, ...lines),
    say: (...lines) => say(io, ...lines),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
