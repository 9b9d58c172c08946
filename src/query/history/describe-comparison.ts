/** Comparisons as data for JSON and CSV, and as sentences for people. */
import { formatCount } from '../../text/numbers.js';
import { formatCreditType, formatPlainTonnes } from '../../text/tonnes.js';
import type { Row } from '../../store/contract/tables.js';
import { serializeAnswer, toNotesData, withNotesCell } from '../answer/serialize.js';
import type { List } from '../lists/list-type.js';
import type { ComparisonAnswer, ComparisonAmounts } from './comparison.js';

/**
 * Describes how many rows there are at both instants and how many differ, such as `3 credits before, 4 after: 2 added, 0
 * changed, 1 removed`.
 */
export function describeCounts({ from, to, counts, list }: ComparisonAnswer): string {
  const { added, changed, removed } = counts;
  const rows = `${formatCount(from.totals.rows, list.singular)} before, ${to.totals.rows} after`;
  return `${rows}: ${added} added, ${changed} changed, ${removed} removed`;
}

/** The columns of the amounts of a comparison, side by side. */
export const COMPARISON_AMOUNT_COLUMNS = [
  'before',
  'added',
  'changed',
  'removed',
  'after',
  'difference',
] as const;

/** Returns the amounts of one credit type in tonnes. */
export function toAmountCells({ from, added, changed, removed, to }: ComparisonAmounts) {
  const values = { before: from, added, changed, removed, after: to, difference: to - from };
  const cells = COMPARISON_AMOUNT_COLUMNS.map(name => [name, formatPlainTonnes(values[name])] as const);
  return Object.fromEntries(cells);
}

/** Returns the word for a credit type, or `all` in a list whose rows have no type. */
export function describeType({ amounts }: List, type: string | null): string {
  return amounts === 'by type' ? formatCreditType(type) : 'all';
}

/**
 * Returns fields of a comparison for JSON: the counts, the amounts, and for each instant the notes on how complete the data was.
 * Leaves out the rows and the notes on the comparison as a whole.
 */
function toComparisonData({ counts, amounts, from, to }: ComparisonAnswer) {
  const data = amounts.map(sum => ({ type: sum.type, ...toAmountCells(sum) }));
  return { differences: counts, amounts: data, from: toNotesData(from), to: toNotesData(to) };
}

/**
 * Yields the text of a JSON object of one comparison, in pieces, with its rows first. `more` has further fields of the
 * object.
 */
export async function* serializeComparison(
  { rows, ...comparison }: ComparisonAnswer,
  toJson: (value: unknown) => string,
  more: Readonly<Record<string, unknown>> = {},
): AsyncGenerator<string> {
  const data = toComparisonData({ rows, ...comparison });
  yield* serializeAnswer(rows, comparison, toJson, { ...data, ...more });
}

/** Yields the parts of one JSON object: the fields of `header`, then each comparison under the name of its list. */
export async function* serializeComparisons(
  header: object,
  comparisons: readonly ComparisonAnswer[],
  toJson: (value: unknown) => string,
): AsyncGenerator<string> {
  yield toJson(header).slice(0, -1);
  for (const comparison of comparisons) {
    yield `,\n${toJson(comparison.list.name)}: `;
    yield* serializeComparison(comparison, toJson);
  }
  yield '}\n';
}

/** Returns the columns of a CSV file of comparisons: the list of each row, then the columns that any of the lists has. */
export function listCsvColumns(comparisons: readonly ComparisonAnswer[]): readonly string[] {
  return [...new Set(['list', ...comparisons.flatMap(({ columns }) => columns.map(({ name }) => name))])];
}

/** Yields the rows of a CSV file. Each row has the name of its list; its last cell says how complete that list is. */
export async function* streamCsvRows(comparisons: readonly ComparisonAnswer[]): AsyncGenerator<Row> {
  for (const { list, rows, ...notes } of comparisons)
    for await (const row of withNotesCell<Row>(rows, notes)) yield { list: list.name, ...row };
}
