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
  /** Absent where nobody is to be asked: then nothing is drift. */
  readonly announced?: HasNewDelivery;
}

type InstallationWrite = Omit<InstallationRead, 'endedAt' | 'resources'>;

type PassedThrough =
  | 'readState'
  | 'report'
  | 'listInstallations'
  | 'readListStates'
  | 'readFreshnessFacts'
  | 'listKnownResources'
  | 'markAccess';

/** Answers which of the ids, at most 50, the registry does not know any more, and when it said so. */
export type FindMissing = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;

export interface Purge {
  readonly organizationId: string;
  /** A claim that is newer than all that were given out. */
  readonly takeClaim: () => Promise<number>;
  readonly pdfs: Pick<PdfStore, 'list' | 'flush'>;
}

/** Everything that writes the mirror, but for certificates: see `CertificateStore`. */
export interface Mirror extends Pick<MirrorPort, PassedThrough> {
  /** Throws `foreign_registry` if the mirror was filled from another registry or app. */
  checkOrigin(origin: MirrorOrigin): Promise<void>;
  /** At the start of every claim: refuses older ones from now on, and ends the syncs that they left open. */
  raiseFence(task: WriteClaim): Promise<void>;
  beginRead<Name extends ListResource>(request: ReadRequest<Name>): Promise<ListReader<ListItems[Name]>>;
  beginProjects(request: Omit<SyncRequest, 'resource'>): Promise<ProjectsWalk>;
  /** By its id where the registry does not show it any more: unchanged where it was never seen. */
  writeInstallation(
    sync: InstallationWrite & ({ readonly installation: Installation } | { readonly installationId: string }),
  ): Promise<WriteResult>;
  forget(email: string): Promise<number>;
  /** Removes all members, past ones too, and what is said of them. */
  removeMembers(): Promise<void>;
  /** Removes all that was mirrored for an organization, with its certificate files. */
  purge(purge: Purge): Promise<PurgeResult>;
  /** Syncs that wrote rows stay, and the last complete one of each resource and UTC day. */
  pruneSyncs(before: number): Promise<number>;
}

export interface MirrorOptions {
  /** False keeps members out, and what is said of them too. */
  readonly members: boolean;
}

/** Some rows of a page, by a digest of what they are, and their ids. */
interface RowGroup {
  readonly digest: string;
  readonly ids: readonly string[];
}

/** A page of a paginated list. */
export interface ReadPage<Item> {
  readonly digest: string;
  /** It stands as it stood, and has neither groups nor items. */
  readonly isKnown: boolean;
  /** Groups that stand as they stood. */
  readonly known: readonly RowGroup[];
  readonly unknown: readonly RowGroup[];
  /** The rows of those. */
  readonly items: readonly Item[];
  /** When the answer had arrived. */
  readonly arrivedAt: number;
}

export interface ReadCompletion extends ReadTraffic {
  /** How many rows the registry says the list has; null where it does not say. */
  readonly total: number | null;
  readonly ask?: FindMissing;
  /** Why this is not the whole list, whatever else is known of it. */
  readonly flaw?: ReadFault | null;
  /** Names the rows that could not be read; null where there were none. */
  readonly unreadable?: ReadFault | null;
}

export interface ReadResult extends ChangeCounts {
  readonly state: 'complete' | 'partial' | 'removals_unconfirmed';
  readonly fault: ReadFault | null;
  readonly drift: number;
  /** The list moved while it was read: reading it once more, at once, can settle it. */
  readonly readAgain: boolean;
}

/** A read of one list. Its calls follow one another. */
export interface ListReader<Item> {
  /** How the resource was read before. */
  readonly before: LastRead;
  /** What stands as it stood, by digests: how many rows a page has, and whether a group is such a one. */
  readonly known: {
    readonly rowsOf: (page: string) => number | undefined;
    readonly hasGroup: (group: string) => boolean;
  };
  /** Its rows are compared with those of other pages. */
  writePage(page: ReadPage<Item>): Promise<void>;
  /** Compares what is left of them; answers how many rows this read has seen, unreadable ones included. */
  settle(): Promise<number>;
  /**
   * Takes the keys of unreadable rows after all others; null for a row whose key cannot be read either. A known row of
   * such a key stays as it is.
   */
  leaveOut(keys: readonly (RowKey | null)[]): Promise<void>;
  /** A part of one answer that holds the whole list, and when that part had arrived. */
  writeBatch(items: readonly Item[], arrivedAt: number): Promise<void>;
  /** After everything was written: closes what is gone, if that is certain. */
  finish(finish: ReadCompletion): Promise<ReadResult>;
  abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void>;
}

/** One organization's walk over the projects that its rows name. Projects belong to nobody: all share the rows. */
export interface ProjectsWalk {
  readonly before: LastRead;
  /** Projects that were never requested, or not since that instant. Where there are none, the walk needs no end. */
  due(checkedBefore: number): Promise<string[]>;
  write(answers: readonly ProjectAnswer[]): Promise<readonly ProjectWriteResult[]>;
  finish(traffic: ReadTraffic): Promise<void>;
  abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void>;
}

/** One organization's walk over the certificates that are due. A file is stored as it comes, its row soon after. */
export interface CertificateWalk {
  /** Up to `limit` of those that are due; an answered one is not due any more. */
  due(limit: number): Promise<DueCertificate[]>;
  /** Stores the file, then its row. Throws a MirrorError `certificate_*` where it is not a whole PDF. */
  store(retirementId: string, body: AsyncIterable<Uint8Array>, askedAt: number): Promise<void>;
  /** There is none: asked again after a day, then after two, up to thirty. */
  unavailable(retirementId: string, askedAt: number): Promise<void>;
  /** It could not be had: asked again after five minutes, doubling up to a day. What was stored stays. */
  fail(retirementId: string, fault: ReadFault, askedAt: number): Promise<void>;
  /** Complete where every due certificate was answered, else partial. */
  finish(traffic: ReadTraffic): Promise<'complete' | 'partial'>;
  abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void>;
}

export interface CertificateStore {
  /** Enters certificates of new and changed retirements of all organizations; answers how many. */
  enter(): Promise<number>;
  /** For a sync in full: every certificate of the organization is due. */
  makeAllDue(organizationId: string): Promise<void>;
  /** For a sync that a person starts: certificates whose latest request was refused or failed are due. */
  makeFailedDue(organizationId: string): Promise<void>;
  /**
   * Removes files that a walk or a purge that was killed has left without a row; answers how many. What was written
   * lately may be about to get its row, and what is older than the mirror was fetched for another one: both stay.
   */
  sweep(signal: AbortSignal): Promise<number>;
  begin(request: Omit<SyncRequest, 'resource'>): Promise<CertificateWalk>;
}
