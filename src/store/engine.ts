import type { ConsistencyFault } from './contract/consistency-fault.js';
import type { EvidencePort } from '../evidence/port.js';
import type { InboxPort } from '../inbox/port.js';
import type { PdfStore } from '../mirror/pdf-store.js';
import type { MirrorPort } from '../mirror/port.js';
import type { StatementRows, SqlQuery } from './contract/sql-query.js';
import type { Disk } from './contract/disk-space.js';
import type { Finding } from './contract/finding.js';
import type { OpenReader, Reader } from './contract/reader.js';
import type { Relation } from './contract/describe-schema.js';
import type { LawListener } from './laws/law.js';
import type { Family } from './migrations.js';
import type { DatabaseSettings } from './settings.js';

/** A migration that was applied now. */
export interface NewMigration {
  readonly database: string;
  readonly file: string;
}

/** What the engine's log of writes has. */
interface HeldLog {
  readonly name: Family;
  readonly unmovedBytes: number;
  readonly heldMs: number;
}

/** Everything that is kept. */
interface Stores {
  readonly inbox: InboxPort;
  readonly mirror: MirrorPort;
  readonly pdfs: PdfStore;
  readonly reader: Reader;
  readonly close: () => Promise<void>;
}

/** The worker's own connections. */
export interface WorkStore extends Stores {
  /** How long readers hold each log back; none where that is no matter of ours. */
  readonly logs: (now: number) => readonly HeldLog[];
}

export interface ErasureReport {
  /** Whether the engine has vacuumed all that rows were removed from; what that leaves is in `left`. */
  readonly vacuumed: boolean;
  readonly logEmptied: boolean;
  /** Where older copies may still stand. */
  readonly left: readonly string[];
}

/** The certificates of a command that only reads. */
export type OpenPdfs = Pick<Stores, 'pdfs' | 'close'>;

/** What a command writes by, beside a running receiver and worker. */
export interface WriteStore extends Stores {
  /** After something was removed: leaves as few older copies of it as the engine can see to. */
  readonly erase: (vacuum: boolean) => Promise<ErasureReport>;
}

/** Told of a connection that was lost while nobody waited for an answer: it is made anew by who asks next. */
export type OnConnectionLost = (error: Error) => void;

export interface WorkOptions {
  readonly now: () => number;
  /** What writes has ended by itself; nothing can be written any more. */
  readonly failed: (error: Error) => void;
  readonly lost: OnConnectionLost;
}

/** How files are copied, and put back. Processes that write them need not stop for the first. */
export interface BackupStore {
  readonly copyTo: (folder: string) => Promise<void>;
  /** Throws where a process has them open. */
  readonly assertNotOpen: () => Promise<void>;
  /** Opens the folder in which a restore prepares its files. Throws where another restore runs. */
  readonly openStage: () => Promise<Stage>;
  /** Puts the files of a folder here, and into another what stood here, where anything did. */
  readonly replaceBy: (folder: string, aside: string) => Promise<void>;
  /** Into a database that nobody has used. */
  readonly moveTo: (database: DatabaseSettings, now: number) => Promise<MoveResult>;
}

/** The folder in which a restore prepares its files. It is removed when it is closed. */
export interface Stage {
  readonly folder: string;
  readonly close: () => void;
}

export interface MoveResult {
  readonly rows: number;
  readonly certificates: number;
}

/**
 * All that a program asks of where it keeps things. To have one opens nothing: each operation loads what it needs, and
 * what it opens is closed by whoever asked for it.
 */
export interface Engine {
  /** Where that is, in a person's words. */
  readonly location: string;
  /** What stands on this machine's own disk, by its name; none where nothing does. */
  readonly files: Readonly<Record<string, string>>;
  /** Names the folders on this machine that hold older copies of the mirror, which no command reads. */
  readonly findOlderCopies: () => Promise<readonly string[]>;
  /** What is not there of what commands read; null where all is, as far as can be told without asking. */
  readonly findMissing: () => string | null;
  /** Bring all to the schema of this program. */
  readonly migrate: (now: number) => Promise<readonly NewMigration[]>;
  /** The same where it is a process's own to do; elsewhere it is waited for, which `waits` is told once, and for what. */
  readonly prepare: (
    families: readonly Family[],
    now: number,
    waits: (what: string) => void,
  ) => Promise<readonly NewMigration[]>;
  /** What it asks of one moment, or streams, is nobody else's. */
  readonly openReader: () => Promise<OpenReader>;
  readonly openPdfs: (now: () => number) => Promise<OpenPdfs>;
  readonly openInbox: (now: () => number) => Promise<InboxPort>;
  readonly openWriters: (now: () => number) => Promise<WriteStore>;
  /** What is sealed, and what of; null where nothing ever was. */
  readonly openEvidence: () => Promise<EvidencePort | null>;
  readonly openWork: (options: WorkOptions) => Promise<WorkStore>;
  /** Runs a person's SQL where it can be ended. Throws `SqlQueryError`. */
  readonly ask: (question: SqlQuery) => Promise<StatementRows>;
  /** Writes a consistent copy of the mirror to a new file; false where that is there already. */
  readonly snapshot: (file: string, now: number) => Promise<boolean>;
  /** Null where that is a matter of the server's own tools. */
  readonly backup: BackupStore | null;
  /** What must hold in any mirror at any moment, whatever the registry said, and does not. */
  readonly findConsistencyFaults: (now: number, onLaw?: LawListener) => Promise<readonly ConsistencyFault[]>;
  /** What `findConsistencyFaults` has found whole where it has found nothing. */
  readonly checked: string;
  /** What is the engine's own matter. Throws where nothing can be read. */
  readonly examine: () => AsyncIterable<Finding>;
  readonly describeSchema: () => readonly Relation[];
  /** The disk on which it writes; null where that is no matter of ours. */
  readonly measureDisk: () => Disk | null;
  /** The size of a log of writes beside the data; null where there is none. */
  readonly logBytes: (family: Family) => number | null;
}
