import type { CertificateState, InstallationState, SyncState } from '../store/contract/states.js';
import type { SqlValue } from '../resources/columns.js';
import type { InstallationColumns } from '../resources/installations.js';
import type { ListResource, Resource } from '../resources/lists.js';
import type { CertificateFile } from './pdf-store.js';

/** Who writes: a claim on one part of one organization. Every write carries it. */
export interface WriteClaim {
  readonly organizationId: string;
  readonly part: string;
  readonly claim: number;
}

/** The job of the inbox that makes a sync, and the newest delivery that this job answers. */
export interface SyncCause {
  readonly jobId: number;
  readonly newestDeliveryId: number | null;
}

/** What is asked of one sync: which resource, for whom, by which claim. */
export interface SyncRequest {
  readonly organizationId: string;
  readonly resource: Resource;
  readonly claim: number;
  /** When the read began, in milliseconds; taken before the first call to the registry. */
  readonly startedAt: number;
  readonly trigger: string;
  /** Nothing that is remembered is believed: not that a page stands as it stood, no column and no counter. */
  readonly full?: boolean;
  /** Absent where no job makes it. */
  readonly cause?: SyncCause;
}

/** Whether a delivery came since the last complete read, which began at that instant; what a scheduled sync changes is drift otherwise. */
export type HasNewDelivery = (since: number) => Promise<boolean>;

export interface ChangeCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

export interface ReadFault {
  readonly code: string;
  readonly message: string;
}

/** What the registry answered last when it was asked for a resource. */
export interface LastAnswer {
  readonly status: number;
  readonly form: 'list' | 'pages' | 'object' | 'none' | 'unusable';
  readonly at: number;
  /** The answer itself, where no rows can be made of it; null elsewhere. */
  readonly text: string | null;
}

export interface ReadTraffic {
  readonly requests: number;
  readonly bytes: number;
  /** When the latest answer had come, in milliseconds; absent or null where none came. */
  readonly lastAnswerAt?: number | null;
  /** Absent where none came. */
  readonly answer?: LastAnswer | null;
  /** Rows to ask for a page from now on; null where as many are served as we ask for, absent where that is not known. */
  readonly pageSize?: number | null;
  /** How often it is read from now on where nothing announces a change; null for each round, absent where that is not known. */
  readonly everySeconds?: number | null;
  /** Whether its answers named their owner; absent where they did not and should have. */
  readonly ownerNamed?: boolean;
}

export interface SyncCompletion extends ReadTraffic {
  readonly state: Exclude<SyncState, 'running'>;
  readonly fault: ReadFault | null;
  /** Whether the read stopped before it had seen everything. */
  readonly isInterrupted: boolean;
  /** A sum of its keys and the digests of the groups on its pages; null where a row stood on two of them, absent where these stay as they were, or not all have come. */
  readonly pageDigests?: string | null | undefined;
  readonly endedAt: number;
}

/** What stood there as a sync began. */
export interface ListState extends LastRead {
  readonly rows: number;
  /** A read before this one wrote and never came to its end. */
  readonly isBroken: boolean;
  readonly doubtedAt: string | null;
  readonly doubted: Uint8Array | null;
  /** The latest instant that any of its rows has. */
  readonly stampAt: string | null;
  /** Its answers say whose they are. */
  readonly isOwnerNamed: boolean;
  /** How its latest read ended. */
  readonly outcome: string | null;
  /** The same as the latest whole read saw them; null where a row stood on two pages. */
  readonly pageDigests: string | null;
}

/** A sync as it goes from one commit to the next. Its row is entered with the first. */
export interface OpenSync {
  readonly request: SyncRequest;
  readonly part: string;
  readonly id: number | null;
  readonly isOpen: boolean;
  /** The latest instant of any row before the sync, and the latest since. */
  readonly knownAt: string | null;
  readonly latestAt: string | null;
  readonly counts: ChangeCounts;
  /** Whether what changes is drift. */
  readonly drifts: boolean;
}

/** The parts of a key, each of them an id or a hash. */
export type RowKey = readonly string[];

export interface ListRef {
  readonly organizationId: string;
  readonly resource: ListResource;
}

export interface StoredRow {
  readonly version: number;
  readonly document: string;
  readonly key: RowKey;
  /** The values of its columns, in their order; none where they were not asked for. */
  readonly cells: readonly SqlValue[];
}

/** The values of the columns of one version, in their order. */
export interface VersionCells {
  readonly version: number;
  readonly cells: readonly SqlValue[];
}

/** One new version of a row. */
export interface RowInsert {
  readonly key: RowKey;
  /** The values of its columns, in their order. */
  readonly cells: readonly SqlValue[];
  readonly document: string;
  /** When the answer had come that showed it. */
  readonly observedAt: string;
  /** The version that it takes the place of. */
  readonly replaces: number | null;
}

export interface RowClose {
  readonly version: number;
  /** When the registry's answer had come that no longer knew it. */
  readonly observedAt: string;
}

/** What one transaction writes to a list. */
export interface ListChanges {
  readonly inserts: readonly RowInsert[];
  readonly closes: readonly RowClose[];
  /** Versions that stay, as their columns were before somebody changed them by hand. */
  readonly mends: readonly VersionCells[];
  /** Projects that rows of this sync name for the first time. */
  readonly projects: readonly string[];
  /** Rows that a second read must miss too; null forgets an earlier doubt, undefined leaves it. */
  readonly doubt: Uint8Array | null | undefined;
}

export const NO_CHANGES: ListChanges = {
  inserts: [],
  closes: [],
  mends: [],
  projects: [],
  doubt: undefined,
};

export interface CommitResult extends ChangeCounts {
  readonly syncId: number;
  readonly latestAt: string | null;
  readonly drift: number;
}

export interface ListCommitResult extends CommitResult {
  /** One for each insert; 0 where it was left out, because the person has asked to be forgotten. */
  readonly versions: readonly number[];
}

interface InstallationRef {
  readonly id: string;
  /** Null where it is not known. */
  readonly organizationId: string | null;
}

export interface KnownInstallation extends InstallationRef {
  readonly state: string;
  /** The granted permissions as JSON text. */
  readonly permissions: string;
}

/** The latest time that a resource was asked for. Instants are epoch milliseconds. */
export interface LastRead {
  /** It was refused although the installation permits it, or the registry says that there is no such thing. */
  readonly declined: 'refused' | 'not_offered' | null;
  /** How often in a row. */
  readonly refusals: number;
  readonly attemptedAt: number | null;
  /** Start of the last complete read. */
  readonly dataAsOf: number | null;
  readonly durationMs: number;
  /** How often it is read where nothing announces a change; null for each round. */
  readonly everyMs: number | null;
  /** Its latest answer had another form than it has. */
  readonly isStrange: boolean;
  /** Rows to ask for a page, where the registry refuses as many as we ask for; null elsewhere. */
  readonly pageSize: number | null;
}

export interface InstallationRead {
  readonly state: InstallationState;
  readonly claim: number;
  readonly startedAt: number;
  /** When the registry's answer had arrived. */
  readonly arrivedAt: number;
  readonly endedAt: number;
  readonly trigger: string;
  readonly cause?: SyncCause;
  /** Which resources it has, so that each has a state from then on. */
  readonly resources: readonly Resource[];
}

export type WriteResult = 'added' | 'changed' | 'unchanged';

/** A resource that was read completely at least once and may be read now. */
export interface KnownResource {
  readonly organizationId: string;
  readonly resource: string;
  /** Start of its last complete read. */
  readonly dataAsOf: string;
  /** The delivery that was found to wait for it; null where none was. */
  readonly oldestUnreadAt: string | null;
}

export interface FreshnessFact {
  readonly organizationId: string;
  readonly resource: string;
  /** When the oldest delivery came that the resource's last complete read has not answered. */
  readonly oldestUnreadAt: string;
}

/** What came of asking for one project. */
export type ProjectAnswer =
  | {
      readonly id: string;
      readonly askedAt: number;
      readonly observedAt: string;
      readonly cells: readonly SqlValue[];
      readonly document: string;
    }
  | { readonly id: string; readonly askedAt: number; readonly error: string };

/** older: a newer answer has been written already. */
export type ProjectWriteResult = WriteResult | 'older' | 'unavailable';

export interface DueCertificate {
  readonly retirementId: string;
  readonly state: CertificateState;
  readonly attempts: number;
  readonly retirementVersion: number;
}

/** What came of asking for one certificate. */
export interface CertificateAnswer {
  readonly retirementId: string;
  /** When the registry was asked, in milliseconds. */
  readonly askedAt: number;
  /** The retirement for which it was due. One that has changed since then is due again, whatever came. */
  readonly retirementVersion: number;
  readonly came:
    | { readonly kind: 'file'; readonly file: CertificateFile; readonly observedAt: string }
    | { readonly kind: 'none' }
    | { readonly kind: 'fault'; readonly error: string };
}

/** gone: the retirement was closed or purged meanwhile, so that there is no row to write to, or no file. */
export type CertificateWriteResult = 'stored' | 'replaced' | 'unchanged' | 'noted' | 'gone';

export interface PurgeResult {
  readonly files: number;
  /** Installations that came while it went on: what they brought went too, and they want to be read again. */
  readonly installations: readonly string[];
}

/** What was removed so far, and where to go on; `next` is null at the end. */
interface PruneProgress {
  readonly removed: number;
  readonly next: { readonly after: string; readonly id: number } | null;
}

interface FindingCount {
  readonly finding: string;
  readonly rows: number;
}

/** The registry that a mirror is filled from, and by which app. */
export interface MirrorOrigin {
  readonly baseUrl: string;
  readonly appId: string;
  /** Between two scheduled reads: readers need it to say what is overdue. Absent where nobody reads by a schedule. */
  readonly scheduleSeconds?: number;
  /** For this app it is the same registry at another address. */
  readonly mayMove?: boolean;
  /** Of one that may move: until when all that was observed was played by a clock that was handed out. */
  readonly simulatedTo?: number;
}

interface MirrorState {
  /** When the mirror was first filled; null before. */
  readonly filledAt: number | null;
  /** When the registry's list of installations last said of each known one what was known, and how long that holds. */
  readonly listedAt: number | null;
  readonly listGoodForMs: number;
  readonly highestClaim: number;
  /** SHA-256 of the addresses of people who are to stay forgotten. */
  readonly forgotten: ReadonlySet<string>;
}

/** What a worker tells those who see the mirror alone. What is absent stays as it is. */
interface WorkerReport {
  readonly at: string;
  /** Announced or found: those that nobody has looked at yet are counted from now on, until somebody does. */
  readonly named?: readonly InstallationRef[];
  /** All that waits of what was announced, by somebody who watches. No installations wait but the named and later ones. */
  readonly unread?: readonly FreshnessFact[];
  /** All counts of findings. */
  readonly findings?: readonly FindingCount[];
  /** When the registry's list of installations was read that said all. */
  readonly listedAt?: number;
}

/**
 * Certificates to make due: of new and changed retirements, of all organizations; or of one organization all, those whose
 * latest request failed, or those requested by a clock that was ahead.
 */
export type DueScope =
  | 'new'
  | { readonly organizationId: string; readonly which: 'all' | 'failed' | 'ahead' };

/** Members, past ones too, and in the end what is said of them; or of one organization its certificates or all else. */
type RemovalScope =
  | 'members'
  | {
      readonly organizationId: string;
      readonly last: number;
      readonly which: 'certificates' | 'lists';
    };

export type AccessMark = 'no_permission' | 'refused' | 'not_offered';

/**
 * What a mirror does for those who write it. Each operation is one atomic step, values in and values out;
 * nobody outside an engine knows what keeps the rows.
 */
export interface MirrorPort {
  /** Throws `foreign_registry` if the mirror was filled from another registry or app. */
  readonly checkOrigin: (origin: MirrorOrigin, at: number) => Promise<void>;
  readonly readState: () => Promise<MirrorState>;
  readonly report: (told: WorkerReport) => Promise<void>;
  /** At the start of every claim: refuses older ones from now on, and ends the syncs that they left open. */
  readonly raiseFence: (task: WriteClaim, at: number) => Promise<void>;

  /** All of them, or the one of this id. */
  readonly listInstallations: (id?: string) => Promise<readonly KnownInstallation[]>;
  /** For an installation that the registry does not show any more `row` is null; unchanged where it was never seen. */
  readonly writeInstallation: (
    id: string,
    row: InstallationColumns | null,
    read: InstallationRead,
  ) => Promise<WriteResult>;

  readonly readListStates: (organizationId: string) => Promise<ReadonlyMap<Resource, ListState>>;
  /** What was mirrored stays; the next read that works takes the mark away. */
  readonly markAccess: (
    how: AccessMark,
    task: WriteClaim,
    resources: readonly Resource[],
    at: number,
  ) => Promise<void>;

  /** The rows of these keys, with what stands in their columns, or without. */
  readonly findRows: (list: ListRef, keys: readonly RowKey[], withCells?: boolean) => Promise<StoredRow[]>;
  /** Up to `limit` rows after a key, in the order of their keys. */
  readonly listRowsAfter: (
    list: ListRef,
    key: RowKey | null,
    limit: number,
  ) => Promise<Pick<StoredRow, 'version' | 'key'>[]>;
  /** Refused once a newer claim, a newer read or a suspension was seen. The resource is being read until the sync ends. */
  readonly commit: (
    sync: OpenSync,
    changes: ListChanges,
    ending: SyncCompletion | null,
  ) => Promise<ListCommitResult>;
  /** All that is written of a sync that was refused: how it ended. */
  readonly endRefused: (sync: OpenSync, ending: SyncCompletion) => Promise<void>;

  /** Projects that were never asked for, or not since that instant, or in the future of a clock that has been put right. */
  readonly listDueProjects: (organizationId: string, checkedBefore: number, at: number) => Promise<string[]>;
  readonly writeProjects: (
    sync: OpenSync,
    answers: readonly ProjectAnswer[],
    at: number,
  ) => Promise<CommitResult & { readonly written: readonly ProjectWriteResult[] }>;

  /** Makes some certificates due; 0 where none is left. */
  readonly makeCertificatesDue: (which: DueScope, at: number) => Promise<number>;
  /** At null those that failed when they were asked for, and of which no copy is there, whenever they are due. */
  readonly listDueCertificates: (
    organizationId: string,
    at: number | null,
    limit: number,
  ) => Promise<DueCertificate[]>;
  readonly writeCertificates: (
    sync: OpenSync,
    answers: readonly CertificateAnswer[],
  ) => Promise<CommitResult & { readonly written: readonly CertificateWriteResult[] }>;

  /** Removes those of a few files that no row names, under the lock of all who write rows; answers how many. */
  readonly removeUnnamedFiles: (files: readonly string[]) => Promise<number>;
  readonly readFreshnessFacts: () => Promise<{
    /** The latest heartbeat of any worker; null before the first. */
    readonly workerSeenAt: string | null;
    /** The start of the oldest of all last complete reads; null before the first. */
    readonly oldestRead: string | null;
    /** The resources that were found to wait. */
    readonly announced: readonly KnownResource[];
  }>;
  /** The resources of the organizations of active installations; none of any other. */
  readonly listKnownResources: (
    installationIds: readonly string[],
  ) => Promise<ReadonlyMap<string, KnownResource[]>>;
  /** Removes a person from members and their history; answers how many rows went. */
  readonly forget: (email: string, at: number) => Promise<number>;
  /** Refuses older claims, and answers the last version that is to go and the retirements that no other organization has. */
  readonly beginPurge: (
    organizationId: string,
    claim: number,
  ) => Promise<{ readonly last: number; readonly retirementIds: string[] }>;
  /** Removes some rows; 0 where none is left. */
  readonly removeRows: (which: RemovalScope) => Promise<number>;
  /** Removes what is left and what came meanwhile. Throws `fenced` where a newer claim than this one writes. */
  readonly endPurge: (organizationId: string, last: number, claim: number) => Promise<PurgeResult>;
  /** Looks at some syncs that ended before an instant. */
  readonly pruneSyncs: (
    before: string,
    from: { readonly after: string; readonly id: number },
  ) => Promise<PruneProgress>;
}
