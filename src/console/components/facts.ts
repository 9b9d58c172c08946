import type { Row, Value } from '../../store/contract/tables.js';
import { cell, isEmpty, isId, isInstant, leading } from './cell.js';
import { type Fact, factsOf } from './head.js';
import { html, type Html } from './html.js';
import { termLabel } from './terms.js';
import { headingOf, instantAgo } from './words.js';

interface When {
  readonly now: number;
  /** Where what they lead to is to be as of the same instant. */
  readonly at?: string | null;
}

/** How a row is kept: what a page of it tells in its own words, or nobody asks. */
export const BOOKKEEPING =
  'version document sync_id amount amount_micro valid_to closed_version closed_by'.split(' ');

/** The columns of one row that say something, a line each; ids last. */
export function facts(row: Row, { now, at = null }: When, without: readonly string[] = []): Html {
  const lines = Object.keys(row)
    .filter(column => !without.includes(column))
    .toSorted((one, other) => Number(IS_ID.test(one)) - Number(IS_ID.test(other)))
    .map((column): Fact => {
      const value = whole(column, row[column], now);
      const name = column.endsWith('_id') ? `${headingOf(column)} id` : headingOf(column);
      return [termLabel(column, name), !isEmpty(value.text) && leading(column, row[column], value, at)];
    });
  return factsOf(lines);
}

const IS_ID = /(^|_)id$/;

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
