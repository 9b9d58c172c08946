import { write } from '../open.js';
import { causeColumns, endingColumns, openingOf } from '../../resource-state.js';
import { formatInstant } from '../../../resources/columns.js';
import { Dates } from '../../../mirror/dates.js';
import { MirrorError } from '../../../mirror/errors.js';
import type { Committed, Counts, Ending, Opening, OpenRun, RunRequest, Whose } from '../../../mirror/port.js';
import type { RunRows } from './run-rows.js';
import type { People } from './people.js';

/** A run within one transaction of its own. */
export interface EnteredRun {
  readonly run: OpenRun;
  readonly id: number;
  readonly dates: Dates;
}

const NOTHING: Counts = { added: 0, changed: 0, removed: 0, unchanged: 0 };

export type Runs = ReturnType<typeof createRuns>;

/** One run from its first commit to its end. */
export function createRuns(runRows: RunRows, mayKeep: People['mayKeep']) {
  function guard({ request, lane }: OpenRun): void {
    const { organizationId, resource, claim, startedAt } = request;
    runRows.fence.take({ organizationId, lane, claim });
    runRows.fence.demandActive(organizationId);
    const state = runRows.state(organizationId, resource);
    if (state?.read_claim === claim && (state.read_at ?? '') > formatInstant(startedAt)) {
      throw new MirrorError('stale_read', 'a newer read of the same resource has already written');
    }
  }

  function insert({ organizationId, resource, trigger, claim, startedAt, cause }: RunRequest): number {
    runRows.prepareStates(organizationId, [resource]);
    return runRows.beginRun({
      organization_id: organizationId,
      resource,
      trigger,
      claim,
      started_at: formatInstant(startedAt),
      ...causeColumns(cause),
    });
  }

  function leaveOpen({ run, id, dates }: EnteredRun, done: Counts): void {
    runRows.countRun({ id, ...countColumns(run.counts, done) });
    runRows.written({
      ...whose(run),
      rows: done.added - done.removed,
      open_run: id,
      stamp_at: dates.latest,
      read_claim: run.request.claim,
      read_at: formatInstant(run.request.startedAt),
    });
  }

  function leaveEnded({ run, id, dates }: EnteredRun, done: Counts, ending: Ending): number {
    const { request, isOpen } = run;
    const { endedAt, state, isInterrupted } = ending;
    const { answer_text: text, ...columns } = endingColumns(run, ending);
    const startedAt = formatInstant(request.startedAt);
    const finishedAt = formatInstant(endedAt);
    const isWhole = state === 'complete';
    const drift = run.drifts ? changesOf(run.counts) + changesOf(done) : 0;
    runRows.endRun({ ...endOf(id, ending), drift, ...countColumns(run.counts, done) });
    runRows.ended({
      ...whose(run),
      ...columns,
      rows: done.added - done.removed,
      complete_at: isWhole ? startedAt : null,
      whole_at: isWhole ? dates.notBefore(finishedAt) : null,
      attempted_at: startedAt,
      outcome: state,
      open_run: isInterrupted && isOpen ? id : null,
      drift,
      drift_at: drift > 0 ? startedAt : null,
      stamp_at: dates.latest,
      read_claim: request.claim,
      read_at: startedAt,
      answer_text: text !== null && mayKeep(text) ? text : null,
    });
    return drift;
  }

  return {
    begin: ({ organizationId, resource }: Whose): Opening =>
      openingOf(runRows.state(organizationId, resource)),
    /** Inside a transaction: throws once a newer claim, read or suspension was seen. Its row is entered with the first. */
    enter: (run: OpenRun): EnteredRun => {
      guard(run);
      return { run, id: run.id ?? insert(run.request), dates: new Dates(run.knownAt, run.latestAt) };
    },
    /** Inside the same, when its rows are written. */
    leave: (entered: EnteredRun, counts: Partial<Counts>, ending: Ending | null): Committed => {
      const done = { ...NOTHING, ...counts };
      const drift = ending === null ? 0 : leaveEnded(entered, done, ending);
      if (ending === null) leaveOpen(entered, done);
      return { runId: entered.id, latestAt: entered.dates.latest, drift, ...done };
    },
    closeRow: ({ id, counts }: OpenRun, ending: Ending): void => {
      if (id === null) return;
      const row = {
        ...endOf(id, ending),
        state: 'failed' as const,
        drift: 0,
        ...countColumns(counts, NOTHING),
      };
      write(runRows.db, () => runRows.endRun(row));
    },
  };
}

function whose({ request: { organizationId, resource } }: OpenRun) {
  return { organization_id: organizationId, resource };
}

function changesOf({ added, changed, removed }: Counts): number {
  return added + changed + removed;
}

function countColumns(before: Counts, done: Counts) {
  return {
    rows_added: before.added + done.added,
    rows_changed: before.changed + done.changed,
    rows_removed: before.removed + done.removed,
    rows_unchanged: before.unchanged + done.unchanged,
  };
}

function endOf(id: number, { endedAt, answeredAt = null, state, requests, bytes, fault }: Ending) {
  return {
    id,
    finished_at: formatInstant(endedAt),
    answered_at: answeredAt === null ? null : formatInstant(answeredAt),
    state,
    requests,
    bytes,
    error_code: fault?.code ?? null,
    error: fault?.message ?? null,
  };
}

export function countWritten(written: readonly string[], words: Readonly<Record<string, keyof Counts>>) {
  const counts = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  for (const word of written) {
    const kind = words[word];
    if (kind !== undefined) counts[kind] += 1;
  }
  return counts;
}
