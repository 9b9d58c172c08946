import type { Engine, Writers } from '../store/engine.js';
import type { Reader } from '../store/contract/reader.js';
import type { InboxPort } from '../inbox/port.js';
import type { Mirror } from '../mirror/mirror.js';
import type { PdfStore } from '../mirror/pdf-store.js';
import type { RegistryClient } from '../registry/clients.js';
import type { Io } from './io.js';
import type { Format, Rows } from './output/output.js';
import type { TableShape } from './output/table.js';

/** What a command may ask for. What it opens is closed as it ends. */
export interface CommandContext {
  readonly io: Io;
  readonly format: Format;
  /** Where the mirror is that the settings name, or the demo's. */
  readonly location: () => MirrorLocation;
  /** The same for what needs no mirror there. */
  readonly settings: () => MirrorLocation;
  readonly reader: () => Promise<Reader>;
  readonly inbox: () => Promise<InboxPort>;
  readonly writers: () => Promise<AllWriters>;
  readonly pdfs: () => Promise<PdfStore>;
  readonly client: () => Promise<RegistryClient>;
  /** Data in the form that was asked for: rows, or one value as JSON. */
  readonly rows: (columns: readonly string[], rows: Rows, shape?: TableShape) => Promise<number>;
  readonly value: (value: unknown) => Promise<void>;
  /** What was done: for a program one value, and for a person sentences, which are talk. */
  readonly printResult: (done: unknown, ...sentences: readonly string[]) => Promise<void>;
  readonly printLines: (...lines: readonly string[]) => Promise<void>;
  /** Talk, which is no data. */
  readonly printNotice: (...lines: readonly string[]) => void;
}

type AllWriters = Omit<Writers, 'mirror' | 'close'> & { readonly mirror: Mirror };

/** Where a command finds its mirror, and the settings that belong to it. */
export interface MirrorLocation {
  readonly demo: boolean;
  readonly folder: string;
  readonly engine: Engine;
  /** The environment, or the settings that the demo was started with. */
  readonly env: Io['env'];
}
