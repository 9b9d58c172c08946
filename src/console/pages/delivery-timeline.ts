import type { Row, Tables } from '../../store/contract/tables.js';
import { formatCount } from '../../text/numbers.js';
import { kindOf } from '../components/changes.js';
import { type Stop, timeline } from '../components/head.js';
import { html, type Html, type Part } from '../components/html.js';
import { ago, badge, colourIn, moment } from '../components/words.js';

type Read = Tables['syncs'];

/** From the post to what it changed, a stop each; none says more than is known. */
export function life(delivery: Row, reads: readonly Read[], now: number): Html {
  const stops = [received(delivery, now), stored(delivery), ...worked(delivery)];
  const state = String(delivery['job_state']);
  return timeline(reads.length === 0 ? stops : [...stops, read(reads), changed(reads, state)]);
}

function received({ received_at: at, duplicates }: Row, now: number): Stop {
  const came = String(at ?? '');
  const what = html`<strong>Received</strong> ${moment(came)}`;
  const more = html`${ago(came, now)}${Number(duplicates) > 0 && `, ${formatCount(Number(duplicates), 'duplicate')} since`}`;
  return { colour: 'good', what, more };
}

function stored({ verdict, ignored_reason: reason, secret_index: secret }: Row): Stop {
  const isAccepted = verdict === 'accepted';
  const what = isAccepted ? 'Verified and stored' : String(verdict ?? '').replaceAll('_', ' ');
  const more = `answered 202; signed with secret ${Number(secret ?? 0) + 1} of WEBHOOK_SECRETS`;
  return {
    colour: isAccepted ? 'good' : 'none',
    what: html`<strong>${what}</strong>`,
    more: isAccepted ? more : String(reason ?? ''),
  };
}

function worked({ job_id: job, job_state: state, received_at: from, started_at: to, outcome }: Row): Stop[] {
  if (job === null || job === undefined) return [];
  const waited = between(String(from ?? ''), String(to ?? ''));
  const said = String(state ?? 'unknown');
  const what = html`<strong>Processed</strong> by <a href="/jobs/${String(job)}">job ${String(job)}</a> ${waited !== null && `after ${waited} `}${badge(said)}`;
  return [{ colour: colourIn(said), what, more: said === 'done' ? null : String(outcome ?? '') }];
}

/** Lists in which something changed or that were not read, a line each; the others in one. */
function read(reads: readonly Read[]): Stop {
  const failed = reads.filter(each => !isWhole(each));
  const hasFailed = failed.some(({ state }) => state === 'failed');
  const lists = formatCount(reads.length, 'list');
  const what =
    failed.length === 0
      ? html`<strong>Read</strong> ${lists}`
      : html`<strong>${failed.length} of ${lists} not read</strong>`;
  const isQuiet = (each: Read) => each.state === 'complete' && changesOf(each) === 0;
  const quiet = reads.filter(isQuiet).map((each, place) => html`${place > 0 && ', '}${linkTo(each)}`);
  const others = reads.filter(each => !isQuiet(each)).map(lineOf);
  const colour = failed.length === 0 ? 'good' : hasFailed ? 'bad' : 'doubt';
  return { colour, what, each: quiet.length === 0 ? others : [...others, html`nothing changed in ${quiet}`] };
}

/** What came of it, by the kinds of rows. */
export function effectsOf(reads: readonly Read[]): string[] {
  return reads.flatMap(({ resource, rows_added: added, rows_changed: altered, rows_removed: removed }) =>
    Object.entries({ added, changed: altered, removed }).flatMap(([change, count]) =>
      count > 0 ? kindOf(resource, change, count) : [],
    ),
  );
}

/** Where something was not read, or not yet, nobody knows whether it changed. */
function changed(reads: readonly Read[], state: string): Stop {
  const rows = reads.reduce((sum, each) => sum + changesOf(each), 0);
  const isOver = !['waiting', 'running', 'paused'].includes(state);
  const isAll = isOver && state !== 'failed' && reads.every(isWhole);
  const nothing = isAll ? 'Nothing changed' : 'No changes known';
  const what = rows > 0 ? formatCount(rows, 'row changed', 'rows changed') : nothing;
  return {
    colour: isAll ? 'good' : 'doubt',
    what: html`<strong>${what}</strong>`,
    more: isAll
      ? null
      : isOver
        ? 'Lists that were not read may have changed.'
        : 'Processing has not finished.',
    each: effectsOf(reads),
  };
}

function lineOf(each: Read): Part {
  const { started_at: from, finished_at: to, state, error } = each;
  const took = to === null ? 'in progress' : `in ${between(from, to) ?? 'no time'}`;
  const rows = changesOf(each);
  const came =
    rows > 0 ? formatCount(rows, 'row changed', 'rows changed') : isWhole(each) && 'nothing changed';
  return html`${linkTo(each)} ${took}, ${!isWhole(each) && html`${badge(state, 'bad')} ${causeOf(error)} `}${came}`;
}

function linkTo({ id, resource }: Read): Html {
  return html`<a href="/syncs?id=${id}">${resource.replaceAll('_', ' ')}</a>`;
}

export function isWhole({ state }: Read): boolean {
  return state === 'complete' || state === 'running';
}

function changesOf({ rows_added: added, rows_changed: altered, rows_removed: removed }: Read): number {
  return added + altered + removed;
}

/** The status that was answered, or what went wrong in words. */
function causeOf(error: string | null): string {
  const status = /answered (\d{3})/.exec(error ?? '')?.[1];
  return status === undefined ? (error ?? '') : `(${status})`;
}

function between(from: string, to: string): string | null {
  const ms = Date.parse(to) - Date.parse(from);
  if (Number.isNaN(ms) || ms < 0) return null;
  return ms < 10_000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`;
}
