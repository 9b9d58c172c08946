import { UNPRINTABLE } from '../../text/clean-text.js';
import { cleanLine, writeStdout, type Io, printNotice, streamStdout } from '../io.js';
import { type CsvCell, formatCsvLine, formatCellText } from '../../text/csv.js';
import { type OutputRow, printTable, type TableShape } from './table.js';

export type { OutputRow as Row } from './table.js';
export type OutputFormat = 'table' | 'json' | 'csv';

export type OutputRows = Iterable<OutputRow> | AsyncIterable<OutputRow>;

/** Prints rows in a format as they arrive, and returns how many there were. */
export async function printRows(
  io: Io,
  format: OutputFormat,
  columns: readonly string[],
  rows: OutputRows,
  shape: TableShape = {},
): Promise<number> {
  let count = 0;
  async function* countRows(): AsyncGenerator<OutputRow> {
    for await (const row of rows) {
      count += 1;
      yield row;
    }
  }
  if (format === 'json') await streamStdout(io, serializeJson(countRows()));
  else if (format === 'csv') await streamStdout(io, serializeCsv(io, columns, countRows()));
  else await printTable(io, columns, countRows(), shape);
  const { emptyMessage = 'No rows.' } = shape;
  if (count === 0 && emptyMessage !== '') printNotice(io, emptyMessage);
  return count;
}

/** Yields CSV lines. For a terminal, characters that would control it are removed. */
async function* serializeCsv(
  io: Io,
  columns: readonly string[],
  rows: AsyncIterable<OutputRow>,
): AsyncGenerator<string> {
  const line = (cells: readonly CsvCell[]) =>
    io.terminal.stdout ? `${cleanLine(formatCsvLine(cells).slice(0, -1))}\n` : formatCsvLine(cells);
  yield line(columns);
  for await (const row of rows) yield line(columns.map(name => row[name]));
}

/** Yields a JSON array, one object a line. */
export async function* serializeJson(objects: AsyncIterable<object>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const object of objects) {
    yield `${before}${toJson(object)}`;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

/** Prints a value as JSON, with keys in snake_case. */
export async function printJson(io: Io, value: unknown): Promise<void> {
  await writeStdout(io, `${toJson(toSnakeKeys(value), 2)}\n`);
}

/** Serializes a value as JSON. Characters that control a terminal are escaped; line ends of the indentation stay. */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, replaceValue, indent).replace(UNPRINTABLE, character =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Replaces bytes by base64 and bigints by numbers or text. Reads `this`, because a Buffer has already become an array in `value`. */
function replaceValue(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const cell = this[name];
  if (cell instanceof Uint8Array) return formatCellText(cell);
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** Keys below which the registry's own data stands, which is never changed. */
const REGISTRY_DATA = ['content', 'document', 'body'];

/** Returns the value with the keys of all objects in snake_case, like the columns of the mirror. */
export function toSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeKeys);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    toSnakeCase(name),
    REGISTRY_DATA.includes(name) ? inner : toSnakeKeys(inner),
  ]);
  return Object.fromEntries(entries);
}

/** Converts a camelCase name. Any other key is data, and stays. */
function toSnakeCase(name: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) return name;
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
