import { labelOf } from '../../query/lists/column.js';

/** Returns the readable name of a database column, with a capital letter: `valid_from` → "Observed". */
export function toHeading(column: string): string {
  return capitalize(labelOf(column));
}

export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
