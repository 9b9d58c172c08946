import type { Value } from '../../store/contract/tables.js';
import { withAsOf } from './as-of.js';
import { html, type Html } from './html.js';
import { JOB_KIND_MEANINGS } from './terms.js';
import { formatWithCommas } from '../../text/numbers.js';
import { formatDuration } from '../../text/duration.js';
import { formatPlainTonnes, formatCreditType } from '../../text/tonnes.js';
import { renderAge, renderBadge, renderDay, toDisplayValue, renderTonnes } from './formats.js';

const STATE_COLUMNS = ['state', 'state_now', 'job_state', 'verdict'];
const COUNT_COLUMN = /^(rows|duplicates|attempts|drift|seconds$|size|rejected|requests)/;
/** Dates of the registry, shown as days. All others are times of our reads, shown as ages. */
const REGISTRY_DATES = ['created_at', 'updated_at'];
const AMOUNT_COLUMNS = ['amount', 'amount_exact'];
const SHORT_ID_LENGTH = 8;
/** Longer ids are shortened. */
const MAX_ID_LENGTH = 20;

type RowWithAmount = { readonly [column: string]: Value } | { readonly amount_micro: Value };

/** Returns the amount of a row in millionths of a tonne; 0 if it has no usable amount. */
export function getAmountMicro(row: RowWithAmount): bigint {
  const micro = row['amount_micro'] ?? null;
  return typeof micro === 'number' || typeof micro === 'bigint' ? BigInt(micro) : 0n;
}

/** Sums the amounts of rows by key, in millionths of a tonne. */
export function sumAmountsBy<Row extends RowWithAmount>(rows: readonly Row[], getKey: (row: Row) => string) {
  const sums = new Map<string, bigint>();
  for (const row of rows) sums.set(getKey(row), (sums.get(getKey(row)) ?? 0n) + getAmountMicro(row));
  return sums;
}

/** Formats millionths of a tonne as whole tonnes, rounded down; null as a dash. */
export function formatWholeTonnes(micro: bigint | null): string {
  return micro === null ? '–' : formatWithCommas(formatPlainTonnes(micro).split('.')[0] ?? '');
}

/** Returns the text of a column; null if it holds none. */
export function getText(row: { readonly [column: string]: Value }, column: string): string | null {
  const value = row[column];
  return typeof value === 'string' ? value : null;
}

/** Whether a column holds counts or amounts, by its name. */
export function isNumericColumn(column: string): boolean {
  return COUNT_COLUMN.test(column) || AMOUNT_COLUMNS.includes(column);
}

const NO_VALUE = html`<span class="none">–</span>`;

/** Whether rendered markup is empty or the dash for no value. */
export function isEmptyCell(markup: string): boolean {
  return markup === '' || markup === NO_VALUE.text;
}

/** Renders a value as the name of its column demands: as a day, age, badge, id, link, amount or text. */
export function renderCell(column: string, value: Value | undefined, now: number): Html {
  if (value === null || value === undefined || value === '') return NO_VALUE;
  if (typeof value === 'string' && REGISTRY_DATES.includes(column)) return renderDay(value);
  if (typeof value === 'string' && isInstantColumn(column)) return renderAge(value, now);
  if (typeof value === 'string' && STATE_COLUMNS.includes(column)) return renderBadge(value);
  if (typeof value === 'string' && isLongId(column, value)) return renderShortId(value);
  if (typeof value === 'string' && column === 'file')
    return html`<a href="/certificates/${encodeURIComponent(value)}" title="${value}">PDF</a>`;
  if (typeof value === 'string' && column === 'type') return html`${formatCreditType(value)}`;
  if (typeof value === 'string' && column === 'resource') return html`${value.replaceAll('_', ' ')}`;
  if (typeof value === 'string' && column === 'kind') return renderJobKind(value);
  if (column === 'seconds_left') return html`${formatDuration(Number(value))}`;
  if (typeof value === 'number' && COUNT_COLUMN.test(column)) return html`${formatWithCommas(value)}`;
  if (AMOUNT_COLUMNS.includes(column) && /^-?\d+(\.\d+)?$/.test(String(value)))
    return renderTonnes(formatWithCommas(String(value)));
  return html`${toDisplayValue(value)}`;
}

/** Whether a column holds instants, by its name. */
export function isInstantColumn(column: string): boolean {
  return /_at$|^valid_(from|to)$|^failing_since$/.test(column);
}

/** Whether a value is an id that lists shorten. */
export function isLongId(column: string, value: string): boolean {
  return /(^|_)id$/.test(column) && value.length > MAX_ID_LENGTH;
}

/** Renders the beginning of an id, with the whole id as its tooltip. */
function renderShortId(value: string): Html {
  const end = value.includes('0x') ? value.indexOf('0x') + SHORT_ID_LENGTH : SHORT_ID_LENGTH;
  return html`<span class="id" title="${value}">${value.slice(0, end)}</span>`;
}

/** Renders the kind of a job, with what it does as its tooltip. */
function renderJobKind(kind: string): Html {
  const meaning = JOB_KIND_MEANINGS[kind];
  return meaning === undefined ? html`${kind}` : html`<span title="${meaning}">${kind}</span>`;
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

/** Links content to the page about the id in this column, as of the same instant. Content without such a page is returned as it is. */
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
