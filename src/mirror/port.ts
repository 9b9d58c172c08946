import type { CertificateState, InstallationState, SyncState } from '../store/contract/states.js';
import type { SqlValue } from '../resources/sql-values.js';
import type { InstallationColumns } from '../resources/installations.js';
import type { ListResource, Resource } from '../resources/lists.js';
import type { CertificateFile } from './pdf-store.js';

/** The claim under which a job writes one part of one organization. Every write carries it. */
export interface WriteClaim {
  readonly organizationId: string;
  readonly part: string;
  readonly claim: number;
}

/** The job that runs a sync, and the newest delivery that the job answers. */
export interface SyncCause {
  readonly jobId: number;
  readonly newestDeliveryId: number | null;
}

/** A sync to begin: which resource of which organization it reads, under which claim. */
export interface SyncRequest {
  readonly organizationId: string;
  readonly resource: Resource;
  readonly claim: number;
  /** When the read began, in epoch milliseconds; taken before the first call to the registry. */
  readonly startedAt: number;
  readonly trigger: string;
  /** Whether to compare every page and check the columns of every row, instead of skipping what earlier reads have seen. */
  readonly full?: boolean;
  /** Absent if no job runs the sync. */
  readonly cause?: SyncCause;
}

/**
 * Returns whether a delivery has arrived since an instant, which is the start of the last complete read. If none has, the
 * changes that a scheduled sync finds are drift.
 */
export type HasNewDelivery = (since: number) => Promise<boolean>;

/** How many rows were added, changed, removed and found unchanged. */
export interface ChangeCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

/** Why a read failed or is not complete. */
export interface ReadFault {
  readonly code: string;
  readonly message: string;
}

/** The registry's latest answer to a request for a resource. */
export interface LastAnswer {
  readonly status: number;
  readonly form: 'list' | 'pages' | 'object' | 'none' | 'unusable';
  readonly at: number;
  /** The text of an answer from which no rows can be read; else null. */
  readonly text: string | null;
}

/** The requests of a read, and what their answers showed about the resource. */
export interface ReadTraffic {
  readonly requests: number;
  readonly bytes: number;
  /** When the latest answer arrived, in epoch milliseconds; absent or null if none did. */
  readonly lastAnswerAt?: number | null;
  /** Absent if no answer arrived. */
  readonly answer?: LastAnswer | null;
  /** Rows per page to request from now on; null for the usual number, absent if unknown. */
  readonly pageSize?: number | null;
  /** How often the resource is read from now on without a webhook; null for every scheduled round, absent if unknown. */
  readonly everySeconds?: number | null;
  /** True if the answers named their owner; false if a full read accepts that they did not; absent otherwise. */
  readonly ownerNamed?: boolean;
}

/** How a sync ended; written by its last commit. */
export interface SyncCompletion extends ReadTraffic {
  readonly state: Exclude<SyncState, 'running'>;
  readonly fault: ReadFault | null;
  /** Whether the read stopped before it had seen everything. */
  readonly isInterrupted: boolean;
  /** The serialized page digests to store; null clears the stored ones, absent leaves them. */
  readonly pageDigests?: string | null | undefined;
  readonly endedAt: number;
}

/** The state of a resource before a sync. */
export interface ListState extends LastRead {
  readonly rows: number;
  /** Whether an earlier read wrote rows and was never finished. */
  readonly hasOpenSync: boolean;
  /** When a complete read first lacked most rows, so that a second read must confirm their removal; null if none did. */
  readonly doubtedAt: string | null;
  /** The packed versions of the rows whose removal is not confirmed. */
  readonly doubted: Uint8Array | null;
  /** The latest `valid_from` or `valid_to` of its rows. */
  readonly stampAt: string | null;
  /** Whether earlier answers named their owner. */
  readonly isOwnerNamed: boolean;
  /** The state in which the latest read ended. */
  readonly outcome: string | null;
  /** The serialized page digests of the latest whole read; null if none may be used. */
  readonly pageDigests: string | null;
}

/** The state of a sync between two commits. The first commit inserts its row and gives it an id. */
export interface OpenSync {
  readonly request: SyncRequest;
  readonly part: string;
  readonly id: number | null;
  /** Whether this sync wrote rows, or an earlier one that was never finished. */
  readonly hasPartialRows: boolean;
  /** The previous read of the resource was complete. */
  readonly followsCompleteRead: boolean;
  /** The latest instant of any row before the sync. */
  readonly previousLatestInstant: string | null;
  /** The latest instant of any row by now. */
  readonly latestInstant: string | null;
  readonly counts: ChangeCounts;
  /** Whether the changes of this sync are drift. */
  readonly countsAsDrift: boolean;
}

/** The parts of a row's key. Each is an id or a hash. */
export type RowKey = readonly string[];

/** One list of one organization. */
export interface ListRef {
  readonly organizationId: string;
  readonly resource: ListResource;
}

/** A current row of a mirrored list. */
export interface StoredRow {
  readonly version: number;
  readonly document: string;
  readonly key: RowKey;
  /** The values of its columns, in the order of the columns; empty if they were not requested. */
  readonly cells: readonly SqlValue[];
}

/** The column values of one version, in the order of the columns. */
export interface VersionCells {
  readonly version: number;
  readonly cells: readonly SqlValue[];
}

/** A new version of a row, to be inserted. */
export interface RowInsert {
  readonly key: RowKey;
  /** The values of its columns, in the order of the columns. */
  readonly cells: readonly SqlValue[];
  readonly document: string;
  /** When the answer arrived that showed it. */
  readonly observedAt: string;
  /** The version that it replaces; null for a row that is new. */
  readonly replacedVersion: number | null;
}

/** A row to be closed, because the registry no longer has it. */
export interface RowClose {
  readonly version: number;
  /** When the answer arrived that no longer had the row. */
  readonly observedAt: string;
}

/** The changes to a list that one transaction writes. */
export interface ListChanges {
  readonly inserts: readonly RowInsert[];
  readonly closes: readonly RowClose[];
  /** The right column values of versions that somebody changed by hand. They do not become new versions. */
  readonly repairs: readonly VersionCells[];
  /** Ids of projects that rows of this sync reference for the first time. */
  readonly projects: readonly string[];
  /** Packed versions of rows whose removal a second read must confirm. Null clears the stored ones, undefined leaves them. */
  readonly unconfirmedRemovals: Uint8Array | null | undefined;
}

export const NO_CHANGES: ListChanges = {
  inserts: [],
  closes: [],
  repairs: [],
  projects: [],
  unconfirmedRemovals: undefined,
};

/** What a commit changed: its counts, and the state of the sync after it. */
export interface CommitResult extends ChangeCounts {
  /** Null if the commit ended a scheduled read that found nothing new: that has no row in `syncs`. */
  readonly syncId: number | null;
  readonly latestInstant: string | null;
  readonly drift: number;
}

/** What a commit of list changes changed. */
export interface ListCommitResult extends CommitResult {
  /** The version of each insert; 0 if it was not written because the person asked to be forgotten. */
  readonly versions: readonly number[];
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

/** The latest read of a resource. Instants are epoch milliseconds. */
export interface LastRead {
  /** `refused` although the installation permits the read, or `not_offered` by the registry; null if it was answered. */
  readonly declined: 'refused' | 'not_offered' | null;
  /** How many reads in a row were refused. */
  readonly refusals: number;
  readonly attemptedAt: number | null;
  /** Start of the last complete read. */
  readonly dataAsOf: number | null;
  readonly durationMs: number;
  /** How often the resource is read without a webhook; null for every scheduled round. */
  readonly everyMs: number | null;
  /** Whether the latest answer did not have the expected form. */
  readonly isStrange: boolean;
  /** Rows per page to request, if the registry refuses the usual number; else null. */
  readonly pageSize: number | null;
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

/** What a write did to a row. */
export type WriteResult = 'added' | 'changed' | 'unchanged';

/** A resource that was read completely at least once and may still be read. */
export interface KnownResource {
  readonly organizationId: string;
  readonly resource: string;
  /** Start of its last complete read. */
  readonly dataAsOf: string;
  /** When the oldest delivery arrived that its last complete read has not answered; null if there is none. */
  readonly oldestUnreadAt: string | null;
}

/** A resource with a delivery that no read has answered yet. */
export interface UnreadDelivery {
  readonly organizationId: string;
  readonly resource: string;
  /** When the oldest delivery arrived that the resource's last complete read has not answered. */
  readonly oldestUnreadAt: string;
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

/** What a write did to a project. `older`: nothing was written, because a newer answer is already stored. */
export type ProjectWriteResult = WriteResult | 'older' | 'unavailable';

/** A certificate that is due to be requested. */
export interface DueCertificate {
  readonly retirementId: string;
  readonly state: CertificateState;
  readonly attempts: number;
  readonly retirementVersion: number;
}

/** The result of requesting one certificate. */
export interface CertificateDownload {
  readonly retirementId: string;
  /** When the certificate was requested, in epoch milliseconds. */
  readonly requestedAt: number;
  /** The version of the retirement for which the certificate was due. If the retirement has changed since, it stays due. */
  readonly retirementVersion: number;
  readonly result:
    | { readonly kind: 'file'; readonly file: CertificateFile; readonly observedAt: string }
    | { readonly kind: 'none' }
    | { readonly kind: 'fault'; readonly error: string };
}

/**
 * What a write did to a certificate. `noted`: only the attempt was recorded. `gone`: meanwhile the retirement was closed
 * or purged, or the file was removed.
 */
export type CertificateWriteResult = 'stored' | 'replaced' | 'unchanged' | 'noted' | 'gone';

/** What a purge removed, and what must be read again after it. */
export interface PurgeResult {
  readonly removedFiles: number;
  /** Installations that were added during the purge. Their rows were removed too, so they must be read again. */
  readonly newInstallationIds: readonly string[];
}

/** Where a batch of old syncs ends: the end of its last sync and that sync's id. */
export interface PrunePosition {
  readonly after: string;
  readonly id: number;
}

/** Which old syncs to check next. */
interface PruneRequest {
  readonly endedBefore: string;
  /** What ended before this instant is never checked again, also after a restart. */
  readonly settledBefore: string;
  /** The end of the previous batch; null continues where an earlier run, also of another process, had settled. */
  readonly position: PrunePosition | null;
}

/** How many syncs were removed, and where to continue; `next` is null at the end. */
export interface PruneProgress {
  readonly removed: number;
  readonly next: PrunePosition | null;
}

/** The registry that a mirror is filled from, and the app that reads it. */
export interface MirrorOrigin {
  readonly baseUrl: string;
  readonly appId: string;
  /** The time between two scheduled reads. Queries derive from it what is overdue. Absent if there is no schedule. */
  readonly scheduleSeconds?: number;
  /** Whether the registry may have another address than before, as a sandbox has after each start. */
  readonly mayMove?: boolean;
  /** For a sandbox whose clock was simulated at first: until when, in epoch milliseconds. */
  readonly simulatedTo?: number;
}

/** The state of the mirror as a whole. */
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

/** What a worker reports to programs that see only the mirror and not the inbox. Absent fields stay as stored. */
interface WorkerReport {
  readonly at: string;
  /** Installations that a webhook announced or a list showed, and that may not have been read yet. */
  readonly awaitedInstallations?: readonly Pick<KnownInstallation, 'id' | 'organizationId'>[];
  /** All resources with an unread delivery. Drops earlier awaited installations that are not in this report. */
  readonly unreadDeliveries?: readonly UnreadDelivery[];
  /** How many rows a check of the mirror's data found wrong, for each check that was run. */
  readonly findings?: readonly { readonly finding: string; readonly rows: number }[];
  /** All checks there are: counts of others are removed. By default those of this report. */
  readonly knownFindings?: readonly string[];
  /** When the registry's complete list of installations was read. */
  readonly listedAt?: number;
}

/**
 * Which certificates to make due. `new`: those of new and changed retirements, of all organizations. With a filter, those
 * of one organization: `all` of them, those whose latest request `failed`, or those whose latest request is dated `ahead`
 * of now, because the clock was set back.
 */
export type CertificateSelection =
  | 'new'
  | { readonly organizationId: string; readonly filter: 'all' | 'failed' | 'ahead' };

/** Which rows to remove: all members with their history and state, or one organization's certificates or lists. */
type RemovalScope =
  | 'members'
  | {
      readonly organizationId: string;
      /** The newest version to remove; newer ones stay. */
      readonly last: number;
      readonly kind: 'certificates' | 'lists';
    };

/** Why a resource cannot be read. */
export type AccessMark = 'no_permission' | 'refused' | 'not_offered';

/**
 * The storage of the mirror, implemented for SQLite and PostgreSQL. Each operation is atomic; it takes and returns plain
 * values, so that no caller depends on the database.
 */
export interface MirrorPort {
  /** Throws `foreign_registry` if the mirror was filled from another registry or app. */
  readonly checkOrigin: (origin: MirrorOrigin, at: number) => Promise<void>;
  /** Returns the state of the mirror as a whole. */
  readonly readState: () => Promise<MirrorState>;
  /** Stores a worker's report for programs that see only the mirror. */
  readonly report: (report: WorkerReport) => Promise<void>;
  /** Refuses writes of older claims from now on, and ends their open syncs. Must be called at the start of a claim. */
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
  /** Records the end of a sync whose commits are refused, and writes nothing else of it. */
  readonly endRefused: (sync: OpenSync, completion: SyncCompletion) => Promise<void>;

  /**
   * Returns the ids of projects that were never requested, last requested before `checkedBefore`, or, because a clock was
   * ahead, requested later than `at`.
   */
  readonly listDueProjects: (organizationId: string, checkedBefore: number, at: number) => Promise<string[]>;
  /** Stores the registry's answers for projects, and returns what the write did to each. */
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
  /** Stores the results of certificate downloads. Returns for each result what was written. */
  readonly writeCertificates: (
    sync: OpenSync,
    answers: readonly CertificateDownload[],
  ) => Promise<CommitResult & { readonly written: readonly CertificateWriteResult[] }>;

  /** Deletes the files that no row references and returns the number of deleted files. Blocks other writers. */
  readonly removeUnreferencedFiles: (files: readonly string[]) => Promise<number>;
  /** Returns what the worker needs to find resources with unread deliveries. */
  readonly readFreshnessFacts: () => Promise<{
    /** The latest heartbeat of any worker; null before the first. */
    readonly workerSeenAt: string | null;
    /** When the oldest of all last complete reads started; null before the first. */
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
