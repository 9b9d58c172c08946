import type { CommitResult, OpenSync, SyncCompletion, WriteClaim, WriteResult, SyncCause } from './sync.js';
import type { ListChanges, ListCommitResult, ListRef, RowKey, StoredRow } from './rows.js';
import type { AccessMark, ListState } from './read.js';
import type {
  CertificateDownload,
  CertificateSelection,
  CertificateWriteResult,
  DueCertificate,
} from './certificates.js';
import type { Resource } from '../../resources/lists.js';
import type { InstallationColumns } from '../../resources/installations.js';
import type { InstallationState } from '../../store/contract/states.js';
import type { SqlValue } from '../../resources/sql-values.js';

/**
 * The storage of the mirror, implemented for SQLite and PostgreSQL. Each operation is atomic; it takes and returns plain
 * values, so that no caller depends on the database.
 */
export interface MirrorPort {
  /** Throws `foreign_registry` if the mirror was filled from another registry or app. */
  readonly checkOrigin: (origin: MirrorOrigin, at: number) => Promise<void>;
  /** Returns facts about the mirror as a whole, such as when it was first filled. */
  readonly readMirrorState: () => Promise<MirrorState>;
  /** Stores a worker's report for programs that see only the mirror. */
  readonly report: (report: WorkerReport) => Promise<void>;
  /** Refuses writes of older claims from now on and ends their open syncs. Must be called at the start of a claim. */
  readonly raiseFence: (claim: WriteClaim, at: number) => Promise<void>;

  /** Returns all installations, or the one with this id. */
  readonly listInstallations: (id?: string) => Promise<readonly KnownInstallation[]>;
  /** Stores an installation; a `row` of null records that the registry no longer shows it. */
  readonly writeInstallation: (
    id: string,
    row: InstallationColumns | null,
    read: InstallationRead,
  ) => Promise<WriteResult>;

  /** Returns the state of each resource of an organization. */
  readonly readListStates: (organizationId: string) => Promise<ReadonlyMap<Resource, ListState>>;
  /** Marks resources as not readable. Their rows stay; the next read that succeeds removes the mark. */
  readonly markAccess: (
    mark: AccessMark,
    claim: WriteClaim,
    resources: readonly Resource[],
    at: number,
  ) => Promise<void>;

  /** Returns the stored rows of these keys, with their column values if `withCells` is true. */
  readonly findRows: (list: ListRef, keys: readonly RowKey[], withCells?: boolean) => Promise<StoredRow[]>;
  /** Returns up to `limit` rows after a key, ordered by key. Null starts at the beginning. */
  readonly listRowsAfter: (
    list: ListRef,
    afterKey: RowKey | null,
    limit: number,
  ) => Promise<Pick<StoredRow, 'version' | 'key'>[]>;
  /**
   * Writes changes of a sync; `completion` ends the sync. Throws a `MirrorError` if a newer claim or a newer read has
   * written, or if the installation is no longer active.
   */
  readonly commit: (
    sync: OpenSync,
    changes: ListChanges,
    completion: SyncCompletion | null,
  ) => Promise<ListCommitResult>;
  /** Marks a sync as failed after `commit` has refused its changes. Writes nothing else. */
  readonly endRefused: (sync: OpenSync, completion: SyncCompletion) => Promise<void>;

  /**
   * Returns the ids of projects that were never requested or were last requested before `checkedBefore`. Also returns those
   * with a request dated after `at`, because a clock was ahead.
   */
  readonly listDueProjects: (organizationId: string, checkedBefore: number, at: number) => Promise<string[]>;
  /** Stores the registry's answers for projects, and returns the effect on each project. */
  readonly writeProjects: (
    sync: OpenSync,
    answers: readonly ProjectAnswer[],
    at: number,
  ) => Promise<CommitResult & { readonly written: readonly ProjectWriteResult[] }>;

  /** Marks a batch of certificates as due and returns the number of certificates. Returns 0 at the end. */
  readonly makeCertificatesDue: (scope: CertificateSelection, at: number) => Promise<number>;
  /** Returns certificates that are due at an instant. Null asks for failed certificates without a file. */
  readonly listDueCertificates: (
    organizationId: string,
    at: number | null,
    limit: number,
  ) => Promise<DueCertificate[]>;
  /** Stores the results of certificate downloads, and returns the effect on each certificate. */
  readonly writeCertificates: (
    sync: OpenSync,
    answers: readonly CertificateDownload[],
  ) => Promise<CommitResult & { readonly written: readonly CertificateWriteResult[] }>;

  /** Deletes the files that no row references and returns the number of deleted files. Blocks other writers. */
  readonly removeUnreferencedFiles: (files: readonly string[]) => Promise<number>;
  /** Returns the facts from which the worker derives the resources with unread deliveries. */
  readonly readFreshnessFacts: () => Promise<{
    /** The latest heartbeat of any worker; null before the first. */
    readonly workerSeenAt: string | null;
    /** The earliest start among the last complete reads of all resources; null before the first complete read. */
    readonly oldestCompleteReadAt: string | null;
    /** Resources with a delivery that no read has answered. */
    readonly waitingResources: readonly KnownResource[];
  }>;
  /** Returns the resources that may be read, by installation id. Installations that are not active have none. */
  readonly listKnownResources: (
    installationIds: readonly string[],
  ) => Promise<ReadonlyMap<string, KnownResource[]>>;
  /** Removes a person from members and their history, and returns how many rows were removed. */
  readonly forget: (email: string, at: number) => Promise<number>;
  /**
   * Begins a purge: refuses writes of older claims. Returns the newest version to remove, and the ids of the retirements
   * that no other organization has.
   */
  readonly beginPurge: (
    organizationId: string,
    claim: number,
  ) => Promise<{ readonly lastVersion: number; readonly retirementIds: string[] }>;
  /** Deletes a batch of rows and returns the number of deleted rows. Returns 0 at the end. */
  readonly removeRows: (scope: RemovalScope) => Promise<number>;
  /** Deletes the remaining rows and ends a purge. Throws `fenced` if a newer claim has written. */
  readonly endPurge: (organizationId: string, lastVersion: number, claim: number) => Promise<PurgeResult>;
  /** Removes a batch of syncs that ended before an instant, except those that must stay as evidence. */
  readonly pruneSyncs: (request: PruneRequest) => Promise<PruneProgress>;
}

/** An installation that the mirror has stored. */
export interface KnownInstallation {
  readonly id: string;
  /** Null if unknown. */
  readonly organizationId: string | null;
  readonly state: string;
  /** The granted permissions as JSON text. */
  readonly permissions: string;
}

/** The result of reading one installation. */
export interface InstallationRead {
  readonly state: InstallationState;
  readonly claim: number;
  readonly startedAt: number;
  /** When the registry's answer arrived. */
  readonly arrivedAt: number;
  readonly endedAt: number;
  readonly trigger: string;
  readonly cause?: SyncCause;
  /** The resources of the organization; each gets a row in `resource_states`. */
  readonly resources: readonly Resource[];
}

/** The registry's answer to the request for one project: its row, or the error. */
export type ProjectAnswer =
  | {
      readonly id: string;
      readonly requestedAt: number;
      readonly observedAt: string;
      readonly cells: readonly SqlValue[];
      readonly document: string;
    }
  | { readonly id: string; readonly requestedAt: number; readonly error: string };

/** The effect of a write on a project. `older`: nothing was written, because a newer answer is already stored. */
export type ProjectWriteResult = WriteResult | 'older' | 'unavailable';

/** The result of a purge: how many files it removed, and which installations must be read again. */
export interface PurgeResult {
  readonly removedFiles: number;
  /** Installations that were added during the purge. Their rows were removed too, so they must be read again. */
  readonly newInstallationIds: readonly string[];
}

/** The position after a batch of old syncs: the end time and the id of the last sync in the batch. */
export interface PrunePosition {
  readonly after: string;
  readonly id: number;
}

/** The next batch of old syncs to check. */
interface PruneRequest {
  readonly endedBefore: string;
  /** Syncs that ended before this instant are never checked again, not even after a restart. */
  readonly settledBefore: string;
  /** The end of the previous batch. Null continues after the last settled batch of any process. */
  readonly position: PrunePosition | null;
}

/** The number of removed syncs, and the position of the next batch; `next` is null at the end. */
export interface PruneProgress {
  readonly removed: number;
  readonly next: PrunePosition | null;
}

/** The rows to remove: all members with their history and state, or the certificates or lists of one organization. */
type RemovalScope =
  | 'members'
  | {
      readonly organizationId: string;
      /** The newest version to remove; newer ones stay. */
      readonly last: number;
      readonly kind: 'certificates' | 'lists';
    };

/** A resource that was read completely at least once and may still be read. */
export interface KnownResource {
  readonly organizationId: string;
  readonly resource: string;
  /** Start of its last complete read. */
  readonly dataAsOf: string;
  /** When the oldest unread delivery arrived, which the last complete read did not answer; null if there is none. */
  readonly oldestUnreadAt: string | null;
}

/** A resource with a delivery that no read has answered yet. */
export interface UnreadDelivery {
  readonly organizationId: string;
  readonly resource: string;
  /** When the oldest unread delivery arrived, which the last complete read did not answer. */
  readonly oldestUnreadAt: string;
}

/** The registry that a mirror is filled from, and the app that reads it. */
export interface MirrorOrigin {
  readonly baseUrl: string;
  readonly appId: string;
  /** The time between two scheduled reads, from which queries derive overdue reads. Absent if there is no schedule. */
  readonly scheduleSeconds?: number;
  /** Whether the registry may have another address than before, as a sandbox has after each start. */
  readonly mayMove?: boolean;
  /** The end of the simulated past of a sandbox, in epoch milliseconds. Absent keeps the stored one. */
  readonly simulatedTo?: number;
}

/** Facts about the mirror as a whole. */
interface MirrorState {
  /** When the mirror was first filled; null before. */
  readonly filledAt: number | null;
  /** When the registry's complete list of installations was last read; null before. */
  readonly listedAt: number | null;
  /** How long after `listedAt` that list counts as current. */
  readonly listValidForMs: number;
  readonly highestClaim: number;
  /** SHA-256 hashes of the email addresses of forgotten people. */
  readonly forgotten: ReadonlySet<string>;
}

/** A worker's report to programs that see only the mirror and not the inbox. Absent fields stay as stored. */
interface WorkerReport {
  readonly at: string;
  /** Installations that a webhook or a list named and that may not have been read yet. */
  readonly awaitedInstallations?: readonly Pick<KnownInstallation, 'id' | 'organizationId'>[];
  /** All resources with an unread delivery. Drops earlier awaited installations that are not in this report. */
  readonly unreadDeliveries?: readonly UnreadDelivery[];
  /** The number of wrong rows that each check of the mirror's data found. */
  readonly findings?: readonly { readonly finding: string; readonly rows: number }[];
  /** All existing checks; stored counts of other checks are removed. By default the checks of this report. */
  readonly knownFindings?: readonly string[];
  /** When the registry's complete list of installations was read. */
  readonly listedAt?: number;
}
