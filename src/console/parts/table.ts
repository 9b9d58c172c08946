import { html, type Html, type Part } from './html.js';

export interface TableColumn<Row> {
  readonly name: Part;
  readonly cell: (row: Row) => Part;
  /** Numbers stand below each other. */
  readonly numeric?: boolean;
}

/** Rows of anything, with one sentence that says what they are. */
export function table<Row>(caption: Part, columns: readonly TableColumn<Row>[], rows: readonly Row[]): Html {
  const cells = (row: Row) =>
    columns.map(({ cell, numeric }) => html`<td${numeric && NUMERIC}>${cell(row)}</td>`);
  return html`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ name, numeric }) => html`<th scope="col"${numeric && NUMERIC}>${name}</th>`)}</tr></thead>
<tbody>${rows.map(row => html`<tr>${cells(row)}</tr>\n`)}</tbody>
</table></div>`;
}

const NUMERIC = html` class="number"`;
