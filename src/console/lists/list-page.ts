import type { Row, Value } from '../../store/contract/tables.js';
import { findOwnerColumn } from '../../resources/entry.js';
import { colourOf } from '../../query/freshness/words.js';
import { parseListRequest as parseFilters, getFilterText } from '../../query/lists/parse-request.js';
import { describeCaveat } from '../../query/answer/caveat.js';
import { findUnmatchedFilters } from '../../query/lists/unmatched-filters.js';
import { readNameOf } from '../../query/names.js';
import type { List, ListRequest } from '../../query/lists/list.js';
import { type ListPageRows, readPage, readSumOf, streamRows } from '../../query/lists/rows.js';
import { readCoverageAt, selectKnownIds } from '../../query/history/as-of.js';
import {
  FRESHNESS_COLUMNS,
  readStates,
  readStatesOfRows,
  sumFreshness,
  withFreshness,
} from '../../query/freshness/read.js';
import { formatCount, pluralize, formatWithCommas } from '../../text/numbers.js';
import { formatTonnes } from '../../text/tonnes.js';
import type { ConsoleRequest, PageFault, ConsolePage } from '../page.js';
import { describeFilterFault } from '../filter-fault.js';
import { withAsOf, withQuery } from '../components/as-of.js';
import { renderFreshness, renderAsOfCoverage } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { renderTable } from '../components/table.js';
import { describeRowsWithoutAmount } from '../components/amounts.js';
import { renderFileLinks, createFilePages } from '../downloads.js';
import { createListColumns } from './list-columns.js';
import { type FilterChoices, readFilterChoices, renderFilters } from './list-filters.js';

const PAGE_SIZE = 50;

/** Creates the page of a list and the routes that download the list's rows. */
export function createListPages(list: List): readonly ConsolePage[] {
  const { name, title, past } = list;
  const urlOptions = { hasHistory: past !== null, parameters: Object.keys(list.filters) };
  const page: ConsolePage = {
    path: `/${name}`,
    ...urlOptions,
    parameters: [...urlOptions.parameters, 'after'],
    render: async request => {
      const listRequest = await parseListRequest(list, request);
      if ('fault' in listRequest) return listRequest;
      const choices = await readFilterChoices(list, request);
      return {
        title,
        body: html`<h1>${title}</h1>
${renderFilters(list, listRequest, request, choices)}`,
        // Rows may take long to read, so they are sent after the filters.
        renderRest: () => renderRows(listRequest, request, choices),
      };
    },
  };
  return [page, ...createFilePages(name, urlOptions, request => readExportedRows(list, request))];
}

/** Streams all rows of a list for a download. Adds freshness columns to current data. */
async function readExportedRows(list: List, request: ConsoleRequest) {
  const { reader, at } = request;
  const parsedRequest = await parseListRequest(list, request);
  if ('fault' in parsedRequest) return parsedRequest;
  const states = at === null ? await readStates(reader, list.resource, null) : null;
  const { listRequest, coverage } = await restrictToKnownOrganizations(parsedRequest, request);
  if (coverage.length > 0 && selectKnownIds(coverage).length === 0)
    return { fault: 'Nothing is known about this list at that time.' };
  const rows = streamRows(reader, listRequest);
  const columns = parsedRequest.list.columns.map(({ name }) => name);
  if (states === null) return { rows, columns };
  return { rows: withFreshness(rows, states), columns: [...columns, ...FRESHNESS_COLUMNS] };
}

/** Parses the list filters in the URL. Returns a fault if a filter value is invalid. */
async function parseListRequest(
  list: List,
  { reader, query, at, now }: ConsoleRequest,
): Promise<ListRequest | PageFault> {
  const listRequest = await parseFilters(reader, list, { getText: name => query.get(name), at, now });
  return 'fault' in listRequest ? { fault: describeFilterFault(listRequest) } : listRequest;
}

/** Limits a request for a past instant to organizations whose list had been read by then. */
async function restrictToKnownOrganizations(
  listRequest: ListRequest,
  { reader, at }: Pick<ConsoleRequest, 'reader' | 'at'>,
) {
  const { resource, entry } = listRequest.list;
  const column = entry && findOwnerColumn(entry);
  if (at === null || resource === null || column === null) return { listRequest, coverage: [] };
  const organizationId = getFilterText(listRequest, 'organization_id');
  const coverage = await readCoverageAt(reader, { resource, at, organizationId });
  return {
    listRequest: {
      ...listRequest,
      where: [...listRequest.where, { column, among: selectKnownIds(coverage) }],
    },
    coverage,
  };
}

/** Renders one page of a list: how fresh the data is, the table of rows, the pagination links and the SQL query. */
async function renderRows(
  parsedRequest: ListRequest,
  request: ConsoleRequest,
  choices: FilterChoices,
): Promise<Html> {
  const { reader, now, query, at } = request;
  const { listRequest, coverage } = await restrictToKnownOrganizations(parsedRequest, request);
  const { list } = listRequest;
  const { name, resource } = list;
  const organizationId = getFilterText(listRequest, 'organization_id');
  const freshness =
    at === null && resource !== null ? await sumFreshness(reader, resource, organizationId) : [];
  const areAllFresh = freshness.every(sum => colourOf(sum) === 'good');
  const after = parseCursor(query.get('after'), list.order.length);
  const page = await readPage(reader, { ...listRequest, after, limit: PAGE_SIZE });
  const states = areAllFresh ? null : await readStatesOfRows(reader, resource, page.rows);
  const caption = describeRows(list, page, {
    owner: organizationId && ((await readNameOf(reader, organizationId, at)) ?? organizationId),
    filters: describeFilters(listRequest, page.rows, choices),
    available: states === null ? '' : await describeAvailable(request, listRequest, page),
  });
  const columns = createListColumns(list, request, states);
  return html`${at === null && resource !== null && renderFreshness(freshness, now)}
<section id="rows" data-live>${renderTable(caption, columns, page.rows, { empty: await explainEmptyList(reader, listRequest), captionExtra: renderFileLinks(`/${name}`, query, { after: null }) })}
${renderPageLinks(`/${name}`, query, page)}
</section>
${coverage.length > 0 && renderAsOfCoverage(coverage)}
<details><summary>SQL of this page</summary><pre>${page.sql}</pre></details>`;
}

/** Renders the pagination links "First page" and "Next page". */
function renderPageLinks(path: string, query: URLSearchParams, { next }: ListPageRows): Html {
  const renderLink = (label: string, after: string | null, rel: Html | false = false) =>
    html`<a href="${withQuery(path, query, { after })}"${rel}>${label}</a>`;
  return html`<p class="links">${query.has('after') && renderLink('First page', null)}
${next !== null && renderLink('Next page', formatCursor(next), html` rel="next"`)}</p>`;
}

/** Describes the active filters, such as `project Peat bog, vintage 2021`. */
function describeFilters(listRequest: ListRequest, rows: readonly Row[], choices: FilterChoices): string {
  const [firstRow] = rows;
  const haveOneProject = rows.every(row => row['project_id'] === firstRow?.['project_id']);
  const describeValue = (filter: string): string => {
    const value = getFilterText(listRequest, filter) ?? '';
    const label = choices.get(filter)?.find(choice => choice.value === value)?.says;
    const projectName =
      filter === 'project_id' && value !== '' && haveOneProject ? firstRow?.['project_name'] : null;
    return label ?? String(projectName ?? value);
  };
  return Object.keys(listRequest.list.filters)
    .filter(filter => filter !== 'organization_id' && describeValue(filter) !== '')
    .map(filter => `${listRequest.list.filters[filter]?.label ?? filter} ${describeValue(filter)}`)
    .join(', ');
}

/** Returns the available amount of the warehouse, such as `of which 5 t are available now`, or ''. */
async function describeAvailable(
  { reader }: ConsoleRequest,
  listRequest: ListRequest,
  { sum, count }: ListPageRows,
): Promise<string> {
  const { isOffer, resource } = listRequest.list;
  if (!isOffer || sum === null || count === 0) return '';
  const states = await readStates(reader, resource, getFilterText(listRequest, 'organization_id'));
  const available = await readSumOf(reader, listRequest, states?.fresh ?? []);
  return `of which ${formatTonnes(available)} t are available now`;
}

interface CaptionOptions {
  readonly owner: string | null;
  readonly filters: string;
  readonly available: string;
}

/** Returns the caption of a list, such as `3 retirements of Acme (vintage 2021): 12 t`. */
function describeRows(
  { singular }: List,
  { count, isCountedToTheEnd, sum }: ListPageRows,
  { owner, filters, available }: CaptionOptions,
): string {
  const rows = isCountedToTheEnd
    ? formatCount(count, singular)
    : `More than ${formatWithCommas(count)} ${pluralize(singular)}`;
  const caption = `${rows}${owner === null ? '' : ` of ${owner}`}${filters && ` (${filters})`}`;
  if (sum === null || count === 0) return caption;
  return `${caption}: ${formatTonnes(sum.amount_micro)} t${available && `, ${available}`}.${describeRowsWithoutAmount(sum.rows_without_amount)}`;
}

/** Explains why a list has no rows. Adds a link to the list without filters. */
async function explainEmptyList(reader: ConsoleRequest['reader'], listRequest: ListRequest): Promise<Html> {
  const { list, at, filters } = listRequest;
  if (filters.length === 0)
    return at === null ? html`${list.empty}` : html`No ${list.plural} are known at that time.`;
  const reasons = (await findUnmatchedFilters(reader, listRequest)).map(describeCaveat);
  const allLink = html`<a href="${withAsOf(`/${list.name}`, at)}">Show all ${list.plural}</a>`;
  return html`No ${list.plural} match these filters. ${reasons.map(reason => `${reason} `)}${allLink}`;
}

/** Encodes the sort values of the last row as a pagination cursor for the URL. */
function formatCursor(values: readonly Value[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** Parses a pagination cursor from the URL. Returns null if the cursor is invalid. */
function parseCursor(text: string | null, columnCount: number): readonly Value[] | null {
  if (text === null) return null;
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(values) && values.length === columnCount && values.every(isCursorValue)
      ? values
      : null;
  } catch {
    return null;
  }
}

function isCursorValue(value: unknown): value is Value {
  return value === null || typeof value === 'string' || typeof value === 'number';
}
