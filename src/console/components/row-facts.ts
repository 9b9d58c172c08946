import type { Row, Value } from '../../store/contract/tables.js';
import {
  renderCell,
  isEmptyCell,
  isLongId,
  isInstantColumn,
  renderCopyableId,
  renderDetailLink,
} from './table-cell.js';
import { type LabelledValue, renderLabelledValues } from './detail-page.js';
import { html, type Html } from './html.js';
import { renderTermLabel } from './glossary.js';
import { toHeading } from './column-labels.js';
import { renderInstantWithAge } from './instants.js';

interface FactsOptions {
  readonly now: number;
  /** The instant that linked pages show. */
  readonly at?: string | null;
}

/** Columns that pages leave out: bookkeeping, or shown in another form. */
export const BOOKKEEPING =
  'version document sync_id amount amount_micro valid_to closed_version closed_by'.split(' ');

/** Splits a row into its ids and hashes, which people copy, and its other columns, which they read. */
export function splitIds(row: Row): { readonly ids: Row; readonly others: Row } {
  const isId = ([column, value]: [string, Value]) =>
    ID_COLUMN.test(column) || (typeof value === 'string' && isLongId(column, value));
  const columns = Object.entries(row);
  return {
    ids: Object.fromEntries(columns.filter(isId)),
    others: Object.fromEntries(columns.filter(column => !isId(column))),
  };
}

/** Renders the non-empty columns of a row as labelled values. Id columns come last. */
export function renderRowFacts(
  row: Row,
  { now, at = null }: FactsOptions,
  hiddenColumns: readonly string[] = [],
): Html {
  const facts = Object.keys(row)
    .filter(column => !hiddenColumns.includes(column))
    .toSorted((one, other) => Number(ID_COLUMN.test(one)) - Number(ID_COLUMN.test(other)))
    .map((column): LabelledValue => {
      const label = column.endsWith('_id') ? `${toHeading(column)} id` : toHeading(column);
      const value = renderFact(column, row[column], { now, at });
      const linkColumn = column.replace(/_name$/, '_id');
      const isName = value !== false && linkColumn !== column;
      return [
        renderTermLabel(column, label),
        isName ? renderDetailLink(linkColumn, row[linkColumn], value, at) : value,
      ];
    });
  return renderLabelledValues(facts);
}

/** Renders a value in full, with a link to its page and a button to copy a long id. Returns false if the value is empty. */
function renderFact(
  column: string,
  value: Value | undefined,
  { now, at = null }: FactsOptions,
): Html | false {
  const content = renderFullValue(column, value, now);
  if (isEmptyCell(content.text)) return false;
  const link = renderDetailLink(column, value, content, at);
  return typeof value === 'string' && isLongId(column, value) ? renderCopyableId(value, link) : link;
}

const ID_COLUMN = /(^|_)id$/;

/** Renders a value like `renderCell`, but shows instants and ids in full. */
function renderFullValue(column: string, value: Value | undefined, now: number): Html {
  if (typeof value === 'string' && value !== '' && isInstantColumn(column))
    return renderInstantWithAge(value, now);
  if (typeof value === 'string' && isLongId(column, value)) return html`<span class="id">${value}</span>`;
  return renderCell(column, value, now);
}

/** Renders a text unchanged, in a section that opens when the visitor clicks `summary`. */
export function renderRawText(summary: string, text: string): Html {
  return html`<details><summary>${summary}</summary><pre>${text}</pre></details>`;
}
