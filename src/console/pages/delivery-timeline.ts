import type { Row, Tables } from '../../store/contract/tables.js';
import { formatCount } from '../../text/numbers.js';
import { describeChangeCount } from '../components/changes.js';
import { type TimelineEntry, renderTimeline } from '../components/head.js';
import { html, type Html, type HtmlContent } from '../components/html.js';
import { renderAge, renderBadge, findStateColour, renderInstant } from '../components/formats.js';

type SyncRow = Tables['syncs'];

/** Renders the timeline of a delivery, from its arrival to the changes. */
export function renderDeliveryTimeline(delivery: Row, reads: readonly SyncRow[], now: number): Html {
  const stops = [describeArrival(delivery, now), describeVerdict(delivery), ...describeJob(delivery)];
  const state = String(delivery['job_state']);
  return renderTimeline(
    reads.length === 0 ? stops : [...stops, describeReads(reads), describeChanges(reads, state)],
  );
}

function describeArrival({ received_at: at, duplicates }: Row, now: number): TimelineEntry {
  const came = String(at ?? '');
  const what = html`<strong>Received</strong> ${renderInstant(came)}`;
  const more = html`${renderAge(came, now)}${Number(duplicates) > 0 && `, ${formatCount(Number(duplicates), 'duplicate')} since`}`;
  return { colour: 'good', title: what, details: more };
}

function describeVerdict({ verdict, ignored_reason: reason, secret_index: secret }: Row): TimelineEntry {
  const isAccepted = verdict === 'accepted';
  const what = isAccepted ? 'Verified and stored' : String(verdict ?? '').replaceAll('_', ' ');
  const more = `answered 202; signed with secret ${Number(secret ?? 0) + 1} of WEBHOOK_SECRETS`;
  return {
    colour: isAccepted ? 'good' : 'none',
    title: html`<strong>${what}</strong>`,
    details: isAccepted ? more : String(reason ?? ''),
  };
}

function describeJob({
  job_id: job,
  job_state: state,
  received_at: from,
  started_at: to,
  outcome,
}: Row): TimelineEntry[] {
  if (job === null || job === undefined) return [];
  const waited = formatElapsed(String(from ?? ''), String(to ?? ''));
  const said = String(state ?? 'unknown');
  const what = html`<strong>Processed</strong> by <a href="/jobs/${String(job)}">job ${String(job)}</a> ${waited !== null && `after ${waited} `}${renderBadge(said)}`;
  return [
    { colour: findStateColour(said), title: what, details: said === 'done' ? null : String(outcome ?? '') },
  ];
}

/** Describes the reads of a delivery: one line per list that changed or was not read, one line for all others. */
function describeReads(reads: readonly SyncRow[]): TimelineEntry {
  const failed = reads.filter(each => !isCompleteOrRunning(each));
  const hasFailed = failed.some(({ state }) => state === 'failed');
  const lists = formatCount(reads.length, 'list');
  const what =
    failed.length === 0
      ? html`<strong>Read</strong> ${lists}`
      : html`<strong>${failed.length} of ${lists} not read</strong>`;
  const isQuiet = (each: SyncRow) => each.state === 'complete' && countChanges(each) === 0;
  const quiet = reads.filter(isQuiet).map((each, place) => html`${place > 0 && ', '}${renderSyncLink(each)}`);
  const others = reads.filter(each => !isQuiet(each)).map(renderSync);
  const colour = failed.length === 0 ? 'good' : hasFailed ? 'bad' : 'doubt';
  return {
    colour,
    title: what,
    items: quiet.length === 0 ? others : [...others, html`nothing changed in ${quiet}`],
  };
}

/** Describes the changes that reads found, one text per resource and kind. */
export function countChangesByKind(reads: readonly SyncRow[]): string[] {
  return reads.flatMap(({ resource, rows_added: added, rows_changed: altered, rows_removed: removed }) =>
    Object.entries({ added, changed: altered, removed }).flatMap(([change, count]) =>
      count > 0 ? describeChangeCount(resource, change, count) : [],
    ),
  );
}

/** Describes what changed. Lists that were not read, or not yet, may have changed too. */
function describeChanges(reads: readonly SyncRow[], state: string): TimelineEntry {
  const rows = reads.reduce((sum, each) => sum + countChanges(each), 0);
  const isOver = !['waiting', 'running', 'paused'].includes(state);
  const isAll = isOver && state !== 'failed' && reads.every(isCompleteOrRunning);
  const nothing = isAll ? 'Nothing changed' : 'No changes known';
  const what = rows > 0 ? formatCount(rows, 'row changed', 'rows changed') : nothing;
  return {
    colour: isAll ? 'good' : 'doubt',
    title: html`<strong>${what}</strong>`,
    details: isAll
      ? null
      : isOver
        ? 'Lists that were not read may have changed.'
        : 'Processing has not finished.',
    items: countChangesByKind(reads),
  };
}

function renderSync(each: SyncRow): HtmlContent {
  const { started_at: from, finished_at: to, state, error } = each;
  const took = to === null ? 'in progress' : `in ${formatElapsed(from, to) ?? 'no time'}`;
  const rows = countChanges(each);
  const came =
    rows > 0
      ? formatCount(rows, 'row changed', 'rows changed')
      : isCompleteOrRunning(each) && 'nothing changed';
  return html`${renderSyncLink(each)} ${took}, ${!isCompleteOrRunning(each) && html`${renderBadge(state, 'bad')} ${describeError(error)} `}${came}`;
}

function renderSyncLink({ id, resource }: SyncRow): Html {
  return html`<a href="/syncs?id=${id}">${resource.replaceAll('_', ' ')}</a>`;
}

export function isCompleteOrRunning({ state }: SyncRow): boolean {
  return state === 'complete' || state === 'running';
}

function countChanges({ rows_added: added, rows_changed: altered, rows_removed: removed }: SyncRow): number {
  return added + altered + removed;
}

/** Returns the HTTP status of an error in brackets, or its message. */
function describeError(error: string | null): string {
  const status = /answered (\d{3})/.exec(error ?? '')?.[1];
  return status === undefined ? (error ?? '') : `(${status})`;
}

function formatElapsed(from: string, to: string): string | null {
  const ms = Date.parse(to) - Date.parse(from);
  if (Number.isNaN(ms) || ms < 0) return null;
  return ms < 10_000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`;
}
