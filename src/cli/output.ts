import { styleText } from 'node:util';
import { colours, emit, type Io } from './io.js';

export type Cell = string | number | bigint | boolean | null | undefined | Uint8Array;
export type Row = Readonly<Record<string, Cell>>;
export type Format = 'table' | 'json' | 'csv';

/** Widths of a table are taken from its first rows, so that a long answer can stream. */
const ROWS_MEASURED = 200;
const WIDEST_CELL = 60;

export async function writeRows(
  io: Io,
  format: Format,
  columns: readonly string[],
  rows: Iterable<Row> | AsyncIterable<Row>,
): Promise<number> {
  if (format === 'json') return await writeJson(io, rows);
  if (format === 'csv') return await writeCsv(io, columns, rows);
  return await writeTable(io, columns, rows);
}

export async function writeValue(io: Io, value: unknown): Promise<void> {
  await emit(io, `${JSON.stringify(value, plain, 2)}\n`);
}

async function writeJson(io: Io, rows: Iterable<Row> | AsyncIterable<Row>): Promise<number> {
  let count = 0;
  for await (const row of rows) {
    await emit(io, `${count === 0 ? '[' : ','}\n${JSON.stringify(row, plain)}`);
    count++;
  }
  await emit(io, count === 0 ? '[]\n' : '\n]\n');
  return count;
}

async function writeCsv(
  io: Io,
  columns: readonly string[],
  rows: Iterable<Row> | AsyncIterable<Row>,
): Promise<number> {
  let count = 0;
  await emit(io, `${columns.map(csvCell).join(',')}\r\n`);
  for await (const row of rows) {
    await emit(io, `${columns.map(name => csvCell(row[name])).join(',')}\r\n`);
    count++;
  }
  return count;
}

async function writeTable(
  io: Io,
  columns: readonly string[],
  rows: Iterable<Row> | AsyncIterable<Row>,
): Promise<number> {
  const measured: Row[] = [];
  let layout: Layout | null = null;
  let count = 0;
  for await (const row of rows) {
    count++;
    if (layout !== null) {
      await emit(io, line(layout, row));
    } else {
      measured.push(row);
      if (measured.length === ROWS_MEASURED) layout = await writeHead(io, columns, measured);
    }
  }
  if (layout === null) await writeHead(io, columns, measured);
  return count;
}

interface Layout {
  readonly columns: readonly string[];
  readonly widths: readonly number[];
  readonly right: readonly boolean[];
}

async function writeHead(io: Io, columns: readonly string[], rows: readonly Row[]): Promise<Layout> {
  const layout = {
    columns,
    widths: columns.map(name =>
      Math.max(name.length, ...rows.map(row => Math.min(width(tableCell(row[name])), WIDEST_CELL))),
    ),
    right: columns.map(name => rows.length > 0 && rows.every(row => isNumeric(row[name]))),
  };
  const title = line(layout, Object.fromEntries(columns.map(name => [name, name])));
  await emit(io, colours(io) ? `${styleText('bold', title.trimEnd(), { validateStream: false })}\n` : title);
  for (const row of rows) await emit(io, line(layout, row));
  return layout;
}

function line(layout: Layout, row: Row): string {
  const cells = layout.columns.map((name, index) => {
    const text = shorten(tableCell(row[name]));
    const space = ' '.repeat(Math.max(0, (layout.widths[index] ?? 0) - width(text)));
    return layout.right[index] ? space + text : text + space;
  });
  return `${cells.join('  ').trimEnd()}\n`;
}

function isNumeric(cell: Cell): boolean {
  return cell === null || cell === undefined || typeof cell === 'number' || typeof cell === 'bigint';
}

function tableCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '-';
  return asText(cell).replace(CONTROL, ' ');
}

/** Control characters, and those that turn the direction of text: a name must not redraw the terminal. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function shorten(cell: string): string {
  const characters = Array.from(cell);
  return characters.length <= WIDEST_CELL ? cell : `${characters.slice(0, WIDEST_CELL - 1).join('')}…`;
}

function width(cell: string): number {
  return Array.from(cell).length;
}

function asText(cell: string | number | bigint | boolean | Uint8Array): string {
  return cell instanceof Uint8Array ? `x'${Buffer.from(cell).toString('hex')}'` : String(cell);
}

/** A spreadsheet runs a text cell that begins like a formula; an apostrophe in front keeps it text. */
export function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const plainText = asText(cell);
  const safe = typeof cell === 'string' && /^[=+\-@\t\r]/.test(plainText) ? `'${plainText}` : plainText;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
