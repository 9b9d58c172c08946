import { describeNotes, describeUnknown } from '../../query/answer/describe-notes.js';
import { collectRows } from '../../query/answer/answer.js';
import { CAVEATS_COLUMN, toJson } from '../../query/answer/serialize.js';
import {
  ALL_COMPARED_ROWS,
  COMPARABLE_LISTS,
  compareList,
  type ComparisonAnswer,
  parseComparedLists,
  USUALLY_COMPARED_LISTS,
} from '../../query/history/comparison.js';
import {
  COMPARISON_AMOUNT_COLUMNS,
  describeCounts,
  describeType,
  listCsvColumns,
  streamCsvRows,
  serializeComparisons,
  toAmountCells,
} from '../../query/history/describe-comparison.js';
import { RESTATED_FIELD_COLUMNS } from '../../query/history/restated-fields.js';
import type { ListColumn } from '../../query/lists/column.js';
import type { List } from '../../query/lists/list-type.js';
import { readChoices } from '../../query/names.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { nameColumn } from '../../text/describe-change.js';
import { parseTimeRange } from '../../text/time-range.js';
import { renderGaps } from '../components/answer.js';
import { withQuery } from '../components/as-of.js';
import { capitalize } from '../components/column-labels.js';
import { createDateField, renderChoice, renderFilterBar } from '../components/filter-bar.js';
import { html, type Html } from '../components/html.js';
import { renderInstant, renderInstantsIn } from '../components/instants.js';
import { renderTable, type TableColumn } from '../components/table.js';
import { isNumericKind, renderValue, ZERO, NO_VALUE } from '../components/table-cell.js';
import { FILE_FORMATS, formatFileName, renderFileLinks, writeCsv } from '../downloads.js';
import { findChosenOrganization } from '../filter-fault.js';
import { toDetailHref } from '../lists/list-columns.js';
import type { ConsolePage, ConsoleRequest, FileContent, PageFault } from '../page.js';

const TITLE = 'Compare two dates';
const PATH = '/compare';
const PARAMETERS = ['from', 'to', 'list', 'organization_id'];
const DEFAULT_TO = 'now';
/** How many rows of each list are shown. The files have all. */
const MAX_ROWS = 100;

/** The page that compares lists at two instants, and its downloads. */
export const COMPARE: readonly ConsolePage[] = [
  {
    path: PATH,
    parameters: PARAMETERS,
    render: async request => {
      const comparison = await parseComparison(request);
      const isFault = 'fault' in comparison;
      return {
        title: TITLE,
        body: html`<div class="head"><h1>${TITLE}</h1>${await renderComparisonFilters(request)}</div>${isFault && html`<p>${comparison.fault}</p>`}`,
        ...(!isFault && { renderRest: () => renderComparison(request, comparison) }),
      };
    },
  },
  createFilePage('csv', writeComparisonsAsCsv),
  createFilePage('json', (answers, { organizationId, from, to }) =>
    serializeComparisons({ organization_id: organizationId, from, to }, answers, toJson),
  ),
];

type WriteFile = (answers: readonly ComparisonAnswer[], comparison: PageComparison) => AsyncGenerator<string>;

/**
 * Creates the page that a visitor downloads as a file with the rows of all compared lists. `write` formats the rows as CSV or JSON.
 */
function createFilePage(extension: keyof typeof FILE_FORMATS, write: WriteFile): ConsolePage {
  return {
    path: `${PATH}.${extension}`,
    parameters: PARAMETERS,
    render: async (request): Promise<FileContent | PageFault> => {
      const comparison = await parseComparison(request);
      if ('fault' in comparison) return comparison;
      const answers = await readComparisons(request.reader, comparison, ALL_COMPARED_ROWS);
      const unknown = answers.map(describeUnknown);
      if (unknown.every(reason => reason !== null)) return { fault: unknown[0] ?? '' };
      const name = `${formatFileName('compare', request)}.${extension}`;
      return { type: FILE_FORMATS[extension].type, name, text: write(answers, comparison) };
    },
  };
}

function writeComparisonsAsCsv(answers: readonly ComparisonAnswer[]): AsyncGenerator<string> {
  return writeCsv({ rows: streamCsvRows(answers), columns: [...listCsvColumns(answers), CAVEATS_COLUMN] });
}

/** The lists and instants that a URL asks for. */
interface PageComparison {
  readonly lists: readonly List[];
  readonly organizationId: string | null;
  readonly from: string;
  readonly to: string;
}

/** Returns the last day of the last year. */
function getLastYearEnd(now: number): string {
  return `${new Date(now).getUTCFullYear() - 1}-12-31`;
}

/**
 * Parses the dates, lists and organization in the URL. Returns an error message for the visitor (a fault) if a value is invalid.
 */
async function parseComparison({ reader, query, now }: ConsoleRequest): Promise<PageComparison | PageFault> {
  const from = parseTimeRange(query.get('from') || getLastYearEnd(now), now);
  const to = parseTimeRange(query.get('to') || DEFAULT_TO, now);
  if ('fault' in from) return from;
  if ('fault' in to) return to;
  if (from.until > to.until)
    return { fault: `The later date, ${to.until}, is before the earlier date, ${from.until}.` };
  const lists = parseComparedLists(query.get('list') || USUALLY_COMPARED_LISTS);
  if ('fault' in lists) return lists;
  const organizationId = await findChosenOrganization(reader, query);
  if (organizationId !== null && typeof organizationId !== 'string') return organizationId;
  return { lists, organizationId, from: from.until, to: to.until };
}

/** Compares each list at two instants, one list after the other. `range` limits the rows of each list. */
async function readComparisons(
  reader: Reader,
  { lists, organizationId, from, to }: PageComparison,
  range: typeof ALL_COMPARED_ROWS,
): Promise<ComparisonAnswer[]> {
  const answers: ComparisonAnswer[] = [];
  for (const list of lists)
    answers.push(await compareList(reader, { list, organizationId, from, to }, range));
  return answers;
}

/** Renders the filter form of the comparison page: the two dates, the list and the organization. */
async function renderComparisonFilters({ reader, query, now }: ConsoleRequest): Promise<Html> {
  const organizations = await readChoices(reader, 'organizations', null);
  const lists = COMPARABLE_LISTS.map(({ name, title }) => ({ value: name, label: title }));
  return renderFilterBar(PATH, [
    createDateField({ query, now }, 'from', { edge: 'end', example: getLastYearEnd(now) }),
    createDateField({ query, now }, 'to', { edge: 'end', example: DEFAULT_TO }),
    {
      label: 'list',
      input: renderChoice('list', lists, query.get('list'), USUALLY_COMPARED_LISTS.replaceAll(',', ', ')),
    },
    {
      label: 'organization',
      input: renderChoice('organization_id', organizations, query.get('organization_id')),
    },
  ]);
}

/** Compares the lists in one database snapshot. Renders their totals side by side, then the rows of each list that differ. */
async function renderComparison(request: ConsoleRequest, comparison: PageComparison): Promise<Html> {
  const { reader } = request;
  return await reader.inSnapshot(async snapshot => {
    const answers = await readComparisons(snapshot, comparison, { limit: MAX_ROWS, after: null });
    const known = answers.filter(answer => describeUnknown(answer) === null);
    const unknown = answers.filter(answer => !known.includes(answer));
    const gaps = answers.flatMap(answer => answer.gaps);
    const sections: Html[] = [];
    for (const answer of known) sections.push(await renderRows(answer, request));
    return html`${known.length > 0 && renderTotals(known, comparison, request)}
${unknown.map(answer => html`<p>${answer.list.title}: ${renderInstantsIn(describeUnknown(answer) ?? '')}</p>`)}
${sections}
${renderGaps({ gaps })}
${known.map(({ list, sql }) => html`<details><summary>SQL of ${list.plural}</summary><pre>${sql}</pre></details>`)}`;
  });
}

interface TotalLine {
  readonly answer: ComparisonAnswer;
  readonly type: string;
  readonly cells: Readonly<Record<string, string>>;
}

/**
 * Renders a table of totals, with one line for each list and credit type. Says how many of the known organizations each line
 * covers.
 */
function renderTotals(
  answers: readonly ComparisonAnswer[],
  { from, to }: PageComparison,
  { query, now }: ConsoleRequest,
): Html {
  const lines = answers.flatMap(answer =>
    answer.amounts.map(
      (sum): TotalLine => ({ answer, type: describeType(answer.list, sum.type), cells: toAmountCells(sum) }),
    ),
  );
  const columns: readonly TableColumn<TotalLine>[] = [
    { name: 'List', cell: ({ answer }) => answer.list.title },
    { name: 'Tonnes', cell: ({ type }) => type },
    ...COMPARISON_AMOUNT_COLUMNS.map(name => ({
      name: capitalize(name),
      numeric: true,
      cell: ({ cells }: TotalLine) => (cells[name] === '0' ? ZERO : renderValue('tonnes', cells[name], now)),
      isSum: name === 'difference',
    })),
    {
      name: 'Organizations',
      cell: ({ answer: { coverage } }) => `${coverage.counted} of ${coverage.known}`,
    },
  ];
  return html`<section id="totals">${renderTable('Totals in tonnes', columns, lines, { empty: 'The compared lists have no amounts.', captionExtra: html` <span class="lead">from ${renderInstant(from)} to ${renderInstant(to)}, as the mirror had observed them</span>${renderFileLinks(PATH, query, {})}` })}</section>`;
}

/** Renders the rows of a list that differ between two instants, then notes on how complete the mirror was at each instant. */
async function renderRows(answer: ComparisonAnswer, { query, now }: ConsoleRequest): Promise<Html> {
  const { from, to, empty, list } = answer;
  const rows = await collectRows(answer.rows);
  // Three columns without values would make a wide table wider than the window.
  const hasChangedFields = rows.some(hasFieldsBesideAmount);
  const columns = selectShownColumns(answer).filter(
    ({ name }) => hasChangedFields || !CHANGE_COLUMNS.includes(name),
  );
  const shown = columns.map(
    (column): TableColumn<Row> => ({
      name: capitalize(column.label),
      numeric: isNumericKind(column.kind),
      isSum: column.name === 'difference',
      isImportant: column.isImportant,
      cell: row => renderRowCell(answer, row, column, now),
    }),
  );
  const sentences = [
    ...describeNotes({ ...answer, gaps: [] }),
    ...[from, to].flatMap(side =>
      describeNotes({ ...side, coverage: null, gaps: [] }).map(note => `At ${side.at}: ${note}`),
    ),
  ];
  const files = renderFileLinks(
    PATH,
    new URLSearchParams(withQuery('', query, { list: list.name }).slice(1)),
    {},
  );
  return html`<section id="${list.name}"><h2>${list.title}</h2>
${renderTable(describeCounts(answer), shown, rows, { empty, captionExtra: files, hasRowLinks: list.detailList !== null })}
<p class="lead">${sentences.map(sentence => html`${renderInstantsIn(sentence)} `)}</p></section>`;
}

/** Returns the column that identifies a row of a compared list to people. */
const getNameColumn = ({ columns }: List) => columns.find(({ isName }) => isName) ?? columns[0];

/**
 * Selects the columns of a table of compared rows, names first. Omits an id if the table shows a name instead. If each row has its own
 * page, also omits the column `serialization` (serial numbers of credits) and the ids without a link, because that page shows them.
 */
function selectShownColumns({ list, columns }: ComparisonAnswer): ListColumn[] {
  const replacedIds = columns.flatMap(({ name, link }) =>
    link === null || link.idColumn === name ? [] : link.idColumn,
  );
  const isOnRowPage = ({ name, kind, link }: ListColumn) =>
    list.detailList !== null && (name === 'serialization' || (kind === 'id' && link === null));
  const isName = ({ name }: ListColumn) => name === getNameColumn(list)?.name;
  return columns
    .filter(column => !replacedIds.includes(column.name) && !isOnRowPage(column))
    .toSorted((one, other) => Number(isName(other)) - Number(isName(one)));
}

/** The columns that say what changed in a row. */
const CHANGE_COLUMNS: readonly string[] = RESTATED_FIELD_COLUMNS;

/** Returns whether fields of a row changed that no other column shows. The columns of tonnes show a change of the amount. */
function hasFieldsBesideAmount({ fields }: Row): boolean {
  return fields !== null && fields !== nameColumn('amount_exact');
}

/** Renders a cell of a row. The name links to the page of the row, at the earlier instant if the row was removed. */
function renderRowCell(
  { list, from }: ComparisonAnswer,
  row: Row,
  { name, kind, placeholder }: ListColumn,
  now: number,
): Html {
  if (CHANGE_COLUMNS.includes(name) && !hasFieldsBesideAmount(row)) return NO_VALUE;
  const value = row[name];
  const content =
    placeholder !== null && !value
      ? html`<span class="quiet">${placeholder}</span>`
      : renderValue(kind, value, now);
  if (name !== getNameColumn(list)?.name || list.detailList === null) return content;
  const at = row['change'] === 'removed' ? from.at : null;
  return html`<a href="${toDetailHref(list, String(row[list.idColumn]), at)}">${content}</a>`;
}
