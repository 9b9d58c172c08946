import type { Value } from '../../store/contract/tables.js';
import { withAt } from './as-of.js';
import { html, type Html } from './html.js';
import { withThousands } from '../../text/numbers.js';
import { formatDuration } from '../../text/duration.js';
import { formatPlainTonnes, creditTypeName } from '../../text/tonnes.js';
import { ago, badge, day, shown, tonnes } from './words.js';

const STATES = ['state', 'state_now', 'job_state', 'verdict'];
const COUNTS = /^(rows|duplicates|attempts|drift|seconds$|size|rejected|requests)/;
/** Dates of the registry's own business, and not of our reads. */
const BUSINESS = ['created_at', 'updated_at'];
const AMOUNTS = ['amount', 'amount_exact'];
const SHORT = 8;
const LONG = 20;

type HasMicro = { readonly [column: string]: Value } | { readonly amount_micro: Value };

/** Millionths of a tonne; none where a row has no amount that can be added. */
export function microOf(row: HasMicro): bigint {
  const micro = row['amount_micro'] ?? null;
  return typeof micro === 'number' || typeof micro === 'bigint' ? BigInt(micro) : 0n;
}

/** What rows add up to, by what each is of. */
export function sumsBy<Of extends HasMicro>(rows: readonly Of[], nameOf: (row: Of) => string) {
  const sums = new Map<string, bigint>();
  for (const row of rows) sums.set(nameOf(row), (sums.get(nameOf(row)) ?? 0n) + microOf(row));
  return sums;
}

export function wholeTonnes(micro: bigint | null): string {
  return micro === null ? '–' : withThousands(formatPlainTonnes(micro).split('.')[0] ?? '');
}

export function textIn(row: { readonly [column: string]: Value }, column: string): string | null {
  const value = row[column];
  return typeof value === 'string' ? value : null;
}

export function isNumeric(column: string): boolean {
  return COUNTS.test(column) || AMOUNTS.includes(column);
}

const NONE = html`<span class="none">–</span>`;

/** Whether a cell says nothing. */
export function isEmpty(text: string): boolean {
  return text === '' || text === NONE.text;
}

/** A cell of any table, by what its column's name says that it is. */
export function cell(column: string, value: Value | undefined, now: number): Html {
  if (value === null || value === undefined || value === '') return NONE;
  if (typeof value === 'string' && BUSINESS.includes(column)) return day(value);
  if (typeof value === 'string' && isInstant(column)) return ago(value, now);
  if (typeof value === 'string' && STATES.includes(column)) return badge(value);
  if (typeof value === 'string' && isId(column, value)) return shortId(value);
  if (typeof value === 'string' && column === 'file')
    return html`<a href="/certificates/${encodeURIComponent(value)}" title="${value}">PDF</a>`;
  if (typeof value === 'string' && column === 'type') return html`${creditTypeName(value)}`;
  if (typeof value === 'string' && column === 'resource') return html`${value.replaceAll('_', ' ')}`;
  if (column === 'seconds_left') return html`${formatDuration(Number(value))}`;
  if (typeof value === 'number' && COUNTS.test(column)) return html`${withThousands(value)}`;
  if (AMOUNTS.includes(column) && /^-?\d+(\.\d+)?$/.test(String(value)))
    return tonnes(withThousands(String(value)));
  return html`${shown(value)}`;
}

export function isInstant(column: string): boolean {
  return /_at$|^valid_(from|to)$|^failing_since$/.test(column);
}

export function isId(column: string, value: string): boolean {
  return /(^|_)id$/.test(column) && value.length > LONG;
}

/** The beginning is enough to tell rows of one page apart; the whole is at hand. */
function shortId(value: string): Html {
  const end = value.includes('0x') ? value.indexOf('0x') + SHORT : SHORT;
  return html`<span class="id" title="${value}">${value.slice(0, end)}</span>`;
}

/** Where there is more about what a column names. */
const LEADS: Readonly<Record<string, string>> = {
  organization_id: '/organizations/',
  installation_id: '/installations?id=',
  project_id: '/projects/',
  retirement_id: '/retirements/',
  newest_delivery_id: '/deliveries/',
  job_id: '/jobs/',
  merged_into: '/jobs/',
};

/** Leads from a value to the page of what it names, as of the same instant. */
export function leading(column: string, value: Value | undefined, content: Html, at: string | null): Html {
  const path = LEADS[column];
  if (path === undefined || value === '' || (typeof value !== 'string' && typeof value !== 'number'))
    return content;
  return html`<a href="${withAt(`${path}${encodeURIComponent(value)}`, at)}">${content}</a>`;
}
