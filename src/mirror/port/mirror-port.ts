import type { CommitResult, OpenSync, SyncCompletion, WriteClaim, WriteResult } from './sync.js';
import type { ListChanges, ListCommitResult, ListRef, RowKey, StoredRow } from './rows.js';
import type { PruneProgress, PruneRequest, PurgeResult, RemovalScope } from './removal.js';
import type { AccessMark, ListState } from './read.js';
import type { ProjectAnswer, ProjectWriteResult } from './projects.js';
import type { KnownResource, MirrorOrigin, MirrorState, WorkerReport } from './mirror-state.js';
import type { InstallationRead, KnownInstallation } from './installations.js';
import type {
  CertificateDownload,
  CertificateSelection,
  CertificateWriteResult,
  DueCertificate,
} from './certificates.js';
import type { Resource } from '../../resources/lists.js';
import type { InstallationColumns } from '../../resources/installations.js';

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
