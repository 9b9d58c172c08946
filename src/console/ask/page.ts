import type { Relation } from '../../store/contract/relation.js';
import type { Row } from '../../store/contract/tables.js';
import { withThousands } from '../../text/thousands.js';
import type { Shown } from '../page.js';
import { html, type Html } from '../components/html.js';
import { table } from '../components/table.js';
import { counted } from '../../text/counted.js';
import { shown } from '../components/words.js';
import type { Reply, ReadyQuestion } from './asking.js';

interface Asked {
  readonly sql: string;
  /** Null before anything was asked. */
  readonly outcome: Reply | null;
  readonly relations: readonly Relation[];
  readonly ready: readonly ReadyQuestion[];
}

const LINES = 8;

/** A question in SQL, what came of it, and beside it what there is to ask for. */
export function showAsk({ sql, outcome, relations, ready }: Asked): Shown {
  const body = html`<h1>Ask in SQL</h1>
<form class="ask" method="post" action="/ask"><label>One statement that reads
<textarea name="sql" rows="${LINES}" spellcheck="false" required>${sql}</textarea></label>
<p><button>Ask</button> <button name="form" value="csv">As CSV</button></p></form>
${outcome !== null && result(outcome)}
<section><h2>Questions that are ready</h2><ul>${ready.map(
    each =>
      html`<li><a href="/ask?${new URLSearchParams({ sql: each.sql }).toString()}">${each.title}</a></li>`,
  )}</ul></section>
<section><h2>With a tool of your own</h2><p><code>carbon-mirror snapshot FILE</code> copies the mirror into one SQLite file, as it is now: sqlite3, Datasette, DuckDB and pandas open it.</p></section>
<section><h2>What there is</h2>${relations.map(relation)}</section>`;
  return { title: 'Ask', body };
}

function result(outcome: Reply): Html {
  if ('fault' in outcome) return html`<p role="alert" class="fault">${outcome.fault}</p>`;
  const { columns, rows, hasMore } = outcome;
  const caption = hasMore
    ? `The first ${withThousands(rows.length)} rows; the CSV has all of them`
    : counted(rows.length, 'row');
  return html`<section id="answer">${table(
    caption,
    columns.map(column => ({ name: column, cell: (row: Row) => shown(row[column]) })),
    rows,
  )}</section>`;
}

function relation({ database, kind, name, meaning, columns }: Relation): Html {
  const called = database === 'inbox' ? `inbox.${name}` : name;
  return html`<details><summary><code>${called}</code> (${kind})</summary><p>${meaning}</p><dl>${columns.map(
    column => html`<dt><code>${column.name}</code></dt><dd>${column.meaning}</dd>`,
  )}</dl></details>`;
}
