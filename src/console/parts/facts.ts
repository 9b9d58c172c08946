import type { Row, Value } from '../../engines/contract/tables.js';
import { withAt } from './as-of.js';
import { cell, isId, isInstant } from './cell.js';
import { html, type Html } from './html.js';
import { instantAgo } from './words.js';

/** Where there is more about what a column names. */
const LEADS: Readonly<Record<string, string>> = {
  organization_id: '/organizations/',
  installation_id: '/installations?id=',
  project_id: '/projects?id=',
  delivery_id: '/deliveries/',
  job_id: '/jobs/',
  merged_into: '/jobs/',
};

interface When {
  readonly now: number;
  /** Where what they lead to is to be as of the same instant. */
  readonly at?: string | null;
}

/** The columns of one row, a line each. */
export function facts(row: Row, when: When, without: readonly string[] = []): Html {
  const shown = Object.keys(row).filter(column => !without.includes(column));
  return html`<dl>${shown.map(
    column => html`<dt>${column.replaceAll('_', ' ')}</dt><dd>${leading(column, row[column], when)}</dd>`,
  )}</dl>`;
}

function leading(column: string, value: Value | undefined, { now, at = null }: When): Html {
  const content = whole(column, value, now);
  const path = LEADS[column];
  if (path === undefined || (typeof value !== 'string' && typeof value !== 'number')) return content;
  return html`<a href="${withAt(`${path}${encodeURIComponent(value)}`, at)}">${content}</a>`;
}

/** What a list shortens: here is room for it. */
function whole(column: string, value: Value | undefined, now: number): Html {
  if (typeof value === 'string' && value !== '' && isInstant(column)) return instantAgo(value, now);
  if (typeof value === 'string' && isId(column, value)) return html`<span class="id">${value}</span>`;
  return cell(column, value, now);
}

/** Text of the registry as it was sent, closed until somebody wants to see it. */
export function asSent(summary: string, text: string): Html {
  return html`<details><summary>${summary}</summary><pre>${text}</pre></details>`;
}
