import { formatCount } from '../../text/numbers.js';
import { html, type Html } from './html.js';

/** Returns a sentence with the number of rows that a total leaves out, or an empty text for 0 rows. */
function describeRowsWithoutAmount(rows: number): string {
  return rows === 0
    ? ''
    : ` ${formatCount(rows, 'row')} without a usable amount ${rows === 1 ? 'is' : 'are'} left out.`;
}

/** Returns text to append to a total: how many rows without a usable amount `sums` leave out, if any. */
export function describeExcludedRows(sums: readonly { readonly rows_without_amount?: unknown }[]): string {
  const excludedRows = sums.reduce((total, sum) => total + Number(sum.rows_without_amount ?? 0), 0);
  return excludedRows === 0 ? '' : `.${describeRowsWithoutAmount(excludedRows)}`;
}

/** Renders an amount for a table column with aligned decimal points. */
export function renderTonnes(amount: string): Html {
  const [whole = '', fraction] = amount.split('.');
  return html`${whole}<i>${fraction !== undefined && `.${fraction}`}</i>`;
}
