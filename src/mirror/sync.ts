import { MirrorError } from './errors.js';
import {
  type HasNewDelivery,
  type CommitResult,
  type ChangeCounts,
  type SyncCompletion,
  type ReadFault,
  type MirrorPort,
  NO_CHANGES,
  type ListState,
  type OpenSync,
  type SyncRequest,
  type ReadTraffic,
} from './port.js';
import type { Resource } from '../resources/lists.js';

/** Those whose every change a delivery announces. */
export const DRIFTING: readonly Resource[] = ['warehouse', 'inventory', 'retirements'];

const NEVER_READ: ListState = {
  rows: 0,
  isBroken: false,
  doubtedAt: null,
  doubted: null,
  stampAt: null,
  isOwnerNamed: false,
  outcome: null,
  pageDigests: null,
  declined: null,
  refusals: 0,
  attemptedAt: null,
  dataAsOf: null,
  durationMs: 0,
  everyMs: null,
  isStrange: false,
  pageSize: null,
};

export interface SyncParts {
  readonly port: MirrorPort;
  readonly part: string;
  readonly now: () => number;
}

/**
 * One sync from its first commit to its end. Its row is entered with the first commit, so that a read that finds
 * nothing new costs one.
 */
export class Sync {
  readonly before: ListState;
  readonly #parts: SyncParts;
  readonly #request: SyncRequest;
  readonly #drifts: boolean;
  #counts: ChangeCounts = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  #id: number | null = null;
  #latestAt: string | null;
  #isOpen: boolean;
  #drift = 0;
  #ended = false;

  private constructor(parts: SyncParts, request: SyncRequest, before: ListState, drifts: boolean) {
    this.#parts = parts;
    this.#request = request;
    this.#drifts = drifts;
    this.before = before;
    this.#latestAt = before.stampAt;
    this.#isOpen = before.isBroken;
  }

  static async begin(parts: SyncParts, request: SyncRequest, announced?: HasNewDelivery): Promise<Sync> {
    const before =
      (await parts.port.readListStates(request.organizationId)).get(request.resource) ?? NEVER_READ;
    const mayDrift = request.trigger === 'schedule' && DRIFTING.includes(request.resource);
    const drifts = mayDrift && before.dataAsOf !== null && (await announced?.(before.dataAsOf)) === false;
    return new Sync(parts, request, before, drifts);
  }

  get counts(): ChangeCounts {
    return this.#counts;
  }

  get drift(): number {
    return this.#drift;
  }

  noteUnchanged(rows: number): void {
    this.#counts = { ...this.#counts, unchanged: this.#counts.unchanged + rows };
  }

  demandNotEnded(): void {
    if (this.#ended) throw new MirrorError('ended', 'this read is over');
  }

  /** After a transaction. The resource is being read until the sync has ended. */
  note(done: CommitResult, ending: SyncCompletion | null = null): void {
    this.#ended ||= ending !== null;
    this.#id = done.syncId;
    this.#drift = done.drift;
    this.#latestAt = done.latestAt;
    this.#isOpen = true;
    const { added, changed, removed, unchanged } = this.#counts;
    this.#counts = {
      added: added + done.added,
      changed: changed + done.changed,
      removed: removed + done.removed,
      unchanged: unchanged + done.unchanged,
    };
  }

  /** The last transaction, where nothing is left to write. */
  async end(ending: Omit<SyncCompletion, 'endedAt'>): Promise<void> {
    const { port, now } = this.#parts;
    const end = { ...ending, endedAt: now() };
    this.note(await port.commit(this.open(), NO_CHANGES, end), end);
  }

  /** Ends as failed. What was written stays, and says that it is partial. */
  async abandon(fault: ReadFault, traffic: ReadTraffic): Promise<void> {
    if (this.#ended) return;
    const state = this.#isOpen ? 'partial' : 'failed';
    const ending = { state, fault, isInterrupted: true, ...traffic } as const;
    try {
      await this.end(ending);
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      const { port, now } = this.#parts;
      await port.endRefused(this.open(), { ...ending, endedAt: now() });
      this.#ended = true;
    }
  }

  /** As it goes into its next transaction. */
  open(): OpenSync {
    this.demandNotEnded();
    return {
      request: this.#request,
      part: this.#parts.part,
      id: this.#id,
      isOpen: this.#isOpen,
      knownAt: this.before.stampAt,
      latestAt: this.#latestAt,
      counts: this.#counts,
      drifts: this.#drifts,
    };
  }
}
