import type { Row } from '../../store/contract/tables.js';
import { renderCell } from './cell.js';
import { BOOKKEEPING } from './facts.js';
import { html, type Html } from './html.js';
import { toLabel, toDisplayValue } from './formats.js';

/** Returns the versions observed by an instant. A version that ended later is returned as current. */
export function selectVersionsKnownAt(at: string | null, all: readonly Row[]): Row[] {
  if (at === null) return [...all];
  return all
    .filter(each => String(each['valid_from']) <= at)
    .map(each => (String(each['valid_to'] ?? '') > at ? { ...each, valid_to: null } : each));
}

/** Renders each version by what it changed, newest first. */
export function renderVersions(rows: readonly Row[], now: number): Html {
  const changes = rows.map((row, index) => ({ row, before: rows[index - 1] })).toReversed();
  const line = ({ row, before }: (typeof changes)[number]) =>
    html`<li>Observed ${renderCell('valid_from', row['valid_from'], now)}${row['valid_to'] !== null && html`, valid until ${renderCell('valid_to', row['valid_to'], now)}`}:
${before === undefined ? 'first observed' : renderDifferences(before, row, now)} (${row['sync_id'] === null ? 'sync unknown' : html`<a href="/syncs?id=${toDisplayValue(row['sync_id'])}">sync ${toDisplayValue(row['sync_id'])}</a>`})</li>`;
  return html`<ol class="versions" reversed>${changes.map(line)}</ol>`;
}

function renderDifferences(before: Row, after: Row, now: number): Html {
  const columns = Object.keys(after).filter(
    column => ![...BOOKKEEPING, 'valid_from'].includes(column) && before[column] !== after[column],
  );
  if (columns.length === 0) return html`reappeared, or changed only in fields without a column`;
  return html`${columns.map(
    (column, place) =>
      html`${place > 0 && ', '}${toLabel(column)}: <del>${renderCell(column, before[column], now)}</del> → <ins>${renderCell(column, after[column], now)}</ins>`,
  )}`;
}
