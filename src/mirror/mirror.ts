import type { Installation } from '../registry/object-models.js';
import type { ListItems, ListResource } from '../resources/lists.js';
import type { PdfStore } from './certificates/pdf-store.js';
import type { HasNewDelivery, ChangeCounts, SyncRequest, WriteClaim, WriteResult } from './port/sync.js';
import type { DueCertificate } from './port/certificates.js';
import type { ReadFault, LastRead, ReadTraffic } from './port/read.js';
import type {
  InstallationRead,
  MirrorPort,
  MirrorOrigin,
  ProjectAnswer,
  ProjectWriteResult,
  PurgeResult,
} from './port/mirror-port.js';
import type { RowKey } from './port/rows.js';

/** A request to read one list of an organization into the mirror. */
export interface ListReadRequest<Name extends ListResource> extends SyncRequest {
  readonly resource: Name;
  /** Absent if deliveries are unknown; then no change is counted as drift. */
  readonly hasNewDelivery?: HasNewDelivery;
}

/** The result of reading an installation, as callers of the mirror pass it. */
type InstallationWrite = Omit<InstallationRead, 'endedAt' | 'resources'>;

/** The operations of the port that the mirror offers unchanged. */
type SharedOperation =
  | 'readMirrorState'
  | 'report'
  | 'listInstallations'
  | 'readListStates'
  | 'readFreshnessFacts'
  | 'listKnownResources'
  | 'markAccess';

/** Looks up at most 50 rows at the registry. Returns the ids that are gone, with the time of each answer. */
export type LookUpMissingRows = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;

/** A request to remove everything that is mirrored for one organization. */
export interface PurgeRequest {
  readonly organizationId: string;
  /** Allocates a claim number that is higher than all others. */
  readonly acquireClaim: () => Promise<number>;
  readonly pdfs: Pick<PdfStore, 'list' | 'flush'>;
}

/** Writes everything to the mirror except certificates, which `CertificateStore` writes. create-mirror.ts says how. */
export interface Mirror extends Pick<MirrorPort, SharedOperation> {
  /** Throws `foreign_registry` if the mirror was filled from another registry or app. */
  checkOrigin(origin: MirrorOrigin): Promise<void>;
  /** Refuses writes of older claims from now on, and ends their open syncs. Must be called at the start of a claim. */
  raiseFence(claim: WriteClaim): Promise<void>;
  /** Begins a read of one list. */
  beginRead<Name extends ListResource>(request: ListReadRequest<Name>): Promise<ListReader<ListItems[Name]>>;
  /** Begins a session that reads the projects that an organization's rows reference. */
  beginProjects(request: Omit<SyncRequest, 'resource'>): Promise<ProjectsSession>;
  /** Stores an installation, or records that the registry no longer shows it. */
  writeInstallation(
    write: InstallationWrite &
      ({ readonly installation: Installation } | { readonly installationId: string }),
  ): Promise<WriteResult>;
  /** Removes a person from members and their history for good. Returns the number of removed rows. */
  forget(email: string): Promise<number>;
  /** Removes all members, their history and their state. */
  removeMembers(): Promise<void>;
  /** Removes everything mirrored for an organization, with its certificate files. */
  purge(request: PurgeRequest): Promise<PurgeResult>;
  /**
   * Removes syncs that ended before an instant and returns how many. It keeps syncs that wrote rows, and the last complete
   * sync of each resource and UTC day.
   */
  pruneSyncs(endedBefore: number): Promise<number>;
}

/** Settings of the mirror. */
export interface MirrorOptions {
  /** Whether members of organizations are mirrored. */
  readonly mirrorMembers: boolean;
}

/** A group of neighbouring rows on a page: the digest of their content, and their ids. */
interface PageGroup {
  readonly digest: string;
  readonly ids: readonly string[];
}

/** A page of a paginated list, as an answer of the registry showed it. */
export interface ObservedPage<Item> {
  readonly digest: string;
  /** Whether the page is unchanged since the previous read; then groups and items are empty. */
  readonly isKnown: boolean;
  /** Groups that are unchanged since the previous read. */
  readonly knownGroups: readonly PageGroup[];
  readonly unknownGroups: readonly PageGroup[];
  /** The rows of the `unknown` groups, which are new or changed. */
  readonly items: readonly Item[];
  /** When the answer arrived, in epoch milliseconds. */
  readonly arrivedAt: number;
}

/** What a read found out about the list as a whole; passed when the read ends. */
export interface ReadCompletion extends ReadTraffic {
  /** How many rows the registry says the list has; null if it does not say. */
  readonly total: number | null;
  /** Looks up missing rows at the registry; absent if rows of this list cannot be read by id. */
  readonly lookUpMissing?: LookUpMissingRows;
  /** Why the answers cannot be the whole list; null or absent if nothing is wrong. */
  readonly flaw?: ReadFault | null;
  /** Names the rows that could not be read; null or absent if all could. */
  readonly unreadable?: ReadFault | null;
}

/** How a read ended, and what it changed. */
export interface ReadResult extends ChangeCounts {
  readonly state: 'complete' | 'partial' | 'removals_unconfirmed';
  readonly fault: ReadFault | null;
  readonly drift: number;
  /** Whether the list changed during the read, so that a second read at once may complete it. */
  readonly readAgain: boolean;
}

/** A read of one list in progress. Wait for each call before the next one. */
export interface ListReader<Item> {
  /** How the resource was last read before this read. */
  readonly previousRead: LastRead;
  /** The pages and groups of the previous read, by digest. The rows of an unchanged page or group can be skipped. */
  readonly known: {
    readonly getRowCount: (pageDigest: string) => number | undefined;
    readonly hasGroup: (groupDigest: string) => boolean;
  };
  /** Takes a page. Its rows are compared and written together with those of other pages. */
  writePage(page: ObservedPage<Item>): Promise<void>;
  /** Compares the remaining rows of pages. Returns how many rows this read has seen. */
  compareRemaining(): Promise<number>;
  /**
   * Records the keys of unreadable rows, null for a row without a readable key. Stored rows with these keys stay as they
   * are. Call it after all pages and batches.
   */
  recordUnreadable(keys: readonly (RowKey | null)[]): Promise<void>;
  /** Takes a part of the single answer that holds a list without pages. `arrivedAt` is when that part arrived. */
  writeBatch(items: readonly Item[], arrivedAt: number): Promise<void>;
  /** Writes the remaining differences, closes rows that are certainly gone, and ends the sync. */
  finish(completion: ReadCompletion): Promise<ReadResult>;
  /** Ends the sync as partial or failed. What was written stays. Does nothing if the sync has ended. */
  abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void>;
}

/** One organization's session that reads the projects that its rows reference. All organizations share the project rows. */
export interface ProjectsSession {
  readonly previousRead: LastRead;
  /**
   * Returns the ids of projects that were never requested, or last requested before an instant. If there are none, the
   * session may be left without `finish`.
   */
  listDue(checkedBefore: number): Promise<string[]>;
  /** Stores the answers and returns what became of each. */
  write(answers: readonly ProjectAnswer[]): Promise<readonly ProjectWriteResult[]>;
  /** Ends the sync as complete. */
  finish(traffic: ReadTraffic): Promise<void>;
  /** Ends the sync as partial or failed. What was written stays. Does nothing if the sync has ended. */
  abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void>;
}

/** One organization's session that downloads its due certificates. Files are stored as they arrive; their rows are written in batches. */
export interface CertificateSession {
  /** Returns up to `limit` due certificates. A certificate stops being due when its result is passed to the session. */
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

/** Stores certificates: which are due, their files, and their rows. */
export interface CertificateStore {
  /** Makes the certificates of new and changed retirements of all organizations due, and returns how many. */
  makeNewDue(): Promise<number>;
  /** Makes every certificate of an organization due, for a full sync. */
  makeAllDue(organizationId: string): Promise<void>;
  /** Makes certificates due whose latest request was refused or failed, for a sync that a person starts. */
  makeFailedDue(organizationId: string): Promise<void>;
  /**
   * Removes files without a row, which a killed session or purge has left, and returns how many. It keeps recent files, whose
   * rows may be written soon, and files older than the mirror, which belong to another mirror.
   */
  removeOrphanFiles(signal: AbortSignal): Promise<number>;
  /** Begins a session that downloads the due certificates of an organization. */
  beginSession(request: Omit<SyncRequest, 'resource'>): Promise<CertificateSession>;
}
