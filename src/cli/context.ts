import type { Engine, WriterStores } from '../store/engine.js';
import type { Reader } from '../store/contract/reader.js';
import type { InboxPort } from '../inbox/port.js';
import type { Mirror } from '../mirror/mirror.js';
import type { PdfStore } from '../mirror/certificates/pdf-store.js';
import type { RegistryClient } from '../registry/client-types.js';
import type { Io } from './io.js';
import type { Answer } from '../query/answer/answer.js';
import type { AnswerShape } from './output/answer.js';
import type { OutputFormat, OutputRows, Row } from './output/output-formats.js';
import type { TableShape } from './output/table.js';

/** Everything a command may use. Resources that a command opens are closed when it ends. */
export interface CommandContext {
  readonly io: Io;
  readonly format: OutputFormat;
  /** Returns the mirror that the settings name, or the demo. Throws a usage error if it does not exist. */
  readonly requireMirror: () => MirrorContext;
  /** Returns the same location, but the mirror may not exist yet. */
  readonly findMirror: () => MirrorContext;
  readonly openReader: () => Promise<Reader>;
  readonly openInbox: () => Promise<InboxPort>;
  readonly openWriters: () => Promise<CommandWriters>;
  readonly openPdfs: () => Promise<PdfStore>;
  readonly connectRegistry: () => Promise<RegistryClient>;
  /** Prints rows in the requested format and returns their number. */
  readonly printRows: (columns: readonly string[], rows: OutputRows, shape?: TableShape) => Promise<number>;
  /** Prints an answer in the requested format, and its notes to stderr. */
  readonly printAnswer: (answer: Answer<Row>, shape: AnswerShape) => Promise<void>;
  /** Prints one value as JSON, whatever format was requested. */
  readonly printJson: (value: unknown) => Promise<void>;
  /** Prints the result of an action: as JSON if requested, and as sentences on stderr. */
  readonly printResult: (result: unknown, ...sentences: readonly string[]) => Promise<void>;
  /** Prints lines for people to stdout. */
  readonly printLines: (...lines: readonly string[]) => Promise<void>;
  /** Prints lines for people to stderr. */
  readonly printNotice: (...lines: readonly string[]) => void;
}

/** The writers of the engine, with a mirror that checks claims. */
type CommandWriters = Omit<WriterStores, 'mirror' | 'close'> & { readonly mirror: Mirror };

/** The folder and database of a mirror, with the settings that belong to it. */
export interface MirrorContext {
  readonly isDemo: boolean;
  readonly folder: string;
  readonly engine: Engine;
  /** The environment, or the settings that the demo was started with. */
  readonly env: Io['env'];
}
