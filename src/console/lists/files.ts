import type { Row, Value } from '../../store/contract/tables.js';
import { csvLine } from '../../text/csv.js';
import type { Ask, Fault, Page } from '../page.js';

interface Rows {
  readonly rows: AsyncIterable<Row>;
  readonly columns: readonly string[];
}

/** How rows go to another program, by the ending of their address. */
export const FORMS = {
  csv: { type: 'text/csv; charset=utf-8', write: asCsv },
  json: { type: 'application/json', write: asJson },
} as const;

/** Exactly the rows of a page, all of them, for another program. */
export function rowsFiles(
  list: string,
  isDated: boolean,
  read: (ask: Ask) => Promise<Rows | Fault>,
): readonly Page[] {
  return Object.entries(FORMS).map(([ending, { type, write }]) => {
    const name = `${list}.${ending}`;
    return {
      path: `/${name}`,
      isDated,
      show: async asking => {
        const found = await read(asking);
        return 'fault' in found ? found : { type, name, text: write(found) };
      },
    };
  });
}

async function* asCsv({ rows, columns }: Rows): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const row of rows) yield csvLine(columns.map(column => row[column]));
}

async function* asJson({ rows, columns }: Rows): AsyncGenerator<string> {
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
