import type { Value } from '../../store/contract/tables.js';
import type { Colour } from '../../query/freshness/words.js';
import { formatDuration } from '../../text/format-duration.js';
import { formatCount, withThousands } from '../../text/numbers.js';
import { html, type Html, type Part } from './html.js';

/** Shows how long ago it was, and holds the instant itself in UTC. */
export function ago(instant: string | null, now: number): Html {
  if (instant === null) return html`<span class="none">never</span>`;
  return html`<time datetime="${instant}" title="${instant}">${wordsAgo(instant, now)}</time>`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The day on which something was done, in UTC: `29 May 2025`; the instant itself is in it. */
export function day(instant: string): Html {
  return html`<time datetime="${instant}" title="${instant}">${dayWords(instant)}</time>`;
}

export function dayWords(instant: string): string {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)/.exec(instant) ?? [];
  return year === undefined ? instant : `${Number(date)} ${MONTHS[Number(month) - 1]} ${year}`;
}

/** `May 2025` of `2025-05`. */
export function monthWords(month: string): string {
  return `${MONTHS[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`;
}

/** The instant itself: `29 May 2025, 03:45:09.240 UTC`. */
export function moment(instant: string): Html {
  return html`<time datetime="${instant}">${dayWords(instant)}, ${instant.slice(11, 23)} UTC</time>`;
}

/** A sentence whose instants are written so. */
export function withMoments(sentence: string): Part {
  const parts = sentence.split(/([\d-]{10}T[\d:.]{12}Z)/);
  return parts.map((part, place) => (place % 2 === 1 ? moment(part) : part));
}

/** The instant itself, and how long ago it was for who looks at a screen. */
export function instantAgo(instant: string, now: number): Html {
  return html`${moment(instant)} <span class="ago">${wordsAgo(instant, now)}</span>`;
}

export function wordsAgo(instant: string, now: number): string {
  const seconds = (now - Date.parse(instant)) / 1000;
  return seconds < 0 ? `in ${formatDuration(-seconds)}` : `${formatDuration(seconds)} ago`;
}

/** A cell as it stands in the mirror. */
export function shown(value: Value | undefined): Part {
  return value instanceof Uint8Array ? formatCount(value.length, 'byte') : value;
}

const GOOD = ['active', 'accepted', 'complete', 'done', 'stored'];
const DOUBT = ['partial', 'paused', 'removals_unconfirmed'];

export function colourIn(state: string): Colour {
  if (GOOD.includes(state)) return 'good';
  return DOUBT.includes(state) ? 'doubt' : state === 'failed' ? 'bad' : 'none';
}

/** A state in the colour of what it means, with a sign and a word. */
export function badge(state: string, colour = colourIn(state)): Html {
  return html`<span class="state ${colour}">${state.replaceAll('_', ' ')}</span>`;
}

/** What no sum has in it. */
export function withoutAmount(rows: number): string {
  return rows === 0 ? '' : ` ${formatCount(rows, 'row has', 'rows have')} no amount that can be added.`;
}

/** The same behind sums, where they are not of all their rows. */
export function outOf(sums: readonly { readonly rows_without_amount?: unknown }[]): string {
  const left = sums.reduce((sum, row) => sum + Number(row.rows_without_amount ?? 0), 0);
  return left === 0 ? '' : `.${withoutAmount(left)}`;
}

/** What a number is that has digits after its point: these stand below each other. */
export function tonnes(text: string): Html {
  const [whole = '', fraction] = text.split('.');
  return html`${whole}<i>${fraction !== undefined && `.${fraction}`}</i>`;
}

const LABELS: Readonly<Record<string, string>> = {
  amount_exact: 'tonnes',
  full_name: 'name',
  state_now: 'state',
  seconds: 'seconds',
  size: 'bytes',
  seconds_left: 'time left',
  valid_from: 'observed',
  run_at: 'scheduled',
  secret_index: 'index of the secret',
  reserver_name: 'reserved by',
  end: 'result',
  rows_added: 'added',
  rows_changed: 'changed',
  rows_removed: 'removed',
};

/** What a column is called in a sentence. */
export function labelOf(column: string): string {
  return LABELS[column] ?? column.replace(/_(at|id|name)$/, '').replaceAll('_', ' ');
}

/** The same where it stands alone: above its rows, or beside its value. */
export function headingOf(column: string): string {
  return capitalized(labelOf(column));
}

export function capitalized(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Certificates by their state, with the way to those that have a row. */
export function certificateCounts(counts: Readonly<Record<string, number>>, owner = ''): Html {
  const links = Object.entries(counts).map(([state, count], place) => {
    const says = html`${withThousands(count)} ${state.replaceAll('_', ' ')}`;
    const href = `/certificates?${new URLSearchParams({ state, ...(owner && { organization_id: owner }) }).toString()}`;
    return html`${place > 0 && ','} ${state === 'unclaimed' ? says : html`<a href="${href}">${says}</a>`}`;
  });
  return html`${links.length > 0 && html`<span>Certificates:${links}</span>`}`;
}
