import type { Row } from '../../store/contract/tables.js';
import type { FollowUp } from '../../query/inbox/follow-up.js';
import { html, type Html, type Part } from '../components/html.js';
import { counted } from '../../text/counted.js';
import { badge } from '../components/words.js';

type Read = FollowUp['reads'][number];

/** From the post to what it changed, a stop each, with how long each took. */
export function life(delivery: Row, followUp: FollowUp | null): Html {
  const job = delivery['job_id'];
  const stops: Part[] = [
    html`posted <time datetime="${instant(delivery['received_at'])}">${instant(delivery['received_at']).slice(11, 23)}</time>`,
    delivery['verdict'] === 'accepted'
      ? 'stored, 202'
      : `${String(delivery['verdict']).replaceAll('_', ' ')}: ${String(delivery['reason'])}`,
  ];
  if (job !== null) {
    const waited = between(instant(delivery['received_at']), instant(delivery['started_at']));
    const state = String(delivery['job_state'] ?? 'unknown');
    stops.push(
      html`<a href="/jobs/${String(job)}">job ${String(job)}</a> ${waited !== null && `after ${waited} `}${badge(state)}`,
    );
  }
  for (const read of followUp?.reads ?? []) stops.push(stop(read));
  const certificates = followUp?.certificates ?? null;
  if (certificates !== null) stops.push(stop(certificates));
  return html`<ol class="strip">${stops.map(each => html`<li>${each}</li>`)}</ol>`;
}

function stop({ id, resource, started_at: from, finished_at: to, ...rows }: Read): Html {
  const took = to === null ? 'under way' : `in ${between(from, to) ?? 'no time'}`;
  const changed = rows.rows_added + rows.rows_changed + rows.rows_removed;
  const isWhole = rows.state === 'complete' || rows.state === 'running';
  const changes = changed > 0 && counted(changed, 'row changed', 'rows changed');
  return html`<a href="/syncs?id=${id}">${resource.replaceAll('_', ' ')}</a> ${took}, ${!isWhole && html`${badge(rows.state)} ${causeOf(rows.error)} `}${changes || (isWhole && 'nothing changed')}`;
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

function instant(value: Row[string] | undefined): string {
  return typeof value === 'string' ? value : '';
}
