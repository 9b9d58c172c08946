import type { Row, Value } from '../store/contract/tables.js';
import { formatCsvLine } from '../text/csv.js';
import { withQuery } from './components/as-of.js';
import { html, type Html } from './components/html.js';
import type { ConsoleRequest, PageFault, ConsolePage } from './page.js';

interface ExportedRows {
  readonly rows: AsyncIterable<Row>;
  readonly columns: readonly string[];
}

/** File formats by extension. */
export const FILE_FORMATS = {
  csv: { type: 'text/csv; charset=utf-8', write: writeCsv },
  json: { type: 'application/json', write: writeJson },
} as const;

/** Renders the links that download the rows of a page as CSV or JSON. */
export function renderFileLinks(
  path: string,
  query: URLSearchParams,
  removedParameters: Readonly<Record<string, null>>,
): Html {
  // A pagination cursor, for example, is left out of the URLs.
  const links = Object.keys(FILE_FORMATS).map(
    extension =>
      html` <a href="${withQuery(`${path}.${extension}`, query, removedParameters)}">${extension.toUpperCase()}</a>`,
  );
  return html`<span class="files">${links}</span>`;
}

/** Creates two routes, `<baseName>.csv` and `<baseName>.json`, that download all rows of a page. */
export function createFilePages(
  baseName: string,
  urlOptions: Pick<ConsolePage, 'hasHistory' | 'parameters'>,
  readRows: (request: ConsoleRequest) => Promise<ExportedRows | PageFault>,
): readonly ConsolePage[] {
  return Object.entries(FILE_FORMATS).map(([extension, { type, write }]) => {
    const file = `${baseName}.${extension}`;
    return {
      path: `/${file}`,
      ...urlOptions,
      render: async request => {
        const exported = await readRows(request);
        const name = request.isDemo ? `demo-${file}` : file;
        return 'fault' in exported ? exported : { type, name, text: write(exported) };
      },
    };
  });
}

/** Yields the lines of a CSV file. */
async function* writeCsv({ rows, columns }: ExportedRows): AsyncGenerator<string> {
  yield formatCsvLine(columns);
  for await (const row of rows) yield formatCsvLine(columns.map(column => row[column]));
}

/** Yields the text of a JSON array with one object for each row. */
async function* writeJson({ rows, columns }: ExportedRows): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const row of rows) {
    yield `${separator}${JSON.stringify(Object.fromEntries(columns.map(column => [column, toJsonValue(row[column])])))}`;
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

/** Converts a database value to JSON. A bigint becomes a string, because many JSON parsers would round the number. */
function toJsonValue(value: Value | undefined): string | number | null {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'bigint' ? String(value) : (value ?? null);
}
