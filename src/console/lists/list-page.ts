import type { Row, Value } from '../../store/contract/tables.js';
import { describeHeld, describeTotals } from '../../query/answer/describe-totals.js';
import { collectRows } from '../../query/answer/answer.js';
import { type FindRestatement, readLastRestatements } from '../../query/history/restated-fields.js';
import { parseListRequest as parseFilters, getFilterText, SORT } from '../../query/lists/parse-request.js';
import { MOST_CHOICES, readNameOf, readUnlistedProjects } from '../../query/names.js';
import type { List, ListRequest } from '../../query/lists/list-type.js';
import { type ListAnswer, readList } from '../../query/lists/read-list.js';
import type { ConsoleRequest, PageFault, ConsolePage } from '../page.js';
import { describeFilterFault } from '../filter-fault.js';
import { renderCaveats, renderFreshnessOf, renderGaps } from '../components/answer.js';
import { withAsOf, withQuery } from '../components/as-of.js';
import { html, type Html } from '../components/html.js';
import { renderTable } from '../components/table.js';
import { renderDetailLink } from '../components/table-cell.js';
import { renderFileLinks, createFilePages } from '../downloads.js';
import { createListColumns } from './list-columns.js';
import { type FilterChoices, readFilterChoices, renderFilters } from './list-filters.js';

const PAGE_SIZE = 50;

/** Creates the page of a list and the routes that download the list's rows. */
export function createListPages(list: List): readonly ConsolePage[] {
  const { name, title, past } = list;
  const sortParameter = list.sorts.length > 0 ? [SORT] : [];
  const urlOptions = {
    hasHistory: past !== null,
    parameters: [...Object.keys(list.filters), ...sortParameter],
  };
  const page: ConsolePage = {
    path: `/${name}`,
    ...urlOptions,
    parameters: [...urlOptions.parameters, 'after'],
    render: async request => {
      const listRequest = await parseListRequest(list, request);
      if ('fault' in listRequest) return listRequest;
      const choices = await readFilterChoices(listRequest, request);
      return {
        title,
        body: html`<div class="head"><h1>${title}</h1>${renderFilters(list, listRequest, request, choices)}</div>`,
        // Rows may take long to read, so they are sent after the filters.
        renderRest: () => renderRows(listRequest, request, choices),
      };
    },
  };
  return [page, ...createFilePages(name, urlOptions, request => readExportedRows(list, request))];
}

/**
 * Reads all rows of a list that match the filters in the URL, for a download. Returns an error message for the visitor (a fault) if
 * a filter value is invalid.
 */
async function readExportedRows(list: List, request: ConsoleRequest) {
  const listRequest = await parseListRequest(list, request);
  if ('fault' in listRequest) return listRequest;
  const answer = await readList(request.reader, listRequest, { kind: 'all' });
  return { rows: answer.rows, columns: answer.columns, notes: answer };
}

/** Parses the list filters in the URL. Returns an error message for the visitor (a fault) if a filter value is invalid. */
export async function parseListRequest(
  list: List,
  { reader, query, at, now }: ConsoleRequest,
): Promise<ListRequest | PageFault> {
  const listRequest = await parseFilters(reader, list, { getText: name => query.get(name), at, now });
  return 'fault' in listRequest ? { fault: describeFilterFault(listRequest) } : listRequest;
}

/** Renders one page of a list: how fresh the data is, the table of rows, the pagination links and the SQL query. */
async function renderRows(
  listRequest: ListRequest,
  request: ConsoleRequest,
  choices: FilterChoices,
): Promise<Html> {
  const { reader, now, query } = request;
  const { name, order } = listRequest.list;
  const after = parseCursor(query.get('after'), order.length);
  const answer = await readList(reader, listRequest, { kind: 'page', limit: PAGE_SIZE, after });
  const rows = await collectRows(answer.rows);
  const owner = await describeSubject(listRequest, request, rows, choices);
  const { totals, available, held, subject, list } = answer;
  const isEmpty = totals.rows === 0;
  const total = describeTotals(totals, list.singular, {
    subject: [isEmpty ? '' : subject, owner].filter(text => text !== '').join(' '),
    available,
  });
  const caption = held === null || isEmpty ? total : `${total}. ${describeHeld(held)}`;
  const columns = createListColumns(answer.list, request, {
    freshness: answer.rowFreshness,
    findRestatement: await readRestatementsOf(listRequest, rows, reader),
  });
  const captionExtra = html`${renderFileLinks(`/${name}`, query, { after: null })}${renderTotalsLink(listRequest.list, query)} ${renderFreshnessOf(answer, now)}`;
  return html`${renderCaveats(answer)}
<section id="rows" data-live>${renderTable(caption, columns, rows, { empty: renderEmpty(listRequest, answer), captionExtra, hasRowLinks: true })}
${renderPageLinks(`/${name}`, query, answer)}
</section>
${name === 'projects' && listRequest.filters.length === 0 && (await renderUnlistedProjects(request))}
${renderGaps(answer)}
<details><summary>SQL of this page</summary><pre>${answer.sql}</pre></details>`;
}

/**
 * Renders links to the projects that are known only because credits or retirements refer to them; the registry has not shown these
 * projects. Returns false if there are none.
 */
async function renderUnlistedProjects({ reader, at }: ConsoleRequest): Promise<Html | false> {
  const projects = await readUnlistedProjects(reader, at);
  if (projects.length === 0) return false;
  const links = projects
    .slice(0, MOST_CHOICES)
    .map(({ id, name }) => html`<li>${renderDetailLink('project_id', id, html`${name ?? id}`, at)}</li>`);
  return html`<section id="unlisted" class="card" data-live><h2>Projects known only from credits and retirements</h2><p>The registry does not show them to the app, or has not been asked for them yet.</p><ul>${links}</ul>${projects.length > MOST_CHOICES && html`<p>There are more.</p>`}</section>`;
}

/**
 * Reads when the registry last restated the retirements in `rows`. Returns a function that returns this instant for one retirement,
 * or null if the retirement was never restated. Returns null instead of a function unless the list contains retirements or
 * certificates.
 */
async function readRestatementsOf(
  { list: { name, idColumn }, at }: ListRequest,
  rows: readonly Row[],
  reader: ConsoleRequest['reader'],
): Promise<FindRestatement | null> {
  if (name !== 'retirements' && name !== 'certificates') return null;
  const keys = rows.map(row => ({
    organizationId: String(row['organization_id']),
    id: String(row[idColumn]),
  }));
  return await readLastRestatements(reader, keys, at);
}

/** Renders a link to the totals with the same filters. Returns false unless the list is about retirements. */
function renderTotalsLink({ name }: List, query: URLSearchParams): Html | false {
  if (name !== 'retirements') return false;
  return html` <a href="${withQuery('/retirement-totals', query, { after: null, [SORT]: null })}">Totals</a>`;
}

/** Renders the pagination links "First page" and "Next page". */
function renderPageLinks(path: string, query: URLSearchParams, { next }: Pick<ListAnswer, 'next'>): Html {
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
    const label = choices.get(filter)?.find(choice => choice.value === value)?.label;
    const projectName =
      filter === 'project_id' && value !== '' && haveOneProject ? firstRow?.['project_name'] : null;
    return label ?? String(projectName ?? value);
  };
  return Object.keys(listRequest.list.filters)
    .filter(filter => filter !== 'organization_id' && describeValue(filter) !== '')
    .map(filter => `${listRequest.list.filters[filter]?.label ?? filter} ${describeValue(filter)}`)
    .join(', ');
}

/** Describes the rows of a list by their organization and the active filters, such as `of Acme (vintage 2021)`. */
async function describeSubject(
  listRequest: ListRequest,
  { reader, at }: ConsoleRequest,
  rows: readonly Row[],
  choices: FilterChoices,
): Promise<string> {
  const organizationId = getFilterText(listRequest, 'organization_id');
  const owner = organizationId && ((await readNameOf(reader, organizationId, at)) ?? organizationId);
  const filters = describeFilters(listRequest, rows, choices);
  return [owner && `of ${owner}`, filters && `(${filters})`].filter(Boolean).join(' ');
}

/** Renders why a list has no rows, with a link to the list without filters. */
function renderEmpty({ list, at, filters }: ListRequest, { empty }: ListAnswer): Html {
  if (filters.length === 0) return html`${empty}`;
  return html`${empty} <a href="${withAsOf(`/${list.name}`, at)}">Show all ${list.plural}</a>`;
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
