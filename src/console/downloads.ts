import type { Row, Value } from '../store/contract/tables.js';
import type { AnswerNotes } from '../query/answer/answer.js';
import { CAVEATS_COLUMN, formatNotesCell, serializeAnswer } from '../query/answer/serialize.js';
import { formatCsvLine } from '../text/csv.js';
import { withQuery } from './components/as-of.js';
import { html, type Html } from './components/html.js';
import type { ConsoleRequest, PageFault, ConsolePage } from './page.js';

interface ExportedRows {
  readonly rows: AsyncIterable<Row>;
  readonly columns: readonly string[];
  /** How complete and fresh the rows are, for rows of an answer. */
  readonly notes?: AnswerNotes;
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

/** Yields the lines of a CSV file. The last column has the notes of an answer. */
async function* writeCsv({ rows, columns, notes }: ExportedRows): AsyncGenerator<string> {
  yield formatCsvLine(notes === undefined ? columns : [...columns, CAVEATS_COLUMN]);
  const lastCells = notes === undefined ? [] : [formatNotesCell(notes)];
  for await (const row of rows) yield formatCsvLine([...columns.map(column => row[column]), ...lastCells]);
}

/** Yields the text of an object with rows and notes, or of an array if the rows are from no answer. */
async function* writeJson({ rows, columns, notes }: ExportedRows): AsyncGenerator<string> {
  const objects = selectCells(rows, columns);
  if (notes !== undefined) {
    yield* serializeAnswer(objects, notes, JSON.stringify);
    return;
  }
  let separator = '[\n';
  for await (const object of objects) {
    yield `${separator}${JSON.stringify(object)}`;
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

async function* selectCells(
  rows: AsyncIterable<Row>,
  columns: readonly string[],
): AsyncGenerator<Readonly<Record<string, string | number | null>>> {
  for await (const row of rows)
    yield Object.fromEntries(columns.map(column => [column, toJsonValue(row[column])]));
}

/** Converts a database value to JSON. A bigint becomes a string, because many JSON parsers would round the number. */
function toJsonValue(value: Value | undefined): string | number | null {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'bigint' ? String(value) : (value ?? null);
}
