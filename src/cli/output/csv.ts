import { emit, type Io, print } from '../io.js';
import { type Cell, type Row, textOf } from './cells.js';

interface Dialect {
  readonly start: string;
  readonly end: string;
  readonly cell: (cell: Cell) => string;
}

/** For programs: every character as it is. */
const VERBATIM: Dialect = { start: '', end: '\n', cell: csvCell };
/** For a spreadsheet: its marks, and no text that it would run. */
const EXCEL: Dialect = { start: '\ufeff', end: '\r\n', cell: excelCell };
export const DIALECTS = { csv: VERBATIM, excel: EXCEL };

export function csvLine(cells: readonly Cell[], { cell, end }: Dialect = VERBATIM): string {
  return cells.map(cell).join(',') + end;
}

/** On a terminal a line is cleaned of what would draw. */
export async function writeCsv(
  io: Io,
  columns: readonly string[],
  rows: Iterable<Row> | AsyncIterable<Row>,
  dialect: Dialect,
): Promise<number> {
  let count = 0;
  const write = (cells: readonly Cell[]) =>
    io.terminal.stdout
      ? print(io, csvLine(cells, { ...dialect, end: '' }))
      : emit(io, csvLine(cells, dialect));
  if (!io.terminal.stdout) await emit(io, dialect.start);
  await write(columns);
  for await (const row of rows) {
    await write(columns.map(name => row[name]));
    count++;
  }
  return count;
}

export function csvCell(cell: Cell): string {
  const text = plain(cell);
  return /[",\r\n]/.test(text) ? quote(text) : text;
}

// eslint-disable-next-line no-control-regex
const FORMULA = /(^|;)(?=[\s\u0000-\u001f\u007f-\u009f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/g;

/**
 * A spreadsheet runs a text cell that begins like a formula, also behind blanks and in full-width letters, and some
 * take `;` for the end of a cell: an apostrophe in front keeps it text.
 */
export function excelCell(cell: Cell): string {
  const text = typeof cell === 'string' ? cell.replace(FORMULA, "$1'") : plain(cell);
  return /[",;\r\n]/.test(text) ? quote(text) : text;
}

function plain(cell: Cell): string {
  return cell === null || cell === undefined ? '' : textOf(cell);
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
