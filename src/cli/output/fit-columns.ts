/** The widths in characters that a column of a table may have, before it is fitted to the terminal. */
export interface ColumnWidths {
  readonly index: number;
  /** The width of its widest cell or its name. */
  readonly width: number;
  /** The width once ids and instants are shortened. */
  readonly shortWidth: number;
  /** The width to which texts may be cut or wrapped. */
  readonly minWidth: number;
  /** The width that the column keeps as long as unimportant columns can be hidden instead. */
  readonly preferredWidth: number;
  /** Whether all other columns are hidden before this one. */
  readonly isImportant: boolean;
}

/** A column as it is printed: its width, and whether its ids and instants are shortened. */
export interface ColumnLayout {
  readonly index: number;
  readonly width: number;
  readonly isShort: boolean;
}

/** The number of spaces between two columns. */
export const COLUMN_GAP = 2;

/** Fits table columns into a width by shortening cells and, if needed, hiding columns. */
export function fitColumns(columns: readonly ColumnWidths[], totalWidth: number): ColumnLayout[] {
  const whole = columns.map(({ index, width }) => ({ index, width, isShort: false }));
  if (measureTotal(whole) <= totalWidth) return whole;
  const short = columns.map(({ index, shortWidth }) => ({ index, width: shortWidth, isShort: true }));
  if (measureTotal(short) <= totalWidth) return short;
  const last = columns.findLastIndex(({ isImportant }) => !isImportant);
  const minWidths = columns.map(({ minWidth, preferredWidth }) => (last < 0 ? minWidth : preferredWidth));
  const minTotal = minWidths.reduce((sum, width) => sum + width + COLUMN_GAP, -COLUMN_GAP);
  if (minTotal <= totalWidth) return narrowColumns(short, minWidths, totalWidth);
  // Among important columns, a wrapped one is hidden last.
  const hidden = last < 0 ? columns.findLastIndex(each => each.minWidth === each.preferredWidth) : last;
  if (columns.length > 1) return fitColumns(columns.toSpliced(hidden, 1), totalWidth);
  return short.map(column => ({ ...column, width: Math.max(1, totalWidth) }));
}

/** Narrows the widest columns until all columns fit. Respects minimum widths. */
function narrowColumns(
  columns: readonly ColumnLayout[],
  minWidths: readonly number[],
  totalWidth: number,
): ColumnLayout[] {
  const widths = columns.map(({ width }) => width);
  for (let excess = measureTotal(columns) - totalWidth; excess > 0; excess -= 1) {
    const shrinkable = widths.map((width, index) => (width > (minWidths[index] ?? 0) ? width : 0));
    const widest = shrinkable.indexOf(Math.max(...shrinkable));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return columns.map((column, index) => ({ ...column, width: widths[index] ?? column.width }));
}

/** Returns the total width of the columns, including the gaps. */
function measureTotal(columns: readonly ColumnLayout[]): number {
  return columns.reduce((sum, { width }) => sum + width + COLUMN_GAP, -COLUMN_GAP);
}
