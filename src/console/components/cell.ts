import type { Value } from '../../store/contract/tables.js';
import { withAsOf } from './as-of.js';
import { html, type Html } from './html.js';
import { formatWithCommas } from '../../text/numbers.js';
import { formatDuration } from '../../text/duration.js';
import { formatPlainTonnes, formatCreditType } from '../../text/tonnes.js';
import { renderAge, renderBadge, renderDay, toDisplayValue, renderTonnes } from './formats.js';

const STATES = ['state', 'state_now', 'job_state', 'verdict'];
const COUNTS = /^(rows|duplicates|attempts|drift|seconds$|size|rejected|requests)/;
/** Dates of the registry, shown as days. All others are times of our reads, shown as ages. */
const BUSINESS = ['created_at', 'updated_at'];
const AMOUNTS = ['amount', 'amount_exact'];
const SHORT = 8;
const LONG = 20;

type RowWithAmount = { readonly [column: string]: Value } | { readonly amount_micro: Value };

/** Returns the millionths of a tonne of a row; 0 if it has no usable amount. */
export function getMicro(row: RowWithAmount): bigint {
  const micro = row['amount_micro'] ?? null;
  return typeof micro === 'number' || typeof micro === 'bigint' ? BigInt(micro) : 0n;
}

/** Returns the sum of the rows per name. */
export function sumMicroBy<Of extends RowWithAmount>(rows: readonly Of[], nameOf: (row: Of) => string) {
  const sums = new Map<string, bigint>();
  for (const row of rows) sums.set(nameOf(row), (sums.get(nameOf(row)) ?? 0n) + getMicro(row));
  return sums;
}

export function formatWholeTonnes(micro: bigint | null): string {
  return micro === null ? '–' : formatWithCommas(formatPlainTonnes(micro).split('.')[0] ?? '');
}

export function getText(row: { readonly [column: string]: Value }, column: string): string | null {
  const value = row[column];
  return typeof value === 'string' ? value : null;
}

export function isNumericColumn(column: string): boolean {
  return COUNTS.test(column) || AMOUNTS.includes(column);
}

const NONE = html`<span class="none">–</span>`;

/** Whether rendered text is empty or the dash for no value. */
export function isEmptyCell(text: string): boolean {
  return text === '' || text === NONE.text;
}

/** Renders a value in the way its column's name calls for: day, age, badge, id, amount or text. */
export function renderCell(column: string, value: Value | undefined, now: number): Html {
  if (value === null || value === undefined || value === '') return NONE;
  if (typeof value === 'string' && BUSINESS.includes(column)) return renderDay(value);
  if (typeof value === 'string' && isInstantColumn(column)) return renderAge(value, now);
  if (typeof value === 'string' && STATES.includes(column)) return renderBadge(value);
  if (typeof value === 'string' && isLongId(column, value)) return renderShortId(value);
  if (typeof value === 'string' && column === 'file')
    return html`<a href="/certificates/${encodeURIComponent(value)}" title="${value}">PDF</a>`;
  if (typeof value === 'string' && column === 'type') return html`${formatCreditType(value)}`;
  if (typeof value === 'string' && column === 'resource') return html`${value.replaceAll('_', ' ')}`;
  if (column === 'seconds_left') return html`${formatDuration(Number(value))}`;
  if (typeof value === 'number' && COUNTS.test(column)) return html`${formatWithCommas(value)}`;
  if (AMOUNTS.includes(column) && /^-?\d+(\.\d+)?$/.test(String(value)))
    return renderTonnes(formatWithCommas(String(value)));
  return html`${toDisplayValue(value)}`;
}

export function isInstantColumn(column: string): boolean {
  return /_at$|^valid_(from|to)$|^failing_since$/.test(column);
}

export function isLongId(column: string, value: string): boolean {
  return /(^|_)id$/.test(column) && value.length > LONG;
}

/** Renders the beginning of an id, with the whole id as its tooltip. */
function renderShortId(value: string): Html {
  const end = value.includes('0x') ? value.indexOf('0x') + SHORT : SHORT;
  return html`<span class="id" title="${value}">${value.slice(0, end)}</span>`;
}

/** Paths of the pages about the ids in these columns. */
const DETAIL_PATHS: Readonly<Record<string, string>> = {
  organization_id: '/organizations/',
  installation_id: '/installations?id=',
  project_id: '/projects/',
  retirement_id: '/retirements/',
  newest_delivery_id: '/deliveries/',
  job_id: '/jobs/',
  merged_into: '/jobs/',
};

/** Links content to the page about the id in its column, as of the same instant. */
export function renderDetailLink(
  column: string,
  value: Value | undefined,
  content: Html,
  at: string | null,
): Html {
  const path = DETAIL_PATHS[column];
  if (path === undefined || value === '' || (typeof value !== 'string' && typeof value !== 'number'))
    return content;
  return html`<a href="${withAsOf(`${path}${encodeURIComponent(value)}`, at)}">${content}</a>`;
}
