import type { Value } from '../../store/contract/tables.js';
import type { Colour } from '../../query/freshness/words.js';
import { formatDuration } from '../../text/duration.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import { html, type Html, type HtmlContent } from './html.js';

/** Renders the age of an instant, with the instant in UTC as its tooltip. */
export function renderAge(instant: string | null, now: number): Html {
  if (instant === null) return html`<span class="none">never</span>`;
  return html`<time datetime="${instant}" title="${instant}">${formatRelativeTime(instant, now)}</time>`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Renders the day of an instant in UTC, such as `29 May 2025`, with the instant as its tooltip. */
export function renderDay(instant: string): Html {
  return html`<time datetime="${instant}" title="${instant}">${formatDay(instant)}</time>`;
}

export function formatDay(instant: string): string {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)/.exec(instant) ?? [];
  return year === undefined ? instant : `${Number(date)} ${MONTHS[Number(month) - 1]} ${year}`;
}

/** Formats `2025-05` as `May 2025`. */
export function formatMonth(month: string): string {
  return `${MONTHS[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`;
}

/** Renders an instant in full: `29 May 2025, 03:45:09.240 UTC`. */
export function renderInstant(instant: string): Html {
  return html`<time datetime="${instant}">${formatDay(instant)}, ${instant.slice(11, 23)} UTC</time>`;
}

/** Renders a sentence with its ISO instants written in full. */
export function renderInstantsIn(sentence: string): HtmlContent {
  const parts = sentence.split(/([\d-]{10}T[\d:.]{12}Z)/);
  return parts.map((part, place) => (place % 2 === 1 ? renderInstant(part) : part));
}

/** Renders an instant in full, followed by its age. */
export function renderInstantWithAge(instant: string, now: number): Html {
  return html`${renderInstant(instant)} <span class="ago">${formatRelativeTime(instant, now)}</span>`;
}

export function formatRelativeTime(instant: string, now: number): string {
  const seconds = (now - Date.parse(instant)) / 1000;
  return seconds < 0 ? `in ${formatDuration(-seconds)}` : `${formatDuration(seconds)} ago`;
}

/** Returns a stored value as text or number; binary data as its size. */
export function toDisplayValue(value: Value | undefined): HtmlContent {
  return value instanceof Uint8Array ? formatCount(value.length, 'byte') : value;
}

const GOOD = ['active', 'accepted', 'complete', 'done', 'stored'];
const DOUBT = ['partial', 'paused', 'removals_unconfirmed'];

export function findStateColour(state: string): Colour {
  if (GOOD.includes(state)) return 'good';
  return DOUBT.includes(state) ? 'doubt' : state === 'failed' ? 'bad' : 'none';
}

/** Renders a state as a coloured badge with a sign and a word. */
export function renderBadge(state: string, colour = findStateColour(state)): Html {
  return html`<span class="state ${colour}">${state.replaceAll('_', ' ')}</span>`;
}

/** Returns a sentence about rows that a sum leaves out; empty if there are none. */
export function describeRowsWithoutAmount(rows: number): string {
  return rows === 0 ? '' : ` ${formatCount(rows, 'row has', 'rows have')} no amount that can be added.`;
}

/** Returns the same sentence for several sums, to follow their last word. */
export function describeExcludedRows(sums: readonly { readonly rows_without_amount?: unknown }[]): string {
  const left = sums.reduce((sum, row) => sum + Number(row.rows_without_amount ?? 0), 0);
  return left === 0 ? '' : `.${describeRowsWithoutAmount(left)}`;
}

/** Renders an amount so that the decimal points of a column line up. */
export function renderTonnes(text: string): Html {
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

/** Returns the label of a column for use inside a sentence. */
export function toLabel(column: string): string {
  return LABELS[column] ?? column.replace(/_(at|id|name)$/, '').replaceAll('_', ' ');
}

/** Returns the label of a column in sentence case, for a heading. */
export function toHeading(column: string): string {
  return capitalize(toLabel(column));
}

export function capitalize(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Renders the number of certificates per state, linked to the list; unclaimed ones have no row to link to. */
export function renderCertificateCounts(counts: Readonly<Record<string, number>>, owner = ''): Html {
  const links = Object.entries(counts).map(([state, count], place) => {
    const says = html`${formatWithCommas(count)} ${state.replaceAll('_', ' ')}`;
    const href = `/certificates?${new URLSearchParams({ state, ...(owner && { organization_id: owner }) }).toString()}`;
    return html`${place > 0 && ','} ${state === 'unclaimed' ? says : html`<a href="${href}">${says}</a>`}`;
  });
  return html`${links.length > 0 && html`<span>Certificates:${links}</span>`}`;
}
