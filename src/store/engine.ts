import type { ConsistencyFault, Finding } from './contract/finding.js';
import type { EvidencePort } from '../evidence/port.js';
import type { EventsPort } from '../events/port.js';
import type { InboxPort } from '../inbox/port.js';
import type { PdfStore } from '../mirror/certificates/pdf-store.js';
import type { MirrorPort } from '../mirror/port/mirror-port.js';
import type { StatementRows, SqlQuery } from './contract/sql-query.js';
import type { Disk } from './contract/disk-space.js';
import type { OpenReader, Reader } from './contract/reader.js';
import type { Relation } from './contract/describe-schema.js';
import type { LawListener } from './laws/law.js';
import type { DatabaseName } from './migrations.js';
import type { DatabaseSettings } from './settings.js';

/** A migration that this run applied. */
export interface NewMigration {
  readonly database: string;
  readonly file: string;
}

/** How much of a write-ahead log is not in its database file yet, and how long a reader has prevented that. */
interface WalStatus {
  readonly name: DatabaseName;
  readonly unmovedBytes: number;
  readonly heldMs: number;
}

/** The ports to all stored data. */
interface Stores {
  readonly inbox: InboxPort;
  readonly mirror: MirrorPort;
  readonly pdfs: PdfStore;
  readonly reader: Reader;
  readonly close: () => Promise<void>;
}

/** The stores of a worker. */
export interface WorkerStores extends Stores {
  /** Reads the state of each write-ahead log. Empty on PostgreSQL. Durations count from the call that first saw a reader. */
  readonly readWalStatus: (now: number) => readonly WalStatus[];
}

/** The result of an attempt to remove older copies of deleted rows. */
export interface ErasureReport {
  /** Whether every table with removed rows was vacuumed. */
  readonly vacuumed: boolean;
  /** Whether the write-ahead log was emptied. */
  readonly logEmptied: boolean;
  /** Places where older copies may remain, in words. */
  readonly remainingCopies: readonly string[];
}

/** The PDF store of a command that only reads. */
export type OpenPdfs = Pick<Stores, 'pdfs' | 'close'>;

/** The stores of a command that writes while a receiver and a worker run. */
export interface WriterStores extends Stores {
  /** Removes older copies of deleted rows as far as the engine can. */
  readonly erase: (vacuum: boolean) => Promise<ErasureReport>;
}

/** Called when an idle connection is lost. The next request opens a new one. */
export type OnConnectionLost = (error: Error) => void;

/** The clock of a worker's stores, and what to call when a connection or the writing thread ends. */
export interface WorkerStoreOptions {
  readonly now: () => number;
  /** Called when the thread that writes the mirror has ended. Nothing can be written after that. */
  readonly onWriterFailed: (error: Error) => void;
  readonly onConnectionLost: OnConnectionLost;
}

/** Copies database files and restores them. Processes may write during a copy, but not during a restore. */
export interface BackupStore {
  readonly copyTo: (folder: string) => Promise<void>;
  /** Throws if a process has one of the files open. */
  readonly assertNotOpen: () => Promise<void>;
  /** Opens the folder in which a restore prepares its files. Throws if another restore runs. */
  readonly openStagingFolder: () => Promise<StagingFolder>;
  /** Moves the current files to `replacedFolder`, and the files of `newFolder` into their place. */
  readonly replaceWith: (newFolder: string, replacedFolder: string) => Promise<void>;
  /** Copies all files into an unused PostgreSQL database. */
  readonly moveTo: (database: DatabaseSettings, now: number) => Promise<MoveResult>;
}

/** The folder in which a restore prepares its files. It is removed when it is closed. */
export interface StagingFolder {
  readonly folder: string;
  readonly close: () => void;
}

/** The numbers of rows and certificates that were moved to PostgreSQL. */
export interface MoveResult {
  readonly rows: number;
  readonly certificates: number;
}

/**
 * A database engine: all operations that programs need of SQLite or PostgreSQL. Creating an engine opens nothing. Each operation
 * loads its code when it is called, and the caller closes what it opened.
 */
export interface Engine {
  /** The place of the data, for messages to people. */
  readonly location: string;
  /** The database files on this machine by name; empty for PostgreSQL. */
  readonly files: Readonly<Record<string, string>>;
  /** Lists the folders on this machine with older copies of the mirror, which no command reads. */
  readonly findOlderCopies: () => Promise<readonly string[]>;
  /** Returns a database file that commands read and that is missing; null if none is. Connects to no server. */
  readonly findMissingFile: () => string | null;
  /** Migrates all databases to the schema of this program. */
  readonly migrate: (now: number) => Promise<readonly NewMigration[]>;
  /** Migrates SQLite files. On PostgreSQL, waits until the schema is migrated, and calls `onWait` once with the reason. */
  readonly prepare: (
    databases: readonly DatabaseName[],
    now: number,
    onWait: (reason: string) => void,
  ) => Promise<readonly NewMigration[]>;
  /** Opens a reader. Its snapshots and streams use connections of their own. */
  readonly openReader: () => Promise<OpenReader>;
  readonly openPdfs: (now: () => number) => Promise<OpenPdfs>;
  readonly openInbox: (now: () => number) => Promise<InboxPort>;
  readonly openWriterStores: (now: () => number) => Promise<WriterStores>;
  /** Opens the evidence log; null if it was never created. */
  readonly openEvidence: () => Promise<EvidencePort | null>;
  /** Opens the database of event subscriptions; null if none was ever created. */
  readonly openEvents: (now: () => number) => Promise<EventsPort | null>;
  readonly openWorkerStores: (options: WorkerStoreOptions) => Promise<WorkerStores>;
  /** Runs an SQL query that a user wrote, with a time limit. Throws `SqlQueryError`. */
  readonly runSqlQuery: (query: SqlQuery) => Promise<StatementRows>;
  /** Writes a consistent copy of the mirror to a new file. Returns false if the file exists. */
  readonly snapshot: (file: string, now: number) => Promise<boolean>;
  /** Copies and restores files; null for PostgreSQL, which has its own tools. */
  readonly backup: BackupStore | null;
  /** Checks the data laws and returns the rows that violate them. */
  readonly findConsistencyFaults: (now: number, onLaw?: LawListener) => Promise<readonly ConsistencyFault[]>;
  /** Describes what `findConsistencyFaults` has checked, for the message that it found no fault. */
  readonly checkedDescription: string;
  /** Runs the checks of `doctor` that depend on the engine. Throws if nothing can be read. */
  readonly examine: () => AsyncIterable<Finding>;
  readonly describeSchema: () => readonly Relation[];
  /** Measures the disk with the database files; null for PostgreSQL. */
  readonly measureDisk: () => Disk | null;
  /** Returns the size of a write-ahead log file; null for PostgreSQL. */
  readonly walBytes: (database: DatabaseName) => number | null;
}
