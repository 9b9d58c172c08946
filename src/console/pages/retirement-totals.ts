import { describeTotals } from '../../query/answer/describe-totals.js';
import { collectRows } from '../../query/answer/answer.js';
import {
  GROUPINGS,
  type GroupTotalsAnswer,
  type Grouping,
  parseGroupings,
  readGroupTotals,
} from '../../query/lists/group-totals.js';
import type { ListRequest } from '../../query/lists/list-type.js';
import { RETIREMENTS } from '../../query/lists/list-definitions.js';
import type { Row } from '../../store/contract/tables.js';
import { renderCaveats, renderFreshnessOf, renderGaps } from '../components/answer.js';
import { AS_OF, withQuery } from '../components/as-of.js';
import { capitalize } from '../components/column-labels.js';
import { html, type Html } from '../components/html.js';
import { renderTable, type TableColumn } from '../components/table.js';
import { isNumericKind, renderValue } from '../components/table-cell.js';
import { createFilePages, renderFileLinks } from '../downloads.js';
import { readFilterChoices, renderFilters } from '../lists/list-filters.js';
import { parseListRequest } from '../lists/list-page.js';
import type { ConsolePage, ConsoleRequest, PageFault } from '../page.js';

const NAME = 'retirement-totals';
const PATH = `/${NAME}`;
const TITLE = 'Retirement totals';
const DEFAULT_GROUPING: Grouping = 'organization';
const URL_OPTIONS = { hasHistory: true, parameters: [...Object.keys(RETIREMENTS.filters), 'by'] };

/** The page of retirements that are added up in groups, and its downloads. */
export const RETIREMENT_TOTALS: readonly ConsolePage[] = [
  {
    path: PATH,
    ...URL_OPTIONS,
    render: async request => {
      const totalsRequest = await parseTotalsRequest(request);
      if ('fault' in totalsRequest) return totalsRequest;
      const { listRequest, groupings } = totalsRequest;
      const choices = await readFilterChoices(listRequest, request);
      const filters = renderFilters(RETIREMENTS, listRequest, request, choices, {
        path: PATH,
        fields: [{ label: 'by', input: renderGroupings(groupings), chosen: groupings.join(', ') }],
      });
      return {
        title: TITLE,
        body: html`<div class="head"><h1>Totals</h1>${filters}</div>`,
        renderRest: () => renderTotals(request, totalsRequest),
      };
    },
  },
  ...createFilePages(NAME, URL_OPTIONS, async request => {
    const totalsRequest = await parseTotalsRequest(request);
    if ('fault' in totalsRequest) return totalsRequest;
    const answer = await readTotals(request, totalsRequest);
    return { rows: answer.rows, columns: answer.columns.map(({ name }) => name), notes: answer };
  }),
];

interface TotalsRequest {
  readonly listRequest: ListRequest;
  readonly groupings: readonly Grouping[];
}

/**
 * Parses from the URL the filters of the retirements and the columns to group them by. Returns an error message for the visitor (a
 * fault) if a value is invalid.
 */
async function parseTotalsRequest(request: ConsoleRequest): Promise<TotalsRequest | PageFault> {
  const words = request.query.getAll('by').filter(word => word !== '');
  const groupings = parseGroupings(words.join(',') || DEFAULT_GROUPING);
  if ('fault' in groupings) return groupings;
  const listRequest = await parseListRequest(RETIREMENTS, request);
  return 'fault' in listRequest ? listRequest : { listRequest, groupings };
}

/** Reads the totals of retirements in each group. */
async function readTotals(
  { reader }: ConsoleRequest,
  { listRequest, groupings }: TotalsRequest,
): Promise<GroupTotalsAnswer> {
  return await readGroupTotals(reader, listRequest, groupings);
}

/** Renders a checkbox for each column by which retirements can be grouped, and checks the chosen ones. */
function renderGroupings(chosen: readonly Grouping[]): Html {
  return html`${GROUPINGS.map(
    grouping =>
      html`<label><input type="checkbox" name="by" value="${grouping}"${chosen.includes(grouping) && html` checked`}> ${grouping}</label>`,
  )}`;
}

/**
 * Renders three links: the totals of last year as known at the end of that year, the totals of last year as known now, and the
 * totals of this year.
 */
function renderYearLinks(query: URLSearchParams, now: number): Html {
  const thisYear = new Date(now).getUTCFullYear();
  const lastYear = String(thisYear - 1);
  const links = [
    { label: `${lastYear} as of its end`, year: lastYear, at: `${lastYear}-12-31` },
    { label: lastYear, year: lastYear, at: null },
    { label: String(thisYear), year: String(thisYear), at: null },
  ];
  return html`<span class="lead years">${links.map(
    link =>
      html`<a href="${withQuery(PATH, query, { year: link.year, [AS_OF]: link.at, from: null, until: null })}">${link.label}</a> `,
  )}</span>`;
}

/** Renders the table of totals per group, the grand total, and what may be missing from them. */
async function renderTotals(request: ConsoleRequest, totalsRequest: TotalsRequest): Promise<Html> {
  const answer = await readTotals(request, totalsRequest);
  const { now, query } = request;
  const replaced = answer.columns.flatMap(({ name, link }) =>
    link === null || link.idColumn === name ? [] : link.idColumn,
  );
  const columns = answer.columns
    .filter(({ name }) => !replaced.includes(name))
    .filter(({ name }) => name !== 'rows_without_amount' || answer.totals.rowsWithoutAmount > 0)
    .map(
      ({ name, label, kind, placeholder }): TableColumn<Row> => ({
        name: capitalize(name === 'rows' ? 'retirements' : label),
        numeric: isNumericKind(kind),
        isSum: kind === 'tonnes',
        cell: row =>
          row[name] === null && placeholder !== null
            ? html`<span class="quiet">${placeholder}</span>`
            : renderValue(kind, row[name], now),
      }),
    );
  const caption = describeTotals(answer.totals, RETIREMENTS.singular);
  return html`${renderCaveats(answer)}
<section id="rows">${renderTable(caption, columns, await collectRows(answer.rows), { empty: html`${answer.empty}`, captionExtra: html`${renderFileLinks(PATH, query, {})} ${renderFreshnessOf(answer, now)}${renderYearLinks(query, now)}` })}</section>
${renderGaps(answer)}`;
}
