import type { Row, Tables } from '../../store/contract/tables.js';
import { formatCount } from '../../text/numbers.js';
import { describeChangeCount } from '../components/change-feed.js';
import { type TimelineEntry, renderTimeline } from '../components/detail-page.js';
import { html, type Html, type HtmlContent } from '../components/html.js';
import { renderBadge, renderState, findStateColour } from '../components/badges.js';
import { renderAge, renderInstant } from '../components/instants.js';

type SyncRow = Tables['syncs'];

/** Renders the timeline of a webhook delivery: its arrival, its verification, its job, and the changes that the job found. */
export function renderDeliveryTimeline(delivery: Row, syncs: readonly SyncRow[], now: number): Html {
  const entries = [
    createArrivalEntry(delivery, now),
    createVerdictEntry(delivery),
    ...createJobEntries(delivery),
  ];
  return renderTimeline([...entries, ...describeReads(syncs, String(delivery['job_state']))]);
}

/** Creates the timeline entries for the lists that a job has read and the rows that changed in them. */
export function describeReads(syncs: readonly SyncRow[], jobState: string): TimelineEntry[] {
  return syncs.length === 0 ? [] : [createSyncsEntry(syncs), createChangesEntry(syncs, jobState)];
}

/** Creates the timeline entry for the arrival of a delivery. Says how often the same delivery arrived again. */
function createArrivalEntry({ received_at: at, duplicates }: Row, now: number): TimelineEntry {
  const receivedAt = String(at ?? '');
  const count = Number(duplicates);
  return {
    colour: 'good',
    title: html`<strong>Received</strong> ${renderInstant(receivedAt)}`,
    details: html`${renderAge(receivedAt, now)}${count > 0 && `, ${formatCount(count, 'duplicate')} since`}`,
  };
}

/** Creates the timeline entry that says that a delivery was accepted, or why it was ignored. */
function createVerdictEntry({
  verdict,
  ignored_reason: reason,
  secret_index: secretIndex,
}: Row): TimelineEntry {
  if (verdict !== 'accepted')
    return {
      colour: 'none',
      title: html`<strong>${String(verdict ?? '').replaceAll('_', ' ')}</strong>`,
      details: String(reason ?? ''),
    };
  return {
    colour: 'good',
    title: html`<strong>Verified and stored</strong>`,
    details: `answered 202; signed with secret ${Number(secretIndex ?? 0) + 1} of WEBHOOK_SECRETS`,
  };
}

/** Creates the timeline entry for the job of a delivery. Returns an empty array if the delivery has no job. */
function createJobEntries(delivery: Row): TimelineEntry[] {
  const { job_id: jobId, job_state: jobState, received_at: receivedAt, outcome } = delivery;
  if (jobId === null || jobId === undefined) return [];
  const wait = formatElapsed(String(receivedAt ?? ''), String(delivery['started_at'] ?? ''));
  const state = String(jobState ?? 'unknown');
  const title = html`<strong>Processed</strong> by <a href="/jobs/${String(jobId)}">job ${String(jobId)}</a>, ${renderState(state)}${wait !== null && `, started after ${wait}`}`;
  return [
    { colour: findStateColour(state), title, details: state === 'done' ? null : String(outcome ?? '') },
  ];
}

/** Creates the timeline entry for the lists that were read. Puts all lists without changes on one line. */
function createSyncsEntry(syncs: readonly SyncRow[]): TimelineEntry {
  const failed = syncs.filter(sync => !isCompleteOrRunning(sync));
  const lists = formatCount(syncs.length, 'list');
  const isUnchanged = (sync: SyncRow) => sync.state === 'complete' && countChanges(sync) === 0;
  const unchanged = syncs
    .filter(isUnchanged)
    .map((sync, index) => html`${index > 0 && ', '}${renderSyncLink(sync)}`);
  const others = syncs.filter(sync => !isUnchanged(sync)).map(describeSync);
  return {
    colour: failed.length === 0 ? 'good' : failed.some(({ state }) => state === 'failed') ? 'bad' : 'doubt',
    title:
      failed.length === 0
        ? html`<strong>Read</strong> ${lists}`
        : html`<strong>${failed.length} of ${lists} not read</strong>`,
    items: unchanged.length === 0 ? others : [...others, html`nothing changed in ${unchanged}`],
  };
}

/** Returns texts such as "2 retirements added": one for each list that was read and each kind of change. */
export function listChangeTexts(syncs: readonly SyncRow[]): string[] {
  return syncs.flatMap(({ resource, rows_added: added, rows_changed: changed, rows_removed: removed }) =>
    Object.entries({ added, changed, removed }).flatMap(([change, count]) =>
      count > 0 ? describeChangeCount(resource, change, count) : [],
    ),
  );
}

/** Creates the timeline entry with the number of changed rows. Warns if changes may be missing, as after a failed read. */
function createChangesEntry(syncs: readonly SyncRow[], jobState: string): TimelineEntry {
  const rows = syncs.reduce((sum, sync) => sum + countChanges(sync), 0);
  const hasJobEnded = !['waiting', 'running', 'paused'].includes(jobState);
  const isConclusive = hasJobEnded && jobState !== 'failed' && syncs.every(isCompleteOrRunning);
  const noChanges = isConclusive ? 'Nothing changed' : 'No changes known';
  const caveat = hasJobEnded ? 'Lists that were not read may have changed.' : 'Processing has not finished.';
  return {
    colour: isConclusive ? 'good' : 'doubt',
    title: html`<strong>${rows > 0 ? formatCount(rows, 'row changed', 'rows changed') : noChanges}</strong>`,
    details: isConclusive ? null : caveat,
    items: listChangeTexts(syncs),
  };
}

/** Renders one line about a sync, the read of one list: its duration, its error and how many rows changed. */
function describeSync(sync: SyncRow): HtmlContent {
  const { started_at: startedAt, finished_at: finishedAt, state, error } = sync;
  const isSuccess = isCompleteOrRunning(sync);
  const duration =
    finishedAt === null ? 'in progress' : `in ${formatElapsed(startedAt, finishedAt) ?? 'no time'}`;
  const rows = countChanges(sync);
  const changes =
    rows > 0 ? formatCount(rows, 'row changed', 'rows changed') : isSuccess && 'nothing changed';
  return html`${renderSyncLink(sync)} ${duration}, ${!isSuccess && html`${renderBadge(state, 'bad')} ${describeError(error)} `}${changes}`;
}

function renderSyncLink({ id, resource }: SyncRow): Html {
  return html`<a href="/syncs?id=${id}">${resource.replaceAll('_', ' ')}</a>`;
}

/** Returns whether a sync has succeeded or may still succeed. */
export function isCompleteOrRunning({ state }: SyncRow): boolean {
  return state === 'complete' || state === 'running';
}

/** Returns how many rows a sync added, changed or removed. */
function countChanges({ rows_added: added, rows_changed: changed, rows_removed: removed }: SyncRow): number {
  return added + changed + removed;
}

/** Shortens the error of a read to its HTTP status, such as "(503)". Returns other errors unchanged. */
function describeError(error: string | null): string {
  const status = /answered (\d{3})/.exec(error ?? '')?.[1];
  return status === undefined ? (error ?? '') : `(${status})`;
}

/**
 * Formats the time between two instants, such as "250 ms" or "12 s". Null if an instant is empty or the end is before the
 * start.
 */
export function formatElapsed(from: string, to: string): string | null {
  const ms = Date.parse(to) - Date.parse(from);
  if (Number.isNaN(ms) || ms < 0) return null;
  return ms < 10_000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`;
}
