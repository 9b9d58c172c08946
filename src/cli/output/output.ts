import { UNSEEN } from '../../text/clean.js';
import { emit, type Io, print, say } from '../io.js';
import { type Cell, csvLine, textOf } from '../../text/csv.js';
import { type Row, type TableShape, writeTable } from './table.js';

export type { Row } from './table.js';
export type Format = 'table' | 'json' | 'csv';

export type Rows = Iterable<Row> | AsyncIterable<Row>;

export async function writeRows(
  io: Io,
  format: Format,
  columns: readonly string[],
  rows: Rows,
  shape: TableShape = {},
): Promise<number> {
  let count: number;
  if (format === 'json') count = await writeJson(io, rows);
  else if (format === 'table') count = await writeTable(io, columns, rows, shape);
  else count = await writeCsv(io, columns, rows);
  const { none = 'No rows.' } = shape;
  if (count === 0 && none !== '') say(io, none);
  return count;
}

/** On a terminal a line is cleaned of what would draw. */
async function writeCsv(io: Io, columns: readonly string[], rows: Rows): Promise<number> {
  let count = 0;
  const write = (cells: readonly Cell[]) =>
    io.terminal.stdout ? print(io, csvLine(cells).slice(0, -1)) : emit(io, csvLine(cells));
  await write(columns);
  for await (const row of rows) {
    await write(columns.map(name => row[name]));
    count++;
  }
  return count;
}

export async function writeValue(io: Io, value: unknown): Promise<void> {
  await emit(io, `${jsonText(withSnakeKeys(value), 2)}\n`);
}

async function writeJson(io: Io, rows: Rows): Promise<number> {
  let count = 0;
  for await (const row of rows) {
    await emit(io, `${count === 0 ? '[' : ','}\n${jsonText(withoutBytes(row))}`);
    count++;
  }
  await emit(io, count === 0 ? '[]\n' : '\n]\n');
  return count;
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
    cells.map(([name, cell]) => [name, cell instanceof Uint8Array ? textOf(cell) : cell]),
  );
}

/** JSON in which nothing stands that a terminal obeys, and that means the same; its own line ends stay. */
export function escapeJson(json: string): string {
  return json.replace(UNSEEN, character =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
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
