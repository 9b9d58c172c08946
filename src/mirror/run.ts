import type { Lane } from '../database/inbox-tables.js';
import type { RunState } from '../database/mirror-tables.js';
import { write } from '../database/open.js';
import type { Answer, Books, Counts, Fault, KnownState, RunRequest } from './books.js';
import { formatInstant, text } from './columns.js';
import { Dates } from './dates.js';
import { MirrorError } from './errors.js';
import type { Resource } from './resources.js';

const DRIFTING: readonly Resource[] = ['warehouse', 'inventory', 'retirements'];

export interface Traffic {
  readonly requests: number;
  readonly bytes: number;
  /** How long it waited for answers that never came: that is not how long the read takes. */
  readonly lostMs?: number;
  /** Absent where none came. */
  readonly answer?: Answer | null;
  /** Rows to ask for a page from now on; null where as many are served as we ask for, absent where that is not known. */
  readonly pageSize?: number | null;
  /** Whether its answers said whose they are; absent where they did not and should have. */
  readonly ownerTold?: boolean;
}

export interface Ending extends Traffic {
  readonly state: Exclude<RunState, 'running'>;
  readonly fault: Fault | null;
  /** Whether the read stopped before it had seen everything. */
  readonly isInterrupted: boolean;
}

const NOTHING: Counts = { added: 0, changed: 0, removed: 0, unchanged: 0 };

/**
 * One run from its first write to its end. Its row is entered with the first write, so that a read that finds
 * nothing new costs one commit; every write is refused once a newer claim, a newer read or a suspension was seen.
 */
export class Run {
  readonly before: KnownState;
  readonly dates: Dates;
  readonly counts: Counts = { ...NOTHING };
  readonly #books: Books;
  readonly #request: RunRequest;
  readonly #lane: Lane;
  readonly #now: () => number;
  #id: number | null = null;
  #isOpen: boolean;
  #ended = false;

  constructor(books: Books, request: RunRequest, lane: Lane, now: () => number) {
    this.#books = books;
    this.#request = request;
    this.#lane = lane;
    this.#now = now;
    this.before = this.#knownState();
    this.#isOpen = this.before.open_run !== null;
    this.dates = new Dates(this.before.stamp_at);
  }

  get id(): number | null {
    return this.#id;
  }

  demandNotEnded(): void {
    if (this.#ended) throw new MirrorError('ended', 'this read is over');
  }

  /** One short transaction in the middle of the run. The resource counts as partial until the run ends. */
  write(work: (runId: number) => Partial<Counts>): void {
    this.demandNotEnded();
    this.#commit(runId => {
      const done = { ...NOTHING, ...work(runId) };
      this.#books.countRun({ id: runId, ...this.#columns(done) });
      this.#books.written({
        ...this.#whose(),
        rows: done.added - done.removed,
        open_run: runId,
        stamp_at: this.dates.latest,
        read_claim: this.#request.claim,
        read_at: formatInstant(this.#request.startedAt),
      });
      return done;
    });
    this.#isOpen = true;
  }

  /** The last transaction: what is left to write, and how the run ended. Answers the run's id and its drift. */
  end(
    ending: Ending,
    work: (runId: number) => Partial<Counts> = () => NOTHING,
  ): { id: number; drift: number } {
    this.demandNotEnded();
    let drift = 0;
    const id = this.#commit(runId => {
      const done = { ...NOTHING, ...work(runId) };
      drift = this.#driftOf(done);
      this.#enterEnd(runId, ending, done, drift);
      return done;
    });
    this.#ended = true;
    return { id, drift };
  }

  /** Ends as failed. What was written stays, and says that it is partial. */
  abandon(fault: Fault, traffic: Traffic): void {
    if (this.#ended) return;
    const state = this.#isOpen ? 'partial' : 'failed';
    try {
      this.end({ state, fault, isInterrupted: true, ...traffic });
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      this.#ended = true;
      this.#closeRow(fault, traffic);
    }
  }

  #commit(work: (runId: number) => Counts): number {
    const id = this.#id;
    let done = NOTHING;
    try {
      this.#id = write(this.#books.db, () => {
        this.#guard();
        const runId = id ?? this.#enter();
        done = work(runId);
        return runId;
      });
    } catch (error) {
      this.#id = id;
      throw error;
    }
    this.counts.added += done.added;
    this.counts.changed += done.changed;
    this.counts.removed += done.removed;
    return this.#id;
  }

  #guard(): void {
    const { organizationId, claim, startedAt } = this.#request;
    this.#books.fence.hold({ organizationId, lane: this.#lane, claim });
    this.#books.fence.demandActive(organizationId);
    const state = this.#knownState();
    if (state.read_claim === claim && (state.read_at ?? '') > formatInstant(startedAt)) {
      throw new MirrorError('stale_read', 'a newer read of the same resource has already written');
    }
  }

  #enter(): number {
    const { organizationId, resource, trigger, claim, startedAt } = this.#request;
    this.#books.prepareStates(organizationId, [resource]);
    return this.#books.beginRun({
      organization_id: organizationId,
      resource,
      trigger,
      claim,
      started_at: formatInstant(startedAt),
    });
  }

  #enterEnd(runId: number, ending: Ending, done: Counts, drift: number): void {
    const startedAt = formatInstant(this.#request.startedAt);
    const now = this.#now();
    const finishedAt = formatInstant(now);
    const words = { error_code: ending.fault?.code ?? null, error: ending.fault?.message ?? null };
    const isWhole = ending.state === 'complete';
    this.#books.endRun({
      id: runId,
      finished_at: finishedAt,
      state: ending.state,
      requests: ending.requests,
      bytes: ending.bytes,
      drift,
      ...words,
      ...this.#columns(done),
    });
    this.#books.ended({
      ...this.#whose(),
      ...words,
      rows: done.added - done.removed,
      complete_at: isWhole ? startedAt : null,
      whole_at: isWhole ? this.dates.notBefore(finishedAt) : null,
      attempted_at: startedAt,
      outcome: ending.state,
      open_run: ending.isInterrupted && this.#isOpen ? runId : null,
      drift,
      drift_at: drift > 0 ? startedAt : null,
      duration_ms: isWhole ? Math.max(0, now - this.#request.startedAt - (ending.lostMs ?? 0)) : null,
      stamp_at: this.dates.latest,
      read_claim: this.#request.claim,
      read_at: startedAt,
      is_sized: ending.pageSize === undefined ? 0 : 1,
      page_size: ending.pageSize ?? null,
      owner_told: isWhole || ending.ownerTold === true ? asFlag(ending.ownerTold) : null,
      ...answerColumns(ending.answer ?? null),
    });
  }

  #closeRow(fault: Fault, traffic: Traffic): void {
    const id = this.#id;
    if (id === null) return;
    write(this.#books.db, () =>
      this.#books.endRun({
        id,
        finished_at: formatInstant(this.#now()),
        state: 'failed',
        requests: traffic.requests,
        bytes: traffic.bytes,
        drift: 0,
        error_code: fault.code,
        error: fault.message,
        ...this.#columns(NOTHING),
      }),
    );
  }

  #driftOf(done: Counts): number {
    const { resource, trigger, announced } = this.#request;
    const mayDrift = trigger === 'schedule' && !announced && this.before.complete_at !== null;
    return mayDrift && DRIFTING.includes(resource) ? this.#total(done) : 0;
  }

  #total(done: Counts): number {
    const { added, changed, removed } = this.counts;
    return added + changed + removed + done.added + done.changed + done.removed;
  }

  #columns(done: Counts) {
    return {
      rows_added: this.counts.added + done.added,
      rows_changed: this.counts.changed + done.changed,
      rows_removed: this.counts.removed + done.removed,
      rows_unchanged: this.counts.unchanged,
    };
  }

  #whose() {
    return { organization_id: this.#request.organizationId, resource: this.#request.resource };
  }

  #knownState(): KnownState {
    return this.#books.state(this.#request.organizationId, this.#request.resource) ?? UNKNOWN;
  }
}

function answerColumns(answer: Answer | null) {
  return {
    answer_status: answer?.status ?? null,
    answer_form: answer?.form ?? null,
    answer_text: text(answer?.text ?? null),
    answered_at: answer === null ? null : formatInstant(answer.at),
  };
}

function asFlag(value: boolean | undefined): number | null {
  return value === undefined ? null : Number(value);
}

const UNKNOWN: KnownState = {
  rows: 0,
  complete_at: null,
  open_run: null,
  doubted_at: null,
  doubted: null,
  stamp_at: null,
  read_claim: null,
  read_at: null,
  owner_told: 0,
};
