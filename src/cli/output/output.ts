import { UNPRINTABLE } from '../../text/clean-text.js';
import { cleanLine, emit, type Io, say, writeTexts } from '../io.js';
import { type CsvCell, formatCsvLine, formatCellText } from '../../text/csv.js';
import { type Row, type TableShape, writeTable } from './table.js';

export type { Row } from './table.js';
export type Format = 'table' | 'json' | 'csv';

export type Rows = Iterable<Row> | AsyncIterable<Row>;

/** Answers how many rows there were. */
export async function writeRows(
  io: Io,
  format: Format,
  columns: readonly string[],
  rows: Rows,
  shape: TableShape = {},
): Promise<number> {
  let count = 0;
  async function* counted(): AsyncGenerator<Row> {
    for await (const row of rows) {
      count += 1;
      yield row;
    }
  }
  if (format === 'json') await writeTexts(io, jsonOf(counted()));
  else if (format === 'csv') await writeTexts(io, csvOf(io, columns, counted()));
  else await writeTable(io, columns, counted(), shape);
  const { none = 'No rows.' } = shape;
  if (count === 0 && none !== '') say(io, none);
  return count;
}

/** On a terminal a line is cleaned of what would draw. */
async function* csvOf(io: Io, columns: readonly string[], rows: AsyncIterable<Row>): AsyncGenerator<string> {
  const line = (cells: readonly CsvCell[]) =>
    io.terminal.stdout ? `${cleanLine(formatCsvLine(cells).slice(0, -1))}\n` : formatCsvLine(cells);
  yield line(columns);
  for await (const row of rows) yield line(columns.map(name => row[name]));
}

export async function* jsonOf(objects: AsyncIterable<object>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const object of objects) {
    yield `${before}${jsonText(object)}`;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

export async function writeValue(io: Io, value: unknown): Promise<void> {
  await emit(io, `${jsonText(withSnakeKeys(value), 2)}\n`);
}

/** JSON in which nothing stands that a terminal obeys, and that means the same; its own line ends stay. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, plain, indent).replace(UNPRINTABLE, character =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A Buffer has turned itself into a list of its bytes by then, where base64 is meant. */
function plain(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const cell = this[name];
  if (cell instanceof Uint8Array) return formatCellText(cell);
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** Objects that are the registry's own: what it sent stands there as it was sent. */
const AS_SENT = ['content', 'document', 'body'];

/** The same value with the keys of every object in snake_case, as the columns of the mirror are named. */
export function withSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeKeys);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    snakeCase(name),
    AS_SENT.includes(name) ? inner : withSnakeKeys(inner),
  ]);
  return Object.fromEntries(entries);
}

/** Only names of ours are changed: a key that is no camelCase word is somebody's data. */
function snakeCase(name: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) return name;
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
