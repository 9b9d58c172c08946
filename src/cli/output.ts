import { styleText } from 'node:util';
import { cleanText, escapeJson } from './clean.js';
import { colours, emit, type Io, print } from './io.js';
import { withSnakeKeys } from './snake-case.js';

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
  await emit(io, `${jsonText(withSnakeKeys(value), 2)}\n`);
}

async function writeJson(io: Io, rows: Iterable<Row> | AsyncIterable<Row>): Promise<number> {
  let count = 0;
  for await (const row of rows) {
    await emit(io, `${count === 0 ? '[' : ','}\n${jsonText(withoutBytes(row))}`);
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
  const write = (cells: readonly Cell[]) => {
    const text = cells.map(csvCell).join(',');
    return io.terminal.stdout ? print(io, text) : emit(io, `${text}\r\n`);
  };
  await write(columns);
  for await (const row of rows) {
    await write(columns.map(name => row[name]));
    count++;
  }
  return count;
}

async function writeTable(
  io: Io,
  columns: readonly string[],
  rows: Iterable<Row> | AsyncIterable<Row>,
): Promise<number> {
  const measured: TableCell[][] = [];
  let layout: Layout | null = null;
  let count = 0;
  for await (const row of rows) {
    count++;
    const cells = columns.map(name => tableCell(row[name]));
    if (layout !== null) {
      await emit(io, line(layout, cells));
    } else {
      measured.push(cells);
      if (measured.length === ROWS_MEASURED) layout = await writeHead(io, columns, measured);
    }
  }
  if (layout === null) await writeHead(io, columns, measured);
  return count;
}

/** Cut to what is shown, so that a long value is not kept for the sake of a few characters. */
interface TableCell {
  readonly text: string;
  readonly width: number;
  readonly isNumeric: boolean;
}

interface Layout {
  readonly widths: readonly number[];
  readonly right: readonly boolean[];
}

async function writeHead(
  io: Io,
  columns: readonly string[],
  rows: readonly (readonly TableCell[])[],
): Promise<Layout> {
  const names = columns.map(tableCell);
  const layout = {
    widths: names.map((name, index) => Math.max(name.width, ...rows.map(row => row[index]?.width ?? 0))),
    right: names.map((_, index) => rows.length > 0 && rows.every(row => row[index]?.isNumeric)),
  };
  const title = line(layout, names);
  await emit(io, colours(io) ? `${styleText('bold', title.trimEnd(), { validateStream: false })}\n` : title);
  for (const row of rows) await emit(io, line(layout, row));
  return layout;
}

function line(layout: Layout, cells: readonly TableCell[]): string {
  const padded = cells.map(({ text, width }, index) => {
    const space = ' '.repeat(Math.max(0, (layout.widths[index] ?? 0) - width));
    return layout.right[index] ? space + text : text + space;
  });
  return `${padded.join('  ').trimEnd()}\n`;
}

function tableCell(cell: Cell): TableCell {
  if (cell === null || cell === undefined) return { text: '-', width: 1, isNumeric: true };
  const start = cleanText(asText(startOf(cell)));
  const characters = Array.from(start);
  const isWhole = characters.length <= WIDEST_CELL;
  return {
    text: isWhole ? start : `${characters.slice(0, WIDEST_CELL - 1).join('')}…`,
    width: Math.min(characters.length, WIDEST_CELL),
    isNumeric: typeof cell === 'number' || typeof cell === 'bigint',
  };
}

/** More of it than is shown, however its characters are made of code units. */
function startOf<T extends NonNullable<Cell>>(cell: T): T | string | Uint8Array {
  if (typeof cell === 'string') return cell.slice(0, 4 * WIDEST_CELL);
  return cell instanceof Uint8Array ? cell.subarray(0, WIDEST_CELL) : cell;
}

function asText(cell: string | number | bigint | boolean | Uint8Array): string {
  return cell instanceof Uint8Array ? `x'${Buffer.from(cell).toString('hex')}'` : String(cell);
}

// eslint-disable-next-line no-control-regex
const FORMULA = /(^|;)(?=[\s\u0000-\u001f\u007f-\u009f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/g;

/**
 * A spreadsheet runs a text cell that begins like a formula, also behind blanks and in full-width letters, and some
 * take `;` for the end of a cell: an apostrophe in front keeps it text.
 */
export function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const safe = typeof cell === 'string' ? cell.replace(FORMULA, "$1'") : asText(cell);
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function jsonText(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, plain, indent));
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** A Buffer would turn itself into a list of its bytes before anybody could ask for base64. */
function withoutBytes(row: Row): Row {
  const cells = Object.entries(row);
  if (!cells.some(([, cell]) => cell instanceof Uint8Array)) return row;
  return Object.fromEntries(
    cells.map(([name, cell]) => [
      name,
      cell instanceof Uint8Array ? Buffer.from(cell).toString('base64') : cell,
    ]),
  );
}
