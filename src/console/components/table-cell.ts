import type { Value } from '../../store/contract/tables.js';
import type { ColumnKind } from '../../query/lists/column.js';
import { withAsOf } from './as-of.js';
import { html, type Html } from './html.js';
import { JOB_KIND_MEANINGS } from './glossary.js';
import { formatWithCommas } from '../../text/numbers.js';
import { formatDuration } from '../../text/duration.js';
import { formatCreditType } from '../../text/tonnes.js';
import { toDisplayValue } from './display-value.js';
import { renderState } from './badges.js';
import { renderAge, renderDay, renderInstantsIn } from './instants.js';

/** The kinds of columns by their names, for rows that are from no list. */
const KINDS: Readonly<Record<string, ColumnKind>> = {
  state: 'state',
  state_now: 'state',
  job_state: 'state',
  verdict: 'state',
  created_at: 'day',
  updated_at: 'day',
  amount: 'tonnes',
  amount_exact: 'tonnes',
  file: 'certificate file',
  type: 'credit type',
  resource: 'resource',
  kind: 'job kind',
  seconds_left: 'seconds',
  is_claimed: 'flag',
  is_complete: 'flag',
  is_default: 'flag',
  is_public: 'flag',
};
const COUNT_COLUMN = /^(rows|duplicates|attempts|drift|seconds$|size|rejected|requests)/;

/** Returns the kind of a column, judged by its name. */
function findKind(column: string): ColumnKind {
  if (Object.hasOwn(KINDS, column)) return KINDS[column] ?? 'text';
  if (isInstantColumn(column)) return 'instant';
  if (ID_COLUMN.test(column)) return 'id';
  return COUNT_COLUMN.test(column) ? 'count' : 'text';
}

const ID_COLUMN = /(^|_)id$/;
const SHORT_ID_LENGTH = 8;
/** Longer ids are shortened. */
const MAX_ID_LENGTH = 20;

type RowWithAmount = { readonly [column: string]: Value } | { readonly amount_micro: Value };

/** Returns the amount of a row in millionths of a tonne, or 0 if the row has no valid amount. */
export function getAmountMicro(row: RowWithAmount): bigint {
  const micro = row['amount_micro'] ?? null;
  return typeof micro === 'number' || typeof micro === 'bigint' ? BigInt(micro) : 0n;
}

/** Sums the amounts of rows with equal keys. Returns a map from key to millionths of a tonne. */
export function sumAmountsBy<Row extends RowWithAmount>(rows: readonly Row[], getKey: (row: Row) => string) {
  const sums = new Map<string, bigint>();
  for (const row of rows) sums.set(getKey(row), (sums.get(getKey(row)) ?? 0n) + getAmountMicro(row));
  return sums;
}

/** Returns the value of a column if the value is a string, otherwise null. */
export function getText(row: { readonly [column: string]: Value }, column: string): string | null {
  const value = row[column];
  return typeof value === 'string' ? value : null;
}

/** Returns whether values of a kind are aligned as numbers. */
export function isNumericKind(kind: ColumnKind): boolean {
  return kind === 'count' || kind === 'tonnes';
}

export const NO_VALUE = html`<span class="none">–</span>`;
export const ZERO = html`<span class="none">0</span>`;

/** Returns whether a rendered cell is empty, or contains only the dash for a missing value or a count of zero. */
export function isEmptyCell(markup: string): boolean {
  return markup === '' || markup === NO_VALUE.text || markup === ZERO.text;
}

/** Renders a database value for a table cell, in a format chosen by the column name. */
export function renderCell(column: string, value: Value | undefined, now: number): Html {
  return renderValue(findKind(column), value, now);
}

/** Renders a database value for a table cell, in the format of its kind. */
export function renderValue(kind: ColumnKind, value: Value | undefined, now: number): Html {
  if (value === null || value === undefined || value === '') return NO_VALUE;
  if (typeof value === 'string') return renderStoredText(kind, value, now);
  if (kind === 'flag') return html`${Number(value) === 1 ? 'yes' : 'no'}`;
  if (kind === 'seconds') return html`${formatDuration(Number(value))}`;
  if (kind === 'count' && typeof value === 'number') return renderCount(value);
  if (kind === 'tonnes') return renderAmount(String(value));
  return html`${toDisplayValue(value)}`;
}

/** Renders a non-empty text for a table cell: a date, state, id or other text, depending on the kind of its column. */
function renderStoredText(kind: ColumnKind, value: string, now: number): Html {
  switch (kind) {
    case 'day':
      return renderDay(value, now);
    case 'instant':
      return renderAge(value, now);
    case 'state':
      return renderState(value);
    case 'id':
      return value.length > MAX_ID_LENGTH ? renderShortId(value) : html`${value}`;
    case 'certificate file':
      return html`<a href="/certificates/${encodeURIComponent(value)}" title="${value}">PDF</a>`;
    case 'credit type':
      return html`<span class="type">${formatCreditType(value)}</span>`;
    case 'resource':
      return html`${value.replaceAll('_', ' ')}`;
    case 'job kind':
      return renderJobKind(value);
    case 'tonnes':
      return renderAmount(value);
    case 'seconds':
      return html`${formatDuration(Number(value))}`;
    case 'count':
    case 'flag':
    case 'text':
      return renderPlainText(value);
    default:
      return kind satisfies never;
  }
}

/**
 * Renders a number: a count without decimals, or seconds with three decimals. Renders a zero as `ZERO`, so that a table can recognize and
 * omit columns that contain only zeros.
 */
export function renderCount(count: number): Html {
  if (count === 0) return ZERO;
  return html`${formatWithCommas(Number.isInteger(count) ? count : count.toFixed(3))}`;
}

/** Matches SHA-256 hashes, which lists shorten. */
const HASH = /\b([0-9a-f]{64})\b/;

/** Renders a text. Shortens hashes, formats instants, and lists the values of a flat JSON object. */
function renderPlainText(text: string): Html {
  const parts = (formatJsonObject(text) ?? text).split(HASH);
  const content = parts.map((part, index) =>
    index % 2 === 1 ? renderShortId(part) : renderInstantsIn(part),
  );
  return parts.length === 1 ? html`${content}` : html`<span class="values">${content}</span>`;
}

/** Formats a JSON object of texts as `name: value, …`. Returns null for any other text. */
function formatJsonObject(text: string): string | null {
  if (!text.startsWith('{"')) return null;
  try {
    const entries = Object.entries(JSON.parse(text));
    if (!entries.every(([, value]) => typeof value === 'string')) return null;
    return entries.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${String(value)}`).join(', ');
  } catch {
    return null;
  }
}

/** Renders an amount. Shows any other text unchanged. */
function renderAmount(value: string): Html {
  return /^-?\d+(\.\d+)?$/.test(value) ? renderTonnes(formatWithCommas(value)) : html`${value}`;
}

/** Returns whether a column contains instants, judged by the column name. */
export function isInstantColumn(column: string): boolean {
  return /_at$|^valid_(from|to)$|^failing_since$/.test(column);
}

/** Returns whether a value is an id of more than 20 characters or a hash, which lists shorten and detail pages offer to copy. */
export function isLongId(column: string, value: string): boolean {
  return (ID_COLUMN.test(column) && value.length > MAX_ID_LENGTH) || /^(0x)?[0-9a-f]{32,}$/.test(value);
}

/** Renders an id or a hash in full with a button that copies it. */
export function renderCopyableId(value: string, content = html`<span class="id">${value}</span>`): Html {
  return html`${content} <button type="button" class="copy" value="${value}" aria-label="Copy ${value}"></button>`;
}

/** Renders the first characters of an id. The tooltip shows the whole id. */
function renderShortId(value: string): Html {
  const end = value.includes('0x') ? value.indexOf('0x') + SHORT_ID_LENGTH : SHORT_ID_LENGTH;
  return html`<span class="id" title="${value}">${value.slice(0, end)}</span>`;
}

/** Renders the kind of a job. The tooltip explains what such a job does. */
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
  reservation_id: '/reservations/',
  newest_delivery_id: '/deliveries/',
  job_id: '/jobs/',
  merged_into: '/jobs/',
};

/** Links `content` to the detail page of an id, such as `/jobs/46`, if the column has detail pages. */
export function renderDetailLink(
  column: string,
  id: Value | undefined,
  content: Html,
  at: string | null,
): Html {
  const path = DETAIL_PATHS[column];
  if (path === undefined || id === '' || (typeof id !== 'string' && typeof id !== 'number')) return content;
  return html`<a href="${withAsOf(`${path}${encodeURIComponent(id)}`, at)}">${content}</a>`;
}

/** Renders an amount for a table column with aligned decimal points. */
export function renderTonnes(amount: string): Html {
  const [whole = '', fraction] = amount.split('.');
  return html`${whole}<i>${fraction !== undefined && `.${fraction}`}</i>`;
}
