import type { Relation } from '../../store/contract/describe-schema.js';
import type { Row } from '../../store/contract/tables.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import type { PageContent } from '../page.js';
import { html, type Html } from '../components/html.js';
import { renderPageToken } from '../components/page-token.js';
import { renderTable } from '../components/table.js';
import { toDisplayValue } from '../components/display-value.js';
import { COMMON_RELATIONS, getQualifiedName } from '../../query/sql-names.js';
import type { QueryResult, SavedQuery } from './sql-runner.js';

interface QueryPageOptions {
  readonly sql: string;
  /** Null before a query was run. */
  readonly result: QueryResult | null;
  readonly relations: readonly Relation[];
  readonly savedQueries: readonly SavedQuery[];
  readonly pageToken: string;
}

const EDITOR_LINES = 10;
/** Renders the SQL page: the query, its result, the saved queries and the schema. */
export function renderSqlPage({
  sql,
  result,
  relations,
  savedQueries,
  pageToken,
}: QueryPageOptions): PageContent {
  const body = html`<h1>SQL query</h1>
<div class="columns"><form class="ask card" method="post" action="/ask">${renderPageToken(pageToken)}<label>Read-only SQL
<textarea name="sql" rows="${EDITOR_LINES}" spellcheck="false" required>${sql}</textarea></label>
<p class="links"><button class="first">Run</button> <button name="form" value="csv">Download CSV</button> <span class="quiet"><kbd>Ctrl</kbd> <kbd>Enter</kbd> runs it</span></p></form>
<section class="card"><h2>Saved queries</h2><p class="quiet">Click one to load it, then press Run.</p><ul>${savedQueries.map(
    query =>
      html`<li><a href="/ask?${new URLSearchParams({ sql: query.sql }).toString()}">${query.title}</a></li>`,
  )}</ul></section></div>
${result !== null && renderQueryResult(result)}
<div class="columns">${renderSchema(relations)}
<section class="card"><h2>Other tools</h2><p><code>carbon-mirror snapshot FILE</code> copies the current mirror into one SQLite file for sqlite3, Datasette, DuckDB or pandas.</p></section></div>`;
  return { title: 'SQL query', body };
}

/** Renders the rows of a query as a table, or the reason why the query failed. */
function renderQueryResult(result: QueryResult): Html {
  if ('fault' in result) return html`<p role="alert" class="fault">${result.fault}</p>`;
  const { columns, rows, hasMore } = result;
  const caption = hasMore
    ? `First ${formatWithCommas(rows.length)} rows; the CSV has all of them`
    : formatCount(rows.length, 'row');
  return html`<section id="answer">${renderTable(
    caption,
    columns.map(column => ({
      name: column,
      cell: (row: Row) => toDisplayValue(row[column]),
      numeric: rows.every(row => !['string', 'object'].includes(typeof (row[column] ?? 0))),
    })),
    rows,
  )}</section>`;
}

/** Renders the tables and views that a query may use. Puts the less common ones into a collapsed section. */
function renderSchema(relations: readonly Relation[]): Html {
  const isCommon = ({ name }: Relation) => COMMON_RELATIONS.includes(name);
  const others = relations.filter(relation => !isCommon(relation));
  return html`<section class="card"><h2>Tables and views</h2>${relations.filter(isCommon).map(renderRelation)}<details><summary>${formatCount(others.length, 'other table or view', 'other tables and views')}</summary>${others.map(renderRelation)}</details></section>`;
}

/** Renders a table or view of the database: its name, description and columns. */
function renderRelation(relation: Relation): Html {
  return html`<details><summary><code>${getQualifiedName(relation)}</code> (${relation.kind})</summary><p>${relation.meaning}</p><dl class="facts">${relation.columns.map(
    column => html`<dt><code>${column.name}</code></dt><dd>${column.meaning}</dd>`,
  )}</dl></details>`;
}
