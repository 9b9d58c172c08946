/**
 * Prints the data of commands to stdout: rows as a table, JSON or CSV, and single values as JSON.
 *
 * Rows stream, so a list of any length needs constant memory. Text from outside never controls the terminal.
 */
import { UNPRINTABLE } from '../../text/clean-text.js';
import { cleanLine, writeStdout, type Io, printNotice, streamStdout } from '../io.js';
import { type CsvCell, formatCsvLine, formatCellText } from '../../text/csv.js';
import { type OutputRow, printTable, type TableShape } from './table.js';

export type { OutputRow as Row } from './table.js';
/** The format of rows; `table` is text for people. */
export type OutputFormat = 'table' | 'json' | 'csv';

export type OutputRows = Iterable<OutputRow> | AsyncIterable<OutputRow>;

/** Prints rows in this format and returns the number of rows. */
export async function printRows(
  io: Io,
  format: OutputFormat,
  columns: readonly string[],
  rows: OutputRows,
  shape: TableShape = {},
): Promise<number> {
  let count = 0;
  /** Yields the rows unchanged and counts them. */
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

/** Yields a CSV header and one CSV line per row. Removes control characters if stdout is a terminal. */
async function* serializeCsv(
  io: Io,
  columns: readonly string[],
  rows: AsyncIterable<OutputRow>,
): AsyncGenerator<string> {
  const formatLine = (cells: readonly CsvCell[]) =>
    io.terminal.stdout ? `${cleanLine(formatCsvLine(cells).slice(0, -1))}\n` : formatCsvLine(cells);
  yield formatLine(columns);
  for await (const row of rows) yield formatLine(columns.map(name => row[name]));
}

/** Serializes objects as a JSON array. Yields the array as text, one object at a time. */
async function* serializeJson(objects: AsyncIterable<object>): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const object of objects) {
    yield `${separator}${toJson(object)}`;
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

/** Prints a value as indented JSON with keys in snake_case. */
export async function printJson(io: Io, value: unknown): Promise<void> {
  await writeStdout(io, `${toJson(toSnakeKeys(value), 2)}\n`);
}

/** Serializes a value as JSON. Escapes control characters, so that the text is safe on a terminal. */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, toJsonValue, indent).replace(UNPRINTABLE, character =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Converts bytes to base64 and bigints to numbers or strings, for `JSON.stringify`. */
function toJsonValue(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  /** JSON.stringify has already converted a Buffer in `value`, so the bytes are read from `this`. */
  const cell = this[name];
  if (cell instanceof Uint8Array) return formatCellText(cell);
  if (typeof value !== 'bigint') return value;
  // A bigint that is too large for a number becomes a string.
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** Keys whose values come from the registry and keep their own keys. */
const REGISTRY_DATA_KEYS = ['content', 'document', 'body'];

/** Converts the keys of nested objects to snake_case, except in JSON from the registry. */
export function toSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeKeys);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    toSnakeCase(name),
    REGISTRY_DATA_KEYS.includes(name) ? inner : toSnakeKeys(inner),
  ]);
  return Object.fromEntries(entries);
}

/** Converts a camelCase key to snake_case. Returns any other key, such as an id, unchanged. */
function toSnakeCase(name: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) return name;
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
