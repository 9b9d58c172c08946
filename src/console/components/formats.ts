import type { Value } from '../../store/contract/tables.js';
import type { Colour } from '../../query/freshness/words.js';
import { formatDuration } from '../../text/duration.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import { html, type Html, type HtmlContent } from './html.js';

/** Renders how long ago an instant was, such as "5 min ago". The tooltip shows the instant in UTC. */
export function renderAge(instant: string | null, now: number): Html {
  if (instant === null) return html`<span class="none">never</span>`;
  return html`<time datetime="${instant}" title="${instant}">${formatRelativeTime(instant, now)}</time>`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Renders the day of an instant in UTC, such as `29 May 2025`. The tooltip shows the full instant. */
export function renderDay(instant: string): Html {
  return html`<time datetime="${instant}" title="${instant}">${formatDay(instant)}</time>`;
}

/** Formats the day of an instant in UTC, such as `29 May 2025`. Returns any other text unchanged. */
export function formatDay(instant: string): string {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(instant) ?? [];
  return year === undefined ? instant : `${Number(day)} ${MONTHS[Number(month) - 1]} ${year}`;
}

/** Formats `2025-05` as `May 2025`. */
export function formatMonth(month: string): string {
  return `${MONTHS[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`;
}

/** Renders the date and time of an instant, such as `29 May 2025, 03:45:09.240 UTC`. */
export function renderInstant(instant: string): Html {
  return html`<time datetime="${instant}">${formatDay(instant)}, ${instant.slice(11, 23)} UTC</time>`;
}

/** Replaces each ISO instant in a sentence with a readable one, such as `29 May 2025, 03:45:09.240 UTC`. */
export function renderInstantsIn(sentence: string): HtmlContent {
  const parts = sentence.split(/([\d-]{10}T[\d:.]{12}Z)/);
  return parts.map((part, index) => (index % 2 === 1 ? renderInstant(part) : part));
}

/** Renders the date and time of an instant, then how long ago the instant was. */
export function renderInstantWithAge(instant: string, now: number): Html {
  return html`${renderInstant(instant)} <span class="ago">${formatRelativeTime(instant, now)}</span>`;
}

/** Formats an instant relative to `now`, such as "5 min ago" or "in 20 s". */
export function formatRelativeTime(instant: string, now: number): string {
  const seconds = (now - Date.parse(instant)) / 1000;
  return seconds < 0 ? `in ${formatDuration(-seconds)}` : `${formatDuration(seconds)} ago`;
}

/** Returns a database value in a form that pages can show. Binary data becomes a size, such as "12 bytes". */
export function toDisplayValue(value: Value | undefined): HtmlContent {
  return value instanceof Uint8Array ? formatCount(value.length, 'byte') : value;
}

const GOOD_STATES = ['active', 'accepted', 'complete', 'done', 'stored'];
const DOUBTFUL_STATES = ['partial', 'paused', 'removals_unconfirmed'];

/** Returns the badge colour for a state of a job, sync, delivery, certificate or installation. */
export function findStateColour(state: string): Colour {
  if (GOOD_STATES.includes(state)) return 'good';
  return DOUBTFUL_STATES.includes(state) ? 'doubt' : state === 'failed' ? 'bad' : 'none';
}

/** Renders a state as a coloured badge, such as "failed" in red. */
export function renderBadge(state: string, colour = findStateColour(state)): Html {
  return html`<span class="state ${colour}">${state.replaceAll('_', ' ')}</span>`;
}

/** Returns a sentence with the number of rows that a total leaves out, or an empty text for 0 rows. */
export function describeRowsWithoutAmount(rows: number): string {
  return rows === 0
    ? ''
    : ` ${formatCount(rows, 'row')} without a usable amount ${rows === 1 ? 'is' : 'are'} left out.`;
}

/** Returns text to append to a total: how many rows without a usable amount `sums` leave out, if any. */
export function describeExcludedRows(sums: readonly { readonly rows_without_amount?: unknown }[]): string {
  const excludedRows = sums.reduce((total, sum) => total + Number(sum.rows_without_amount ?? 0), 0);
  return excludedRows === 0 ? '' : `.${describeRowsWithoutAmount(excludedRows)}`;
}

/** Renders an amount for a table column with aligned decimal points. */
export function renderTonnes(amount: string): Html {
  const [whole = '', fraction] = amount.split('.');
  return html`${whole}<i>${fraction !== undefined && `.${fraction}`}</i>`;
}

const LABELS: Readonly<Record<string, string>> = {
  amount_exact: 'tonnes',
  full_name: 'name',
  state_now: 'state',
  seconds: 'seconds',
  size: 'bytes',
  due_at: 'next check',
  num: 'number',
  is_default: 'default',
  run_at: 'scheduled',
  seconds_left: 'time left',
  valid_from: 'observed',
  secret_index: 'index of the secret',
  reserver_name: 'reserved by',
  end: 'result',
  rows_added: 'added',
  rows_changed: 'changed',
  rows_removed: 'removed',
};

/** Returns the readable name of a database column, in lower case: `valid_from` → "observed". */
export function toLabel(column: string): string {
  return LABELS[column] ?? column.replace(/_(at|id|name)$/, '').replaceAll('_', ' ');
}

/** Returns the readable name of a database column, with a capital letter: `valid_from` → "Observed". */
export function toHeading(column: string): string {
  return capitalize(toLabel(column));
}

export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Renders the number of certificates in each state. Each number links to the certificate list. */
export function renderCertificateCounts(counts: Readonly<Record<string, number>>, organizationId = ''): Html {
  const links = Object.entries(counts).map(([state, count], index) => {
    const label = html`${formatWithCommas(count)} ${state.replaceAll('_', ' ')}`;
    const query = new URLSearchParams({
      state,
      ...(organizationId && { organization_id: organizationId }),
    }).toString();
    // Unclaimed certificates have no row in the list.
    const link = state === 'unclaimed' ? label : html`<a href="/certificates?${query}">${label}</a>`;
    return html`${index > 0 && ','} ${link}`;
  });
  return html`${links.length > 0 && html`<span>Certificates:${links}</span>`}`;
}
