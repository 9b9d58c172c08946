import type { Relation } from '../../store/contract/relation.js';
import type { Row } from '../../store/contract/tables.js';
import { formatCount, withThousands } from '../../text/numbers.js';
import type { Shown } from '../page.js';
import { html, type Html } from '../components/html.js';
import { table } from '../components/table.js';
import { shown } from '../components/words.js';
import type { Reply, ReadyQuestion } from './asking.js';

interface Asked {
  readonly sql: string;
  /** Null before anything was asked. */
  readonly outcome: Reply | null;
  readonly relations: readonly Relation[];
  readonly ready: readonly ReadyQuestion[];
}

const LINES = 10;
/** What people ask for first. */
const WANTED = 'available_credits retirements warehouse_credits freshness changes certificates'.split(' ');

/** A question in SQL, what came of it, and beside it what there is to ask for. */
export function showAsk({ sql, outcome, relations, ready }: Asked): Shown {
  const isWanted = ({ name }: Relation) => WANTED.includes(name);
  const others = relations.filter(each => !isWanted(each));
  const body = html`<h1>Ask in SQL</h1>
<div class="columns"><form class="ask card" method="post" action="/ask"><label>One statement that reads
<textarea name="sql" rows="${LINES}" spellcheck="false" required>${sql}</textarea></label>
<p class="links"><button class="first">Ask</button> <button name="form" value="csv">As CSV</button> <span class="quiet"><kbd>Ctrl</kbd> <kbd>Enter</kbd> asks</span></p></form>
<section class="card"><h2>Questions that are ready</h2><p class="quiet">One fills the box; it is asked once you ask it.</p><ul>${ready.map(
    each =>
      html`<li><a href="/ask?${new URLSearchParams({ sql: each.sql }).toString()}">${each.title}</a></li>`,
  )}</ul></section></div>
${outcome !== null && result(outcome)}
<div class="columns"><section class="card"><h2>What there is</h2>${relations.filter(isWanted).map(relation)}<details><summary>${formatCount(others.length, 'other table or view', 'other tables and views')}</summary>${others.map(relation)}</details></section>
<section class="card"><h2>With a tool of your own</h2><p><code>carbon-mirror snapshot FILE</code> copies the mirror into one SQLite file, as it is now: sqlite3, Datasette, DuckDB and pandas open it.</p></section></div>`;
  return { title: 'Ask', body };
}

function result(outcome: Reply): Html {
  if ('fault' in outcome) return html`<p role="alert" class="fault">${outcome.fault}</p>`;
  const { columns, rows, hasMore } = outcome;
  const caption = hasMore
    ? `The first ${withThousands(rows.length)} rows; the CSV has all of them`
    : formatCount(rows.length, 'row');
  return html`<section id="answer">${table(
    caption,
    columns.map(column => ({
      name: column,
      cell: (row: Row) => shown(row[column]),
      numeric: rows.every(row => !['string', 'object'].includes(typeof (row[column] ?? 0))),
    })),
    rows,
  )}</section>`;
}

function relation({ database, kind, name, meaning, columns }: Relation): Html {
  const called = database === 'inbox' ? `inbox.${name}` : name;
  return html`<details><summary><code>${called}</code> (${kind})</summary><p>${meaning}</p><dl class="facts">${columns.map(
    column => html`<dt><code>${column.name}</code></dt><dd>${column.meaning}</dd>`,
  )}</dl></details>`;
}
