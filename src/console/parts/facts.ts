import type { Row } from '../../engines/contract/tables.js';
import { cell } from './cell.js';
import { html, type Html } from './html.js';

/** The columns of one row, a line each. */
export function facts(row: Row, now: number, without: readonly string[] = []): Html {
  const shown = Object.keys(row).filter(column => !without.includes(column));
  return html`<dl>${shown.map(
    column => html`<dt>${column.replaceAll('_', ' ')}</dt><dd>${cell(column, row[column], now)}</dd>`,
  )}</dl>`;
}

/** Text of the registry as it was sent, closed until somebody wants to see it. */
export function asSent(summary: string, text: string): Html {
  return html`<details><summary>${summary}</summary><pre>${text}</pre></details>`;
}
