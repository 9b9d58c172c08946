import type { Row, Value } from '../../engines/contract/tables.js';
import { streamRows } from '../../query/paged.js';
import type { Ask, Page, Sent } from '../page.js';
import { pagingOf } from './asked.js';
import type { Listing } from './listing.js';

const AT_ONCE = 100;

/** Exactly the rows of a list, all pages of it, for another program. */
export function rowsFiles(listing: Listing): readonly Page[] {
  return [
    file(listing, 'csv', 'text/csv; charset=utf-8', asCsv),
    file(listing, 'json', 'application/json', asJson),
  ];
}

type Writer = (rows: AsyncIterable<Row>, columns: readonly string[]) => AsyncIterable<string>;

function file(listing: Listing, ending: string, type: string, write: Writer): Page {
  const { path, columns } = listing;
  return {
    path: `/${path}.${ending}`,
    show: async ({ reader, query }: Ask): Promise<Sent> => ({
      type,
      name: `${path}.${ending}`,
      text: write(streamRows(reader, pagingOf(listing, query), AT_ONCE), columns),
    }),
  };
}

async function* asCsv(rows: AsyncIterable<Row>, columns: readonly string[]): AsyncGenerator<string> {
  yield `${columns.join(',')}\n`;
  for await (const row of rows) yield `${columns.map(column => quoted(textOf(row[column]))).join(',')}\n`;
}

async function* asJson(rows: AsyncIterable<Row>, columns: readonly string[]): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield `${before}${JSON.stringify(Object.fromEntries(columns.map(column => [column, plain(row[column])])))}`;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function textOf(value: Value | undefined): string {
  return String(plain(value) ?? '');
}

/** A number that no program reads exactly is a text. */
function plain(value: Value | undefined): string | number | null {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'bigint' ? String(value) : (value ?? null);
}
