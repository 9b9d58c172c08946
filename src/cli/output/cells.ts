import type { Cell } from '../../text/csv.js';

export type Row = Readonly<Record<string, Cell>>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}):\d{2}\.\d{3}Z$/;
const HASH = /[0-9a-f]{64}/;
const NUMBER = /^-?\d+(\.\d+)?$/;
const LONGEST_SHORT_ID = 16;

/** What a proof leans on is shown whole or not at all. */
export function isHash(text: string): boolean {
  return HASH.test(text);
}

/** The beginning of an id, by which it can be named; of an instant its minute. */
export function shorten(column: string, text: string): string {
  if (UUID.test(text)) return `${text.slice(0, 8)}…`;
  const minute = INSTANT.exec(text)?.[1];
  if (minute !== undefined) return `${minute}Z`;
  const isId = column === 'id' || column.endsWith('_id');
  return isId && text.length > LONGEST_SHORT_ID ? `${text.slice(0, LONGEST_SHORT_ID - 1)}…` : text;
}

export function isNumber(cell: Cell): cell is string | number | bigint {
  return typeof cell === 'string' ? NUMBER.test(cell) : ['number', 'bigint'].includes(typeof cell);
}
