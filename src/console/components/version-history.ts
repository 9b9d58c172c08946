import type { Row } from '../../store/contract/tables.js';
import { renderCell } from './table-cell.js';
import { type TimelineEntry, renderTimeline } from './detail-page.js';
import { BOOKKEEPING } from './row-facts.js';
import { html, type Html } from './html.js';
import { toDisplayValue } from './display-value.js';
import { labelOf } from '../../query/lists/column.js';

/** Returns the row versions that the mirror had stored by the instant `at`, or all versions if it is null. */
export function selectVersionsKnownAt(at: string | null, versions: readonly Row[]): Row[] {
  if (at === null) return [...versions];
  // A version that ended after `at` was still current then.
  return versions
    .filter(version => String(version['valid_from']) <= at)
    .map(version => (String(version['valid_to'] ?? '') > at ? { ...version, valid_to: null } : version));
}

/** Renders the version history of a row as a timeline, newest version first. */
export function renderVersions(versions: readonly Row[], now: number): Html {
  const entries = versions.map((version, index) => describeVersion(version, versions[index - 1], now));
  const end = versions.at(-1)?.['valid_to'] ?? null;
  const lastEntry: TimelineEntry[] =
    end === null
      ? []
      : [
          {
            colour: 'bad',
            title: html`<strong>Not listed since</strong> ${renderCell('valid_to', end, now)}`,
          },
        ];
  return renderTimeline([...lastEntry, ...entries.toReversed()]);
}

/** Returns the timeline entry of a version: when it was observed, and which columns changed from the previous version. */
function describeVersion(version: Row, previous: Row | undefined, now: number): TimelineEntry {
  const syncId = toDisplayValue(version['sync_id']);
  const sync =
    version['sync_id'] === null ? 'sync unknown' : html`<a href="/syncs?id=${syncId}">sync ${syncId}</a>`;
  const difference = previous === undefined ? 'first observed' : renderDifferences(previous, version, now);
  // Earlier versions are grey, so that the current one stands out.
  const isCurrent = version['valid_to'] === null;
  const title = html`${isCurrent ? html`<strong>Current version, observed</strong>` : 'Observed'} ${renderCell('valid_from', version['valid_from'], now)}`;
  return {
    colour: isCurrent ? 'good' : 'none',
    title,
    details: html`${difference} (${sync})`,
  };
}

/** Renders each changed column, such as "vintage: 2020 → 2021". */
function renderDifferences(before: Row, after: Row, now: number): Html {
  const columns = Object.keys(after).filter(
    column => ![...BOOKKEEPING, 'valid_from'].includes(column) && before[column] !== after[column],
  );
  if (columns.length === 0) return html`reappeared, or changed only in fields without a column`;
  return html`${columns.map(
    (column, index) =>
      html`${index > 0 && ', '}${labelOf(column)}: <del>${renderCell(column, before[column], now)}</del> → <ins>${renderCell(column, after[column], now)}</ins>`,
  )}`;
}
