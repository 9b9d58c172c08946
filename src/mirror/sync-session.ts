import { MirrorError } from './mirror-error.js';
import type {
  HasNewDelivery,
  CommitResult,
  ChangeCounts,
  SyncCompletion,
  OpenSync,
  SyncRequest,
} from './port/sync.js';
import type { ReadFault, ListState, ReadTraffic } from './port/read.js';
import type { MirrorPort, ProjectAnswer } from './port/mirror-port.js';
import { NO_CHANGES } from './port/rows.js';
import type { Resource } from '../resources/lists.js';
import type { Project } from '../registry/object-models.js';
import type { ProjectsSession } from './mirror.js';
import { formatInstant } from '../resources/sql-values.js';
import { PROJECTS } from '../resources/projects.js';

/** Resources whose every change a webhook announces. A change found without a webhook is counted as drift. */
export const DRIFT_RESOURCES: readonly Resource[] = ['warehouse', 'inventory', 'retirements'];

const NEVER_READ: ListState = {
  rows: 0,
  hasOpenSync: false,
  doubtedAt: null,
  doubted: null,
  stampAt: null,
  answersNameOrganization: false,
  outcome: null,
  pageDigests: null,
  declined: null,
  refusals: 0,
  attemptedAt: null,
  dataAsOf: null,
  durationMs: 0,
  everyMs: null,
  hadUnexpectedFormat: false,
  pageSize: null,
};

/** The dependencies of a sync session. */
export interface SyncSessionOptions {
  readonly port: MirrorPort;
  readonly part: string;
  readonly now: () => number;
}

/**
 * Carries one sync from its first commit to its end: its id, counts and drift. The row in `syncs` is inserted by the
 * first commit, so that a read that finds nothing new needs only one commit.
 */
export class SyncSession {
  /** The state of the resource before this sync. */
  readonly previousState: ListState;
  readonly #options: SyncSessionOptions;
  readonly #request: SyncRequest;
  readonly #countsAsDrift: boolean;
  #counts: ChangeCounts = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  #id: number | null = null;
  #latestInstant: string | null;
  #hasPartialRows: boolean;
  #drift = 0;
  #hasEnded = false;

  private constructor(
    options: SyncSessionOptions,
    request: SyncRequest,
    previousState: ListState,
    countsAsDrift: boolean,
  ) {
    this.#options = options;
    this.#request = request;
    this.#countsAsDrift = countsAsDrift;
    this.previousState = previousState;
    this.#latestInstant = previousState.stampAt;
    this.#hasPartialRows = previousState.hasOpenSync;
  }

  /**
   * Creates a sync session from the stored state of a resource, without writing.
   *
   * Drift is a change that no webhook announced. The changes that the session finds count as drift if all of these are true:
   * - The sync is scheduled.
   * - The resource is one of `DRIFT_RESOURCES`, and was read before.
   * - `hasNewDelivery` is given and returns false, because no webhook has arrived since that read.
   */
  static async begin(
    options: SyncSessionOptions,
    request: SyncRequest,
    hasNewDelivery?: HasNewDelivery,
  ): Promise<SyncSession> {
    const states = await options.port.readListStates(request.organizationId);
    const previousState = states.get(request.resource) ?? NEVER_READ;
    const { dataAsOf } = previousState;
    const canDrift = request.trigger === 'schedule' && DRIFT_RESOURCES.includes(request.resource);
    const countsAsDrift = canDrift && dataAsOf !== null && (await hasNewDelivery?.(dataAsOf)) === false;
    return new SyncSession(options, request, previousState, countsAsDrift);
  }

  /** Rows added, changed, removed and found unchanged so far. */
  get counts(): ChangeCounts {
    return this.#counts;
  }

  /** How many changes this sync found that no webhook announced. */
  get drift(): number {
    return this.#drift;
  }

  /** Adds to the count of unchanged rows. */
  addUnchanged(rowCount: number): void {
    this.#counts = { ...this.#counts, unchanged: this.#counts.unchanged + rowCount };
  }

  /** Throws an `ended` error if the sync has already ended. */
  assertNotEnded(): void {
    if (this.#hasEnded) throw new MirrorError('ended', 'this read is over');
  }

  /**
   * Records a successful commit in this sync: adds the row counts of `result`, and takes over its sync id, its drift (the number of changes
   * that no webhook announced) and its latest instant. `completion` is null unless the commit ended the sync.
   */
  recordCommit(result: CommitResult, completion: SyncCompletion | null = null): void {
    this.#hasEnded ||= completion !== null;
    this.#id = result.syncId;
    this.#drift = result.drift;
    this.#latestInstant = result.latestInstant;
    this.#hasPartialRows = true;
    const { added, changed, removed, unchanged } = this.#counts;
    this.#counts = {
      added: added + result.added,
      changed: changed + result.changed,
      removed: removed + result.removed,
      unchanged: unchanged + result.unchanged,
    };
  }

  /** Ends the sync with its outcome, such as `complete`. Changes no rows. */
  async finish(completion: Omit<SyncCompletion, 'endedAt'>): Promise<void> {
    const { port, now } = this.#options;
    const ended = { ...completion, endedAt: now() };
    this.recordCommit(await port.commit(this.toOpenSync(), NO_CHANGES, ended), ended);
  }

  /**
   * Ends an unsuccessful sync: as `partial` if it has written rows, otherwise as `failed`. Does nothing if the sync has
   * already ended.
   */
  async abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void> {
    if (this.#hasEnded) return;
    const state = this.#hasPartialRows ? 'partial' : 'failed';
    const completion = { state, fault, isInterrupted: true, ...traffic } as const;
    try {
      await this.finish(completion);
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      // The mirror refused the commit, so only the sync itself is marked as ended.
      const { port, now } = this.#options;
      await port.endRefused(this.toOpenSync(), { ...completion, endedAt: now() });
      this.#hasEnded = true;
    }
  }

  /**
   * Returns the state of this sync that each commit needs, such as its id and counts. Throws `ended` if the sync has already
   * ended.
   */
  toOpenSync(): OpenSync {
    this.assertNotEnded();
    return {
      request: this.#request,
      part: this.#options.part,
      id: this.#id,
      hasPartialRows: this.#hasPartialRows,
      followsCompleteRead: this.previousState.outcome === 'complete' && this.previousState.dataAsOf !== null,
      previousLatestInstant: this.previousState.stampAt,
      latestInstant: this.#latestInstant,
      counts: this.#counts,
      countsAsDrift: this.#countsAsDrift,
    };
  }
}

/** Creates the record to store for a project: its column values, its JSON and when it was requested and received. */
export function createProjectAnswer(
  project: Project,
  { requestedAt, arrivedAt }: { readonly requestedAt: number; readonly arrivedAt: number },
): ProjectAnswer {
  return {
    id: project.id,
    requestedAt,
    observedAt: formatInstant(arrivedAt),
    cells: PROJECTS.columns.map(column => column.getValue(project)),
    document: project.document,
  };
}

/**
 * Creates the object through which a sync reads the projects of one organization. It says which projects to request and stores the
 * responses; the caller sends the requests.
 */
export function createProjectsSession(
  port: MirrorPort,
  sync: SyncSession,
  organizationId: string,
  now: () => number,
): ProjectsSession {
  return {
    previousRead: sync.previousState,
    listDue: checkedBefore => port.listDueProjects(organizationId, checkedBefore, now()),
    write: async answers => {
      if (answers.length === 0) return [];
      const result = await port.writeProjects(sync.toOpenSync(), answers, now());
      sync.recordCommit(result);
      return result.written;
    },
    finish: traffic => sync.finish({ state: 'complete', fault: null, isInterrupted: false, ...traffic }),
    abandon: (fault, traffic) => sync.abandon(fault, traffic),
  };
}
