import type { Row } from '../../store/contract/tables.js';
import type { FollowUp } from '../../query/inbox/follow-up.js';
import { counted } from '../../text/counted.js';
import { type Stop, timeline } from '../components/head.js';
import { html, type Html, type Part } from '../components/html.js';
import { ago, badge, dayWords } from '../components/words.js';

type Read = FollowUp['reads'][number];

/** From the post to what it changed, a stop each; none says more than is known. */
export function life(delivery: Row, followUp: FollowUp | null, now: number): Html {
  const reads = followUp?.reads ?? [];
  const stops = [received(delivery, now), stored(delivery), ...worked(delivery)];
  if (reads.length > 0) stops.push(read(reads), changed(reads));
  if (followUp !== null && followUp.certificates !== null)
    stops.push({
      colour: colourOf([followUp.certificates]),
      what: 'Certificates',
      more: lineOf(followUp.certificates),
    });
  return timeline(stops);
}

function received({ received_at: at, duplicates }: Row, now: number): Stop {
  const came = String(at ?? '');
  const more = html`${ago(came, now)}${Number(duplicates) > 0 && `, and ${counted(Number(duplicates), 'duplicate')} since`}`;
  return {
    colour: 'good',
    what: html`<strong>Received</strong> ${dayWords(came)}, ${came.slice(11, 23)} UTC`,
    more,
  };
}

function stored({ verdict, ignored_reason: reason, secret_index: secret }: Row): Stop {
  if (verdict !== 'accepted')
    return {
      colour: 'none',
      what: html`<strong>${String(verdict ?? '').replaceAll('_', ' ')}</strong>`,
      more: String(reason ?? ''),
    };
  const more = `stored, 202; signed with secret ${Number(secret ?? 0) + 1} of WEBHOOK_SECRETS`;
  return { colour: 'good', what: html`<strong>Verified and stored</strong>`, more };
}

function worked({ job_id: job, job_state: state, received_at: from, started_at: to, outcome }: Row): Stop[] {
  if (job === null || job === undefined) return [];
  const waited = between(String(from ?? ''), String(to ?? ''));
  const said = String(state ?? 'unknown');
  const colour = said === 'failed' ? 'bad' : said === 'done' ? 'good' : said === 'paused' ? 'doubt' : 'none';
  const what = html`<strong>Worked on</strong> <a href="/jobs/${String(job)}">job ${String(job)}</a> ${waited !== null && `after ${waited} `}${badge(said)}`;
  return [{ colour, what, more: said === 'done' ? null : String(outcome ?? '') }];
}

function read(reads: readonly Read[]): Stop {
  const colour = colourOf(reads);
  const failed = reads.filter(each => !isWhole(each)).length;
  const what =
    failed === 0
      ? html`<strong>Read</strong> ${counted(reads.length, 'list')}`
      : html`<strong>${failed} of ${counted(reads.length, 'list')} not read</strong>`;
  return { colour, what, each: reads.map(lineOf) };
}

/** Where something was not read, nobody knows whether it changed. */
function changed(reads: readonly Read[]): Stop {
  const rows = reads.reduce((sum, each) => sum + changesOf(each), 0);
  const isAll = reads.every(isWhole);
  const what =
    rows > 0
      ? counted(rows, 'row changed', 'rows changed')
      : isAll
        ? 'Nothing changed'
        : 'No change is known';
  const more = isAll ? null : 'What was not read may have changed.';
  return { colour: isAll ? 'good' : 'doubt', what: html`<strong>${what}</strong>`, more };
}

function lineOf(each: Read): Part {
  const { id, resource, started_at: from, finished_at: to, state, error } = each;
  const took = to === null ? 'under way' : `in ${between(from, to) ?? 'no time'}`;
  const rows = changesOf(each);
  const came = rows > 0 ? counted(rows, 'row changed', 'rows changed') : isWhole(each) && 'nothing changed';
  return html`<a href="/syncs?id=${id}">${resource.replaceAll('_', ' ')}</a> ${took}, ${!isWhole(each) && html`${badge(state, 'bad')} ${causeOf(error)} `}${came}`;
}

function colourOf(reads: readonly Read[]): Stop['colour'] {
  if (reads.some(({ state }) => state === 'failed')) return 'bad';
  return reads.every(isWhole) ? 'good' : 'doubt';
}

function isWhole({ state }: Read): boolean {
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
