import type { Engine, Writers } from '../store/engine.js';
import type { Reader } from '../store/contract/reader.js';
import type { InboxPort } from '../inbox/port.js';
import type { Mirror } from '../mirror/mirror.js';
import type { PdfStore } from '../mirror/pdf-store.js';
import type { RegistryClient } from '../registry/clients.js';
import type { Io } from './io.js';
import type { Format, Rows } from './output/output.js';
import type { TableShape } from './output/table.js';

/** Everything a command may use. Resources that it opens are closed when the command ends. */
export interface CommandContext {
  readonly io: Io;
  readonly format: Format;
  /** The mirror of the settings, or the demo's; throws if there is none. */
  readonly location: () => MirrorLocation;
  /** The mirror of the settings, for commands that do not need it to exist. */
  readonly settings: () => MirrorLocation;
  readonly reader: () => Promise<Reader>;
  readonly inbox: () => Promise<InboxPort>;
  readonly writers: () => Promise<AllWriters>;
  readonly pdfs: () => Promise<PdfStore>;
  readonly client: () => Promise<RegistryClient>;
  /** Print data in the requested format: rows, or one value as JSON. */
  readonly rows: (columns: readonly string[], rows: Rows, shape?: TableShape) => Promise<number>;
  readonly value: (value: unknown) => Promise<void>;
  /** Prints what was done: a value as JSON if requested, and sentences as notices. */
  readonly printResult: (done: unknown, ...sentences: readonly string[]) => Promise<void>;
  readonly printLines: (...lines: readonly string[]) => Promise<void>;
  /** Prints lines for people to stderr. */
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
