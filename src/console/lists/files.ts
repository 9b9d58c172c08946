import type { Row, Value } from '../../store/contract/tables.js';
import { formatCsvLine } from '../../text/csv.js';
import { withQuery } from '../components/as-of.js';
import { html, type Html } from '../components/html.js';
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

/** The way from a page to its files. */
export function filesOf(path: string, query: URLSearchParams, changes: Readonly<Record<string, null>>): Html {
  const links = Object.keys(FORMS).map(
    ending => html` <a href="${withQuery(`${path}.${ending}`, query, changes)}">${ending.toUpperCase()}</a>`,
  );
  return html`<span class="files">${links}</span>`;
}

/** Exactly the rows of a page, all of them, for another program. */
export function rowsFiles(
  list: string,
  question: Pick<Page, 'isDated' | 'asks'>,
  read: (ask: Ask) => Promise<Rows | Fault>,
): readonly Page[] {
  return Object.entries(FORMS).map(([ending, { type, write }]) => {
    const file = `${list}.${ending}`;
    return {
      path: `/${file}`,
      ...question,
      show: async asking => {
        const found = await read(asking);
        const name = asking.isDemo ? `demo-${file}` : file;
        return 'fault' in found ? found : { type, name, text: write(found) };
      },
    };
  });
}

async function* asCsv({ rows, columns }: Rows): AsyncGenerator<string> {
  yield formatCsvLine(columns);
  for await (const row of rows) yield formatCsvLine(columns.map(column => row[column]));
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
