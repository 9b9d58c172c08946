import { formatWithCommas } from '../../text/numbers.js';
import { cleanText } from '../../text/clean-text.js';
import { usesColours, writeStdout, type Io, printNotice } from '../io.js';
import { type CsvCell, formatCellText } from '../../text/csv.js';
import { makeBold, colourState } from './colour.js';
import { type ColumnLayout, type ColumnWidths, fitColumns, COLUMN_GAP } from './fit-columns.js';

/** How a table of a command is laid out. */
export interface TableShape {
  /** Columns that a narrow terminal hides last. */
  readonly importantColumns?: readonly string[];
  /** Columns whose long texts a terminal continues on further lines instead of cutting them. */
  readonly wrappedColumns?: readonly string[];
  /** Columns of tonnes. A terminal shows them with thousands separators. */
  readonly tonneColumns?: readonly string[];
  /** Words for missing values, by column. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** The message on stderr for a table without rows; an empty text prints none. */
  readonly emptyMessage?: string;
}

/** Column widths are measured on the first rows only, so that a long table can stream. */
const ROWS_MEASURED = 200;
const CHARACTERS_MEASURED = 1_000_000;
/** In a file, cells are padded to at most this width, so that one long cell does not widen every row. */
const MAX_PADDED_WIDTH = 60;
/** Texts are not cut to fewer characters than this. */
const MIN_TEXT_WIDTH = 12;
/** Wrapped texts get at least this width, and the second one as long as unimportant columns can be hidden instead. */
const MIN_WRAPPED_WIDTH = 20;
const PREFERRED_WRAPPED_WIDTH = 44;

interface TableCell {
  readonly text: string;
  readonly isNumeric: boolean;
}

/** Prints rows as an aligned table. On a terminal, shortens or hides columns to fit the width. */
export async function printTable(
  io: Io,
  columns: readonly string[],
  rows: AsyncIterable<OutputRow>,
  shape: TableShape,
): Promise<void> {
  const tonnes = io.terminal.stdout ? (shape.tonneColumns ?? []) : [];
  const toCells = (row: OutputRow) =>
    columns.map(name => toTableCell(row[name] ?? shape.placeholders?.[name], tonnes.includes(name)));
  const firstRows: TableCell[][] = [];
  let characters = 0;
  let formatLine: LineFormatter | null = null;
  for await (const row of rows) {
    const cells = toCells(row);
    if (formatLine === null) {
      firstRows.push(cells);
      characters += cells.reduce((sum, { text }) => sum + text.length, 0);
      if (firstRows.length < ROWS_MEASURED && characters < CHARACTERS_MEASURED) continue;
      formatLine = await printFirstRows(io, columns, firstRows, shape);
    } else await writeStdout(io, formatLine(cells));
  }
  if (formatLine === null) await printFirstRows(io, columns, firstRows, shape);
}

/** Formats the cells of one row as a line. */
type LineFormatter = (cells: readonly TableCell[]) => string;

/** Prints the header and first rows, which set the column widths. Returns a function that formats later rows alike. */
async function printFirstRows(
  io: Io,
  columns: readonly string[],
  rows: readonly (readonly TableCell[])[],
  { importantColumns = [], wrappedColumns = [] }: TableShape,
): Promise<LineFormatter> {
  const widths = columns.map((name, index) => {
    const cells = rows.flatMap(row => row[index] ?? []);
    const measured = measureColumn(name, index, cells, importantColumns.includes(name));
    return wrappedColumns.includes(name) ? allowWrapping(measured) : measured;
  });
  const layout = io.terminal.stdout ? fitColumns(widths, io.columns) : widths.map(limitPadding);
  const isRightAligned = widths.map(
    ({ index }) => rows.length > 0 && rows.every(row => row[index]?.isNumeric),
  );
  const formatLine: LineFormatter = cells => {
    const texts = layout.map(column => {
      const name = columns[column.index] ?? '';
      const text = cells[column.index]?.text ?? '';
      return column.isShort && wrappedColumns.includes(name)
        ? wrapText(text, column.width)
        : [truncateCell(text, name, column)];
    });
    const height = Math.max(...texts.map(lines => lines.length));
    const lines = Array.from({ length: height }, (_, line) => {
      const parts = layout.map((column, position) => {
        const text = texts[position]?.[line] ?? '';
        const painted = usesColours(io) ? colourState(columns[column.index] ?? '', text) : text;
        const padding = ' '.repeat(Math.max(0, column.width - countCharacters(text)));
        return isRightAligned[column.index] === true ? padding + painted : painted + padding;
      });
      return `${parts.join(' '.repeat(COLUMN_GAP)).trimEnd()}\n`;
    });
    return lines.join('');
  };
  const header = formatLine(columns.map(name => toTableCell(name, false)));
  await writeStdout(io, usesColours(io) ? `${makeBold(header.trimEnd())}\n` : header);
  for (const row of rows) await writeStdout(io, formatLine(row));
  const hidden = columns.filter((_, index) => !layout.some(column => column.index === index));
  if (hidden.length > 0)
    printNotice(io, `Hidden columns: ${hidden.join(', ')}. Pipe to "less -S" to see all.`);
  return formatLine;
}

/** Returns a column's layout for a file or pipe. Cells are never cut, and padding has a maximum width. */
function limitPadding({ index, width }: ColumnWidths): ColumnLayout {
  return { index, width: Math.min(width, MAX_PADDED_WIDTH), isShort: false };
}

/** Measures a table column: its full width, its width with shortened ids, and its minimum width. */
function measureColumn(
  name: string,
  index: number,
  cells: readonly TableCell[],
  isImportant: boolean,
): ColumnWidths {
  const nameWidth = countCharacters(cleanText(name));
  const findWidest = (texts: readonly string[]) => Math.max(nameWidth, ...texts.map(countCharacters));
  const texts = cells.map(({ text }) => text);
  const shortTexts = texts.map(text => shortenIdOrInstant(name, text));
  /** Numbers and hashes are shown whole or not at all: a shortened one would be wrong or prove nothing. */
  const isNeverCut = cells.every(
    ({ text, isNumeric }, row) => isNumeric || HASH.test(text) || shortTexts[row] !== text,
  );
  const shortWidth = findWidest(shortTexts);
  const minWidth = isNeverCut ? shortWidth : Math.min(shortWidth, Math.max(MIN_TEXT_WIDTH, nameWidth));
  return { index, width: findWidest(texts), shortWidth, minWidth, preferredWidth: minWidth, isImportant };
}

/**
 * Returns the widths of a column whose texts may be wrapped: the minimum and the preferred width are limited, because a long text
 * continues on the next line.
 */
function allowWrapping(column: ColumnWidths): ColumnWidths {
  const { shortWidth } = column;
  return {
    ...column,
    minWidth: Math.min(shortWidth, MIN_WRAPPED_WIDTH),
    preferredWidth: Math.min(shortWidth, PREFERRED_WRAPPED_WIDTH),
  };
}

/** Splits a text into lines of at most `width` characters, between words if possible. */
function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  for (const word of text.split(' ')) {
    const characters = Array.from(word);
    if (line.length > 0 && line.length + 1 + characters.length > width) {
      lines.push(line.join(''));
      line = [];
    } else if (line.length > 0) line.push(' ');
    line.push(...characters);
    for (; line.length > width; line = line.slice(width)) lines.push(line.slice(0, width).join(''));
  }
  return [...lines, line.join('')];
}

/** Longer texts are wider than any terminal, so their exact width does not matter. */
const MAX_COUNTED_LENGTH = 1_000;

/** Returns the number of characters in a text. Returns an estimate for a very long text. */
function countCharacters(text: string): number {
  return text.length > MAX_COUNTED_LENGTH ? text.length : Array.from(text).length;
}

/** Shortens a cell's text to the width of its column, such as `Acme Clim…`. */
function truncateCell(text: string, column: string, { width, isShort }: ColumnLayout): string {
  const short = isShort ? shortenIdOrInstant(column, text) : text;
  if (!isShort || countCharacters(short) <= width) return short;
  const characters = Array.from(short.slice(0, 2 * width));
  return `${characters.slice(0, width - 1).join('')}…`;
}

/** Converts a value to a table cell. A missing value becomes `-` and is aligned like a number. */
function toTableCell(value: CsvCell, hasThousandsSeparators: boolean): TableCell {
  if (value === null || value === undefined) return { text: '-', isNumeric: true };
  const text = cleanText(formatCellText(value));
  if (hasThousandsSeparators && NUMBER.test(text)) return { text: formatWithCommas(text), isNumeric: true };
  return { text, isNumeric: typeof value === 'number' || typeof value === 'bigint' };
}

/** A row to print, by column name. */
export type OutputRow = Readonly<Record<string, CsvCell>>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}):\d{2}\.\d{3}Z$/;
const HASH = /[0-9a-f]{64}/;
/** Matches an amount, or an upper bound of one. */
const NUMBER = /^(≤ )?-?\d+(\.\d+)?$/;
const LONGEST_SHORT_ID = 16;

/** Shortens a long id, or removes the seconds from an instant. Returns any other text unchanged. */
function shortenIdOrInstant(column: string, text: string): string {
  if (UUID.test(text)) return `${text.slice(0, 8)}…`;
  const minute = INSTANT.exec(text)?.[1];
  if (minute !== undefined) return `${minute}Z`;
  const isId = column === 'id' || column.endsWith('_id');
  return isId && text.length > LONGEST_SHORT_ID ? `${text.slice(0, LONGEST_SHORT_ID - 1)}…` : text;
}
