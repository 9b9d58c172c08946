import { MONTHS } from '../../text/time-range.js';
import { formatDuration } from '../../text/duration.js';
import { html, type Html, type HtmlContent } from './html.js';

/** Renders how long ago an instant was, such as "5 min ago", or its day if it is more than a day away. Null renders "never". */
export function renderAge(instant: string | null, now: number): Html {
  if (instant === null) return html`<span class="none">never</span>`;
  if (isFarFrom(instant, now)) return renderDay(instant, now);
  return html`<time datetime="${instant}" title="${instant}">${formatRelativeTime(instant, now)}</time>`;
}

const DAY_MS = 86_400_000;

/** Returns whether an instant is more than a day before or after `now`. */
function isFarFrom(instant: string, now: number): boolean {
  return Math.abs(now - Date.parse(instant)) > DAY_MS;
}

/** Renders the day of an instant in UTC, such as `29 May 2025`. The tooltip shows the full instant and how long ago it was. */
export function renderDay(instant: string, now: number): Html {
  const age = !Number.isNaN(Date.parse(instant)) && `, ${formatRelativeTime(instant, now)}`;
  return html`<time datetime="${instant}" title="${instant}${age}">${formatDay(instant)}</time>`;
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
  return html`<time datetime="${instant}">${formatInstant(instant)}</time>`;
}

/** Formats the date and time of an instant, such as `29 May 2025, 03:45:09.240 UTC`. */
function formatInstant(instant: string): string {
  return `${formatDay(instant)}, ${instant.slice(11, 23)} UTC`;
}

/** Formats an instant as its day if it is the last millisecond of the day, otherwise with the time. */
export function formatDayOrInstant(instant: string): string {
  return instant.endsWith('T23:59:59.999Z') ? formatDay(instant) : formatInstant(instant);
}

/** Replaces each ISO instant in a sentence with a readable one, such as `29 May 2025, 03:45:09.240 UTC`. */
export function renderInstantsIn(sentence: string): HtmlContent {
  const parts = sentence.split(/([\d-]{10}T[\d:.]{12}Z)/);
  return parts.map((part, index) => (index % 2 === 1 ? renderInstant(part) : part));
}

/** Renders the date and time of an instant, then how long ago the instant was if that is less than a day. */
export function renderInstantWithAge(instant: string, now: number): Html {
  return html`${renderInstant(instant)}${!isFarFrom(instant, now) && html` <span class="ago">${formatRelativeTime(instant, now)}</span>`}`;
}

/** Formats an instant relative to `now`, such as "5 min ago" or "in 20 s". */
export function formatRelativeTime(instant: string, now: number): string {
  const seconds = (now - Date.parse(instant)) / 1000;
  return seconds < 0 ? `in ${formatDuration(-seconds)}` : `${formatDuration(seconds)} ago`;
}
