import type { Installation } from '../registry/model.js';
import type { ListItems, ListResource } from '../resources/lists.js';
import type { PdfStore } from './pdf-store.js';
import type {
  HasNewDelivery,
  ChangeCounts,
  DueCertificate,
  ReadFault,
  InstallationRead,
  RowKey,
  LastRead,
  MirrorPort,
  MirrorOrigin,
  ProjectAnswer,
  ProjectWriteResult,
  PurgeResult,
  SyncRequest,
  WriteClaim,
  ReadTraffic,
  WriteResult,
} from './port.js';

export interface ReadRequest<Name extends ListResource> extends SyncRequest {
  readonly resource: Name;
  /** Absent if deliveries are unknown; then no change is counted as drift. */
  readonly hasNewDelivery?: HasNewDelivery;
}

type InstallationWrite = Omit<InstallationRead, 'endedAt' | 'resources'>;

/** Operations of the port that the mirror offers unchanged. */
type PassedThrough =
  | 'readState'
  | 'report'
  | 'listInstallations'
  | 'readListStates'
  | 'readFreshnessFacts'
  | 'listKnownResources'
  | 'markAccess';

/** Looks up at most 50 ids at the registry. Returns those it no longer has, each with the instant it said so. */
export type FindMissing = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;

export interface PurgeRequest {
  readonly organizationId: string;
  /** Returns a claim that is newer than all others. */
  readonly acquireClaim: () => Promise<number>;
  readonly pdfs: Pick<PdfStore, 'list' | 'flush'>;
}

/** Writes the mirror, except certificates: see `CertificateStore`. `createMirror` says how it works. */
export interface Mirror extends Pick<MirrorPort, PassedThrough> {
  /** Throws `foreign_registry` if the mirror was filled from another registry or app. */
  checkOrigin(origin: MirrorOrigin): Promise<void>;
  /** Refuses writes of older claims from now on, and ends the syncs they left open. Call it at the start of a claim. */
  raiseFence(claim: WriteClaim): Promise<void>;
  /** Begins a read of one list. */
  beginRead<Name extends ListResource>(request: ReadRequest<Name>): Promise<ListReader<ListItems[Name]>>;
  /** Begins a walk over the projects that an organization's rows reference. */
  beginProjects(request: Omit<SyncRequest, 'resource'>): Promise<ProjectsWalk>;
  /** Stores an installation, or by its id that the registry no longer shows it. */
  writeInstallation(
    write: InstallationWrite &
      ({ readonly installation: Installation } | { readonly installationId: string }),
  ): Promise<WriteResult>;
  /** Removes a person from members and their history, and keeps them out of later reads. Returns the rows removed. */
  forget(email: string): Promise<number>;
  /** Removes all members, their history and their state. */
  removeMembers(): Promise<void>;
  /** Removes everything mirrored for an organization, with its certificate files. */
  purge(request: PurgeRequest): Promise<PurgeResult>;
  /**
   * Removes syncs that ended before an instant and returns how many. Syncs that wrote rows stay, and the last complete
   * one of each resource and UTC day.
   */
  pruneSyncs(endedBefore: number): Promise<number>;
}

export interface MirrorOptions {
  /** Whether members of organizations are mirrored. */
  readonly members: boolean;
}

/** A few neighbouring rows of a page: the digest of their content, and their ids. */
interface PageGroup {
  readonly digest: string;
  readonly ids: readonly string[];
}

/** A page of a paginated list. */
export interface ReadPage<Item> {
  readonly digest: string;
  /** Whether the page is unchanged since the previous read; then groups and items are empty. */
  readonly isKnown: boolean;
  /** Groups that are unchanged since the previous read. */
  readonly known: readonly PageGroup[];
  readonly unknown: readonly PageGroup[];
  /** The rows of the `unknown` groups, which are new or changed. */
  readonly items: readonly Item[];
  /** When the answer arrived, in epoch milliseconds. */
  readonly arrivedAt: number;
}

/** What the end of a read knows about the list as a whole. */
export interface ReadCompletion extends ReadTraffic {
  /** How many rows the registry says the list has; null if it does not say. */
  readonly total: number | null;
  /** Looks up missing rows; absent if rows of this list cannot be read by id. */
  readonly ask?: FindMissing;
  /** Why the answers are certainly not the whole list. */
  readonly flaw?: ReadFault | null;
  /** Lists the rows that could not be read; null if all could. */
  readonly unreadable?: ReadFault | null;
}

/** How a read ended, and what it changed. */
export interface ReadResult extends ChangeCounts {
  readonly state: 'complete' | 'partial' | 'removals_unconfirmed';
  readonly fault: ReadFault | null;
  readonly drift: number;
  /** The list changed during the read; reading it again at once may complete it. */
  readonly readAgain: boolean;
}

/** A read of one list in progress. Wait for each call before the next one. */
export interface ListReader<Item> {
  /** The resource's read before this one. */
  readonly previousRead: LastRead;
  /** Pages and groups of the previous read by their digests. Rows of an unchanged page or group can be skipped. */
  readonly known: {
    readonly getRowCount: (pageDigest: string) => number | undefined;
    readonly hasGroup: (groupDigest: string) => boolean;
  };
  /** Takes a page. Its rows are compared and written together with those of other pages. */
  writePage(page: ReadPage<Item>): Promise<void>;
  /** Compares the pages' remaining rows. Returns how many rows this read has seen, unreadable ones included. */
  compareRemaining(): Promise<number>;
  /**
   * Records the keys of unreadable rows, null for a row without a readable key. Stored rows of these keys stay as they
   * are. Call it after all pages and batches.
   */
  recordUnreadable(keys: readonly (RowKey | null)[]): Promise<void>;
  /** Takes a part of a single answer that holds the whole list, and when that part arrived. */
  writeBatch(items: readonly Item[], arrivedAt: number): Promise<void>;
  /** Writes the remaining differences, closes rows that are certainly gone, and ends the sync. */
  finish(completion: ReadCompletion): Promise<ReadResult>;
  /** Ends the sync as partial or failed. What was written stays. Does nothing if the sync has ended. */
  abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void>;
}

/** One organization's walk over the projects that its rows reference. All organizations share the project rows. */
export interface ProjectsWalk {
  readonly previousRead: LastRead;
  /** Returns ids of projects never requested, or last requested before an instant. If none, the walk needs no end. */
  listDue(checkedBefore: number): Promise<string[]>;
  /** Stores the answers and returns what became of each. */
  write(answers: readonly ProjectAnswer[]): Promise<readonly ProjectWriteResult[]>;
  /** Ends the sync as complete. */
  finish(traffic: ReadTraffic): Promise<void>;
  /** Ends the sync as partial or failed. What was written stays. Does nothing if the sync has ended. */
  abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void>;
}

/** One organization's walk over its due certificates. Files are stored as they arrive; their rows are written in batches. */
export interface CertificateWalk {
  /** Returns up to `limit` due certificates. A certificate is no longer due once its result was given to the walk. */
  listDue(limit: number): Promise<DueCertificate[]>;
  /** Stores the file, then its row. Throws a `certificate_*` MirrorError if it is not a whole PDF. */
  store(retirementId: string, body: AsyncIterable<Uint8Array>, requestedAt: number): Promise<void>;
  /** Records that the registry has no certificate. It is due again after a day, then after two, up to thirty. */
  markUnavailable(retirementId: string, requestedAt: number): Promise<void>;
  /** Records a failed download. It is due again after five minutes, doubling up to a day. A stored file stays. */
  markFailed(retirementId: string, fault: ReadFault, requestedAt: number): Promise<void>;
  /** Ends the sync: as complete if every due certificate was answered, else as partial. */
  finish(traffic: ReadTraffic): Promise<'complete' | 'partial'>;
  /** Ends the sync as partial or failed. What was written stays. Does nothing if the sync has ended. */
  abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void>;
}

/** Keeps certificates: which are due, their files, and their rows. */
export interface CertificateStore {
  /** Makes the certificates of new and changed retirements of all organizations due, and returns how many. */
  makeNewDue(): Promise<number>;
  /** Makes every certificate of an organization due, for a full sync. */
  makeAllDue(organizationId: string): Promise<void>;
  /** Makes certificates due whose latest request was refused or failed, for a sync that a person starts. */
  makeFailedDue(organizationId: string): Promise<void>;
  /**
   * Removes files without a row that a killed walk or purge has left, and returns how many. Recent files stay, because
   * their rows may be written soon, and so do files older than the mirror, because they belong to another one.
   */
  removeOrphanFiles(signal: AbortSignal): Promise<number>;
  /** Begins a walk over the due certificates of an organization. */
  beginWalk(request: Omit<SyncRequest, 'resource'>): Promise<CertificateWalk>;
}
