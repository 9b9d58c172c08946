import { withThousands } from '../../text/numbers.js';
import { cleanText } from '../../text/clean-text.js';
import { colours, emit, type Io, say } from '../io.js';
import { type CsvCell, formatCellText } from '../../text/csv.js';
import { bold, paintState } from './colour.js';
import { fit, GAP, type Measured, type Place } from './layout.js';

export interface TableShape {
  /** Columns that a narrow terminal leaves out last. */
  readonly keep?: readonly string[];
  /** Columns of tonnes: a person at a terminal gets their thousands set apart. */
  readonly tonnes?: readonly string[];
  /** What is said where there is no row; not said where it is empty. */
  readonly none?: string;
}

/** Widths are taken from the first rows, so that a long answer can stream. */
const ROWS_MEASURED = 200;
const CHARACTERS_MEASURED = 1_000_000;
/** In a file, what is wider does not push the other rows apart. */
const WIDEST_PADDED = 60;
/** A text that a person reads is not cut to less. */
const LEAST_TEXT = 12;

interface TableCell {
  readonly text: string;
  readonly isNumeric: boolean;
}

/** On a terminal it fits its width; for a file or a program it is whole. */
export async function writeTable(
  io: Io,
  columns: readonly string[],
  rows: AsyncIterable<Row>,
  shape: TableShape,
): Promise<void> {
  const sums = io.terminal.stdout ? (shape.tonnes ?? []) : [];
  const asCells = (row: Row) => columns.map(name => tableCell(row[name], sums.includes(name)));
  const first: TableCell[][] = [];
  let characters = 0;
  let line: Line | null = null;
  for await (const row of rows) {
    const cells = asCells(row);
    if (line === null) {
      first.push(cells);
      characters += cells.reduce((sum, { text }) => sum + text.length, 0);
      if (first.length < ROWS_MEASURED && characters < CHARACTERS_MEASURED) continue;
      line = await writeHead(io, columns, first, shape);
    } else await emit(io, line(cells));
  }
  if (line === null) await writeHead(io, columns, first, shape);
}

type Line = (cells: readonly TableCell[]) => string;

async function writeHead(
  io: Io,
  columns: readonly string[],
  rows: readonly (readonly TableCell[])[],
  { keep = [] }: TableShape,
): Promise<Line> {
  const measured = columns.map((name, index) => {
    const cells = rows.flatMap(row => row[index] ?? []);
    return measure(name, index, cells, keep.includes(name));
  });
  const places = io.terminal.stdout ? fit(measured, io.columns) : measured.map(padded);
  const right = measured.map(({ index }) => rows.length > 0 && rows.every(row => row[index]?.isNumeric));
  const line: Line = cells => {
    const parts = places.map(place => {
      const name = columns[place.index] ?? '';
      const text = cut(cells[place.index]?.text ?? '', name, place);
      const shown = colours(io) ? paintState(name, text) : text;
      const space = ' '.repeat(Math.max(0, place.width - lengthOf(text)));
      return right[place.index] === true ? space + shown : shown + space;
    });
    return `${parts.join(' '.repeat(GAP)).trimEnd()}\n`;
  };
  const title = line(columns.map(name => tableCell(name, false)));
  await emit(io, colours(io) ? `${bold(title.trimEnd())}\n` : title);
  for (const row of rows) await emit(io, line(row));
  const left = columns.filter((_, index) => !places.some(place => place.index === index));
  if (left.length > 0) say(io, `Not shown for want of width: ${left.join(', ')}. See them with | less -S.`);
  return line;
}

function padded({ index, width }: Measured): Place {
  return { index, width: Math.min(width, WIDEST_PADDED), isShort: false };
}

function measure(name: string, index: number, cells: readonly TableCell[], isKept: boolean): Measured {
  const title = lengthOf(cleanText(name));
  const widest = (texts: readonly string[]) => Math.max(title, ...texts.map(lengthOf));
  const whole = cells.map(({ text }) => text);
  const short = whole.map(text => shorten(name, text));
  /** What a proof leans on is shown whole or not at all. */
  const isFirm = cells.every(({ text, isNumeric }, at) => isNumeric || HASH.test(text) || short[at] !== text);
  const shortWidth = widest(short);
  const leastWidth = isFirm ? shortWidth : Math.min(shortWidth, Math.max(LEAST_TEXT, title));
  return { index, width: widest(whole), shortWidth, leastWidth, isKept };
}

/** No terminal is so wide that what is longer must be counted sign by sign. */
const COUNTED = 1_000;

function lengthOf(text: string): number {
  return text.length > COUNTED ? text.length : Array.from(text).length;
}

function cut(text: string, column: string, { width, isShort }: Place): string {
  const short = isShort ? shorten(column, text) : text;
  if (!isShort || lengthOf(short) <= width) return short;
  const signs = Array.from(short.slice(0, 2 * width));
  return `${signs.slice(0, width - 1).join('')}…`;
}

function tableCell(cell: CsvCell, inThousands: boolean): TableCell {
  if (cell === null || cell === undefined) return { text: '-', isNumeric: true };
  const text = cleanText(formatCellText(cell));
  if (inThousands && NUMBER.test(text)) return { text: withThousands(text), isNumeric: true };
  return { text, isNumeric: typeof cell === 'number' || typeof cell === 'bigint' };
}

export type Row = Readonly<Record<string, CsvCell>>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}):\d{2}\.\d{3}Z$/;
const HASH = /[0-9a-f]{64}/;
/** An amount, or the most that it may be. */
const NUMBER = /^(≤ )?-?\d+(\.\d+)?$/;
const LONGEST_SHORT_ID = 16;

/** The beginning of an id, by which it can be named; of an instant its minute. */
function shorten(column: string, text: string): string {
  if (UUID.test(text)) return `${text.slice(0, 8)}…`;
  const minute = INSTANT.exec(text)?.[1];
  if (minute !== undefined) return `${minute}Z`;
  const isId = column === 'id' || column.endsWith('_id');
  return isId && text.length > LONGEST_SHORT_ID ? `${text.slice(0, LONGEST_SHORT_ID - 1)}…` : text;
}
