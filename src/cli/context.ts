import type { Engine, Writers } from '../store/engine.js';
import type { Reader } from '../store/contract/reader.js';
import type { InboxPort } from '../inbox/port.js';
import type { Mirror } from '../mirror/mirror.js';
import type { PdfStore } from '../mirror/pdf-store.js';
import type { RegistryClient } from '../registry/clients.js';
import type { Io } from './io.js';
import type { OutputFormat, OutputRows } from './output/formats.js';
import type { TableShape } from './output/table.js';

/** Everything a command may use. Resources that it opens are closed when the command ends. */
export interface CommandContext {
  readonly io: Io;
  readonly format: OutputFormat;
  /** The mirror of the settings, or the demo's; throws if there is none. */
  readonly requireMirror: () => MirrorLocation;
  /** The mirror of the settings, for commands that do not need it to exist. */
  readonly findMirror: () => MirrorLocation;
  readonly openReader: () => Promise<Reader>;
  readonly openInbox: () => Promise<InboxPort>;
  readonly openWriters: () => Promise<CommandWriters>;
  readonly openPdfs: () => Promise<PdfStore>;
  readonly connectRegistry: () => Promise<RegistryClient>;
  /** Print data in the requested format: rows, or one value as JSON. */
  readonly printRows: (columns: readonly string[], rows: OutputRows, shape?: TableShape) => Promise<number>;
  readonly printJson: (value: unknown) => Promise<void>;
  /** Prints what was done: a value as JSON if requested, and sentences as notices. */
  readonly printResult: (done: unknown, ...sentences: readonly string[]) => Promise<void>;
  readonly printLines: (...lines: readonly string[]) => Promise<void>;
  /** Prints lines for people to stderr. */
  readonly printNotice: (...lines: readonly string[]) => void;
}

type CommandWriters = Omit<Writers, 'mirror' | 'close'> & { readonly mirror: Mirror };

/** Where a command finds its mirror, and the settings that belong to it. */
export interface MirrorLocation {
  readonly isDemo: boolean;
  readonly folder: string;
  readonly engine: Engine;
  /** The environment, or the settings that the demo was started with. */
  readonly env: Io['env'];
}
