import type { Row, Value } from '../../store/contract/tables.js';
import { csvLine } from '../../text/csv.js';

type Writer = (rows: AsyncIterable<Row>, columns: readonly string[]) => AsyncIterable<string>;

interface Form {
  readonly type: string;
  readonly write: Writer;
}

/** How rows go to another program, by the ending of their address. */
export const FORMS: Readonly<Record<'csv' | 'json', Form>> = {
  csv: { type: 'text/csv; charset=utf-8', write: asCsv },
  json: { type: 'application/json', write: asJson },
};

async function* asCsv(rows: AsyncIterable<Row>, columns: readonly string[]): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const row of rows) yield csvLine(columns.map(column => row[column]));
}

async function* asJson(rows: AsyncIterable<Row>, columns: readonly string[]): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield `${before}${JSON.stringify(Object.fromEntries(columns.map(column => [column, plain(row[column])])))}`;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

/** A number that no program reads exactly is a text. */
function plain(value: Value | undefined): string | number | null {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'bigint' ? String(value) : (value ?? null);
}
