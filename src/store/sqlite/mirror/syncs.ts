import { write } from '../open.js';
import { causeColumns, endingColumns } from '../../resource-state.js';
import { formatInstant } from '../../../resources/columns.js';
import { Dates } from '../../../mirror/dates.js';
import { MirrorError } from '../../../mirror/errors.js';
import type { Committed, Counts, Ending, OpenSync, SyncRequest } from '../../../mirror/port.js';
import type { SyncRows } from './sync-rows.js';
import type { People } from './people.js';

/** A sync within one transaction of its own. */
export interface EnteredSync {
  readonly sync: OpenSync;
  readonly id: number;
  readonly dates: Dates;
}

const NOTHING: Counts = { added: 0, changed: 0, removed: 0, unchanged: 0 };

export type Syncs = ReturnType<typeof createSyncs>;

/** One sync from its first commit to its end. */
export function createSyncs(syncRows: SyncRows, mayKeep: People['mayKeep']) {
  function guard({ request, part }: OpenSync): void {
    const { organizationId, resource, claim, startedAt } = request;
    syncRows.fence.take({ organizationId, part, claim });
    syncRows.fence.demandActive(organizationId);
    const state = syncRows.state(organizationId, resource);
    if (state?.read_claim === claim && (state.read_at ?? '') > formatInstant(startedAt)) {
      throw new MirrorError('stale_read', 'a newer read of the same resource has already written');
    }
  }

  function insert({ organizationId, resource, trigger, claim, startedAt, cause }: SyncRequest): number {
    syncRows.prepareStates(organizationId, [resource]);
    return syncRows.beginSync({
      organization_id: organizationId,
      resource,
      trigger,
      claim,
      started_at: formatInstant(startedAt),
      ...causeColumns(cause),
    });
  }

  function leaveOpen({ sync, id, dates }: EnteredSync, done: Counts): void {
    syncRows.countSync({ id, ...countColumns(sync.counts, done) });
    syncRows.written({
      ...whose(sync),
      rows: done.added - done.removed,
      open_sync: id,
      stamp_at: dates.latest,
      read_claim: sync.request.claim,
      read_at: formatInstant(sync.request.startedAt),
    });
  }

  function leaveEnded({ sync, id, dates }: EnteredSync, done: Counts, ending: Ending): number {
    const { request, isOpen } = sync;
    const { endedAt, state, isInterrupted } = ending;
    const { answer_text: text, ...columns } = endingColumns(sync, ending);
    const startedAt = formatInstant(request.startedAt);
    const finishedAt = formatInstant(endedAt);
    const isWhole = state === 'complete';
    const drift = sync.drifts ? changesOf(sync.counts) + changesOf(done) : 0;
    syncRows.endSync({ ...endOf(id, ending), drift, ...countColumns(sync.counts, done) });
    syncRows.ended({
      ...whose(sync),
      ...columns,
      rows: done.added - done.removed,
      complete_at: isWhole ? startedAt : null,
      whole_at: isWhole ? dates.notBefore(finishedAt) : null,
      attempted_at: startedAt,
      outcome: state,
      open_sync: isInterrupted && isOpen ? id : null,
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
    /** Inside a transaction: throws once a newer claim, read or suspension was seen. Its row is entered with the first. */
    enter: (sync: OpenSync): EnteredSync => {
      guard(sync);
      return { sync, id: sync.id ?? insert(sync.request), dates: new Dates(sync.knownAt, sync.latestAt) };
    },
    /** Inside the same, when its rows are written. */
    leave: (entered: EnteredSync, counts: Partial<Counts>, ending: Ending | null): Committed => {
      const done = { ...NOTHING, ...counts };
      const drift = ending === null ? 0 : leaveEnded(entered, done, ending);
      if (ending === null) leaveOpen(entered, done);
      return { syncId: entered.id, latestAt: entered.dates.latest, drift, ...done };
    },
    closeRow: ({ id, counts }: OpenSync, ending: Ending): void => {
      if (id === null) return;
      const row = {
        ...endOf(id, ending),
        state: 'failed' as const,
        drift: 0,
        ...countColumns(counts, NOTHING),
      };
      write(syncRows.db, () => syncRows.endSync(row));
    },
  };
}

function whose({ request: { organizationId, resource } }: OpenSync) {
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
