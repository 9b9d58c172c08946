import { formatWithCommas } from '../../text/numbers.js';
import { cleanText } from '../../text/clean-text.js';
import { usesColours, writeStdout, type Io, printNotice } from '../io.js';
import { type CsvCell, formatCellText } from '../../text/csv.js';
import { bold, paintState } from './colour.js';
import { type ColumnLayout, type ColumnWidths, fitColumns, GAP } from './layout.js';

export interface TableShape {
  /** Columns that a narrow terminal hides last. */
  readonly importantColumns?: readonly string[];
  /** Columns of tonnes. A terminal shows them with thousands separators. */
  readonly tonneColumns?: readonly string[];
  /** The message for a table without rows; no message if it is empty. */
  readonly emptyMessage?: string;
}

/** Column widths are measured on the first rows only, so that a long table can stream. */
const ROWS_MEASURED = 200;
const CHARACTERS_MEASURED = 1_000_000;
/** In a file, cells are padded to at most this width, so that one long cell does not widen every row. */
const MAX_PADDED_WIDTH = 60;
/** Texts are not cut to fewer characters than this. */
const MIN_TEXT_WIDTH = 12;

interface TableCell {
  readonly text: string;
  readonly isNumeric: boolean;
}

/** Prints rows as a table. On a terminal the table is fitted to its width; in a file or a pipe it is complete. */
export async function printTable(
  io: Io,
  columns: readonly string[],
  rows: AsyncIterable<OutputRow>,
  shape: TableShape,
): Promise<void> {
  const tonnes = io.terminal.stdout ? (shape.tonneColumns ?? []) : [];
  const toCells = (row: OutputRow) => columns.map(name => toTableCell(row[name], tonnes.includes(name)));
  const first: TableCell[][] = [];
  let characters = 0;
  let formatLine: LineFormatter | null = null;
  for await (const row of rows) {
    const cells = toCells(row);
    if (formatLine === null) {
      first.push(cells);
      characters += cells.reduce((sum, { text }) => sum + text.length, 0);
      if (first.length < ROWS_MEASURED && characters < CHARACTERS_MEASURED) continue;
      formatLine = await printFirstRows(io, columns, first, shape);
    } else await writeStdout(io, formatLine(cells));
  }
  if (formatLine === null) await printFirstRows(io, columns, first, shape);
}

type LineFormatter = (cells: readonly TableCell[]) => string;

/** Measures the columns on the first rows, prints the header and these rows, and returns how to format further rows. */
async function printFirstRows(
  io: Io,
  columns: readonly string[],
  rows: readonly (readonly TableCell[])[],
  { importantColumns = [] }: TableShape,
): Promise<LineFormatter> {
  const widths = columns.map((name, index) => {
    const cells = rows.flatMap(row => row[index] ?? []);
    return measureColumn(name, index, cells, importantColumns.includes(name));
  });
  const shown = io.terminal.stdout ? fitColumns(widths, io.columns) : widths.map(limitPadding);
  const isRightAligned = widths.map(
    ({ index }) => rows.length > 0 && rows.every(row => row[index]?.isNumeric),
  );
  const formatLine: LineFormatter = cells => {
    const parts = shown.map(column => {
      const name = columns[column.index] ?? '';
      const text = truncateCell(cells[column.index]?.text ?? '', name, column);
      const painted = usesColours(io) ? paintState(name, text) : text;
      const padding = ' '.repeat(Math.max(0, column.width - countCharacters(text)));
      return isRightAligned[column.index] === true ? padding + painted : painted + padding;
    });
    return `${parts.join(' '.repeat(GAP)).trimEnd()}\n`;
  };
  const header = formatLine(columns.map(name => toTableCell(name, false)));
  await writeStdout(io, usesColours(io) ? `${bold(header.trimEnd())}\n` : header);
  for (const row of rows) await writeStdout(io, formatLine(row));
  const hidden = columns.filter((_, index) => !shown.some(column => column.index === index));
  if (hidden.length > 0)
    printNotice(io, `Hidden columns: ${hidden.join(', ')}. Pipe to "less -S" to see all.`);
  return formatLine;
}

function limitPadding({ index, width }: ColumnWidths): ColumnLayout {
  return { index, width: Math.min(width, MAX_PADDED_WIDTH), isShort: false };
}

function measureColumn(
  name: string,
  index: number,
  cells: readonly TableCell[],
  isImportant: boolean,
): ColumnWidths {
  const nameWidth = countCharacters(cleanText(name));
  const findWidest = (texts: readonly string[]) => Math.max(nameWidth, ...texts.map(countCharacters));
  const whole = cells.map(({ text }) => text);
  const short = whole.map(text => shortenIdOrInstant(name, text));
  /** Numbers and hashes are shown whole or not at all: a shortened one would be wrong or prove nothing. */
  const isNeverCut = cells.every(
    ({ text, isNumeric }, at) => isNumeric || HASH.test(text) || short[at] !== text,
  );
  const shortWidth = findWidest(short);
  const minWidth = isNeverCut ? shortWidth : Math.min(shortWidth, Math.max(MIN_TEXT_WIDTH, nameWidth));
  return { index, width: findWidest(whole), shortWidth, minWidth, isImportant };
}

/** Longer texts are wider than any terminal, so their exact width does not matter. */
const MAX_COUNTED_LENGTH = 1_000;

/** Returns the number of characters; approximately for a long text. */
function countCharacters(text: string): number {
  return text.length > MAX_COUNTED_LENGTH ? text.length : Array.from(text).length;
}

/** Shortens the text of a cell to its column, if the column is shortened. */
function truncateCell(text: string, column: string, { width, isShort }: ColumnLayout): string {
  const short = isShort ? shortenIdOrInstant(column, text) : text;
  if (!isShort || countCharacters(short) <= width) return short;
  const characters = Array.from(short.slice(0, 2 * width));
  return `${characters.slice(0, width - 1).join('')}…`;
}

function toTableCell(cell: CsvCell, hasThousandsSeparators: boolean): TableCell {
  if (cell === null || cell === undefined) return { text: '-', isNumeric: true };
  const text = cleanText(formatCellText(cell));
  if (hasThousandsSeparators && NUMBER.test(text)) return { text: formatWithCommas(text), isNumeric: true };
  return { text, isNumeric: typeof cell === 'number' || typeof cell === 'bigint' };
}

export type OutputRow = Readonly<Record<string, CsvCell>>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}):\d{2}\.\d{3}Z$/;
const HASH = /[0-9a-f]{64}/;
/** An amount, or an upper bound of one. */
const NUMBER = /^(≤ )?-?\d+(\.\d+)?$/;
const LONGEST_SHORT_ID = 16;

/** Shortens an id to its start, which commands accept as its name, and an instant to its minute. */
function shortenIdOrInstant(column: string, text: string): string {
  if (UUID.test(text)) return `${text.slice(0, 8)}…`;
  const minute = INSTANT.exec(text)?.[1];
  if (minute !== undefined) return `${minute}Z`;
  const isId = column === 'id' || column.endsWith('_id');
  return isId && text.length > LONGEST_SHORT_ID ? `${text.slice(0, LONGEST_SHORT_ID - 1)}…` : text;
}
