import type { Row } from '../../store/contract/tables.js';
import { cell } from './cell.js';
import { BOOKKEEPING } from './facts.js';
import { html, type Html } from './html.js';
import { labelOf, shown } from './words.js';

/** Versions as they were known at an instant: what ended later had not ended yet. */
export function toldBy(at: string | null, all: readonly Row[]): Row[] {
  if (at === null) return [...all];
  return all
    .filter(each => String(each['valid_from']) <= at)
    .map(each => (String(each['valid_to'] ?? '') > at ? { ...each, valid_to: null } : each));
}

/** Every version as what it changed, newest first. */
export function versions(rows: readonly Row[], now: number): Html {
  const changes = rows.map((row, index) => ({ row, before: rows[index - 1] })).toReversed();
  const line = ({ row, before }: (typeof changes)[number]) =>
    html`<li>Observed ${cell('valid_from', row['valid_from'], now)}${row['valid_to'] !== null && html`, valid until ${cell('valid_to', row['valid_to'], now)}`}:
${before === undefined ? 'first observed' : differences(before, row, now)} (${row['sync_id'] === null ? 'sync unknown' : html`<a href="/syncs?id=${shown(row['sync_id'])}">sync ${shown(row['sync_id'])}</a>`})</li>`;
  return html`<ol class="versions" reversed>${changes.map(line)}</ol>`;
}

function differences(before: Row, after: Row, now: number): Html {
  const columns = Object.keys(after).filter(
    column => ![...BOOKKEEPING, 'valid_from'].includes(column) && before[column] !== after[column],
  );
  if (columns.length === 0) return html`reappeared, or changed only in fields without a column`;
  return html`${columns.map(
    (column, place) =>
      html`${place > 0 && ', '}${labelOf(column)}: <del>${cell(column, before[column], now)}</del> → <ins>${cell(column, after[column], now)}</ins>`,
  )}`;
}
