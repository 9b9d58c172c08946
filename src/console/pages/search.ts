import { type FindRestatement, readLastRestatements } from '../../query/history/restated-fields.js';
import { RETIREMENTS } from '../../query/lists/list-definitions.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { findNumbered, type SearchHits, search, SEARCHED_ROWS } from '../../query/search.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import type { ConsoleRequest, ConsolePage } from '../page.js';
import { getText } from '../components/table-cell.js';
import { html, type Html } from '../components/html.js';
import { formatDay } from '../components/instants.js';
import { renderRestatedBadge } from '../components/badges.js';
import { labelOf } from '../../query/lists/column.js';
import { toDetailHref } from '../lists/list-columns.js';

/** A single character would match almost every row. */
const MIN_LENGTH = 2;
const MAX_LENGTH = 200;

/** The results of a search over all lists. A number also finds the rows with that id. */
export const SEARCH: ConsolePage = {
  path: '/search',
  parameters: ['q'],
  render: async ({ reader, query }: ConsoleRequest) => {
    const text = (query.get('q') ?? '').trim().slice(0, MAX_LENGTH);
    const listsWithNumber = /^\d{1,15}$/.test(text) ? await findNumbered(reader, Number(text)) : [];
    const isTooShort = text.length < MIN_LENGTH;
    const body = html`<h1>${isTooShort ? 'Search' : `Search for “${text}”`}</h1>
${listsWithNumber.length > 0 && html`<p>${listsWithNumber.map(list => html`<a href="${toDetailHref(list, String(Number(text)), null)}">${list.singular} ${Number(text)}</a> `)}</p>`}`;
    return {
      title: 'Search',
      body,
      renderRest: async () => {
        if (isTooShort) return SEARCH_HELP;
        const hits = await search(reader, text);
        return renderHits(hits, await readRestatementsOfHits(reader, hits));
      },
    };
  },
};

/**
 * Reads when the registry last restated the retirements among the search results. Returns a function that returns this instant for
 * one retirement, or null if the retirement was never restated.
 */
async function readRestatementsOfHits(reader: Reader, hits: readonly SearchHits[]): Promise<FindRestatement> {
  const rows = hits.filter(({ list }) => list === RETIREMENTS).flatMap(each => each.rows);
  return await readLastRestatements(reader, rows.map(toRetirementKey), null);
}

function toRetirementKey(row: Row) {
  return { organizationId: String(row['organization_id']), id: String(row['id']) };
}

/** Renders the number of search results, then the results grouped by list and column. */
function renderHits(hits: readonly SearchHits[], findRestatement: FindRestatement): Html {
  const count = hits.reduce((sum, { rows }) => sum + rows.length, 0);
  return html`<p id="found">${formatCount(count, 'result')}</p>
${hits.map(group => renderHitGroup(group, findRestatement))}
${SEARCH_HELP}`;
}

const SEARCH_HELP = html`<p>Search by the start of any id, or by text in the newest ${formatWithCommas(SEARCHED_ROWS)} rows of each table: names, serializations, beneficiaries, comments and errors. Up to ten results of each kind are shown: those by id in the order of the ids, those by text newest first.</p>`;

/**
 * Renders one group of search results: the rows of one list that match the search in the same column. The heading names the list
 * and the column.
 */
function renderHitGroup({ list, column, rows }: SearchHits, findRestatement: FindRestatement): Html {
  const renderBadge = (row: Row) => {
    const restatedAt = list === RETIREMENTS ? findRestatement(toRetirementKey(row)) : null;
    return restatedAt !== null && html` ${renderRestatedBadge(String(row['id']), restatedAt)}`;
  };
  return html`<section class="card"><h2>${list.title}, by ${labelOf(column)}</h2><ul class="hits">${rows.map(
    row =>
      html`<li><a href="${toDetailHref(list, String(row[list.idColumn]), null)}">${String(row[column])}</a> ${summarizeRow(row, column)}${renderBadge(row)}</li>`,
  )}</ul></section>`;
}

/** Summarizes a row that matches a search, such as "4 May 2026, 5 t, Acme, Peat bog, 2021". Leaves out the matching column. */
function summarizeRow(row: Row, matchedColumn: string): string {
  const amount = getText(row, 'amount_exact');
  const date = getText(row, 'created_at');
  const columns = ['full_name', 'beneficiary', 'project_name', 'vintage'].filter(
    column => column !== matchedColumn,
  );
  return [
    ...(date === null ? [] : [formatDay(date)]),
    ...(amount === null ? [] : [`${formatWithCommas(amount)} t`]),
    ...columns.flatMap(column => getText(row, column) ?? []),
  ].join(', ');
}
