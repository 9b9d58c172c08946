import type { Value } from '../store/contract/tables.js';
import type { AnswerNotes } from '../query/answer/answer.js';
import { describeUnknown } from '../query/answer/describe-notes.js';
import { CAVEATS_COLUMN, formatNotesCell, serializeAnswer } from '../query/answer/serialize.js';
import { type CodedValue, formatCsvCell, formatCsvLine } from '../text/csv.js';
import { withQuery } from './components/as-of.js';
import { html, type Html } from './components/html.js';
import type { ConsoleRequest, PageFault, ConsolePage } from './page.js';

/** A row of a file. JSON has codes as objects, and CSV as texts. */
export type ExportedRow = Readonly<Record<string, Value | CodedValue>>;

interface ExportedRows {
  readonly rows: AsyncIterable<ExportedRow>;
  readonly columns: readonly string[];
}

/** The rows of an answer, and how complete and fresh they are. */
interface ExportedAnswer extends ExportedRows {
  readonly notes: AnswerNotes;
}

/** File formats by extension. */
export const FILE_FORMATS = {
  csv: { type: 'text/csv; charset=utf-8', write: writeAnswerAsCsv },
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

/**
 * Creates two pages, `<baseName>.csv` and `<baseName>.json`, that a visitor downloads as files. If `readRows` returns an error
 * message (a fault) instead of the rows, the visitor sees this message instead of a file.
 */
export function createFilePages(
  baseName: string,
  urlOptions: Pick<ConsolePage, 'hasHistory' | 'parameters'>,
  readRows: (request: ConsoleRequest) => Promise<ExportedAnswer | PageFault>,
): readonly ConsolePage[] {
  return Object.entries(FILE_FORMATS).map(([extension, { type, write }]) => {
    return {
      path: `/${baseName}.${extension}`,
      ...urlOptions,
      render: async request => {
        const exported = await readRows(request);
        if ('fault' in exported) return exported;
        const unknown = describeUnknown(exported.notes);
        // For the present, the file says that nothing was read.
        if (exported.notes.at !== null && unknown !== null) return { fault: unknown };
        const name = `${formatFileName(baseName, request)}.${extension}`;
        return { type, name, text: write(exported) };
      },
    };
  });
}

/** Parameters of a URL that a file name repeats: those that choose a period. */
const PERIOD_PARAMETERS = ['year', 'since', 'from', 'until', 'to'];

/** Returns the name of a file without extension, such as `retirement-totals-2025-as-of-2025-12-31`. */
export function formatFileName(
  baseName: string,
  { query, at, isDemo }: Pick<ConsoleRequest, 'query' | 'at' | 'isDemo'>,
): string {
  const periods = PERIOD_PARAMETERS.flatMap(name => {
    const value = query.get(name) || null;
    return value === null ? [] : name === 'year' ? [value] : [name, value];
  });
  const date = at === null ? [] : ['as-of', at.replace('T23:59:59.999Z', '')];
  const parts = [...(isDemo ? ['demo'] : []), baseName, ...periods, ...date];
  // A header and a file system accept these characters only.
  return parts.map(part => part.replaceAll(/[^\w.-]+/g, '-')).join('-');
}

/** Yields the header and the rows of a CSV file, line by line. */
export async function* writeCsv({ rows, columns }: ExportedRows): AsyncGenerator<string> {
  yield formatCsvLine(columns);
  for await (const row of rows) yield formatCsvLine(columns.map(column => row[column]));
}

/** Yields the lines of a CSV file. The last cell of each line repeats the notes on how complete the rows are. */
async function* writeAnswerAsCsv({ rows, columns, notes }: ExportedAnswer): AsyncGenerator<string> {
  const notesCell = formatCsvCell(formatNotesCell(notes));
  yield formatCsvLine([...columns, CAVEATS_COLUMN]);
  for await (const row of rows)
    yield `${columns.map(column => formatCsvCell(row[column])).join(',')},${notesCell}\n`;
}

function writeJson({ rows, columns, notes }: ExportedAnswer): AsyncGenerator<string> {
  return serializeAnswer(selectCells(rows, columns), notes, JSON.stringify);
}

/** Yields the chosen columns of each row as values for JSON. */
async function* selectCells(
  rows: AsyncIterable<ExportedRow>,
  columns: readonly string[],
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  for await (const row of rows)
    yield Object.fromEntries(columns.map(column => [column, toJsonValue(row[column])]));
}

/**
 * Converts a cell value to one that `JSON.stringify` accepts: bytes to base64, and big integers to text. Values are converted
 * before the call of `JSON.stringify`, because a replacer function would take twice as long.
 */
function toJsonValue(value: ExportedRow[string] | undefined): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, typeof each === 'bigint' ? String(each) : each]),
  );
}
