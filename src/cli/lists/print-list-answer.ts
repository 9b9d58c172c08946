import { describeTotals } from '../../query/answer/describe.js';
import { FRESHNESS_COLUMNS } from '../../query/freshness/read.js';
import type { ListAnswer } from '../../query/lists/read-list.js';
import type { CommandContext } from '../context.js';

/** Advice for a person if nothing is known of a list. */
export const UNKNOWN_ADVICE =
  'The mirror only knows a list from its first complete read until its last. See "carbon-mirror status".';

/** Prints the rows of a list, their total and their notes. `heading` names one of several lists. */
export async function printListAnswer(
  context: CommandContext,
  answer: ListAnswer,
  heading: string | null = null,
): Promise<void> {
  const { list, rowFreshness, totals, available } = answer;
  const names = list.columns.map(({ name }) => name);
  const hidesFreshness = rowFreshness === null || rowFreshness.areAllFresh;
  const hasTotal = totals.amounts !== null && totals.rows > 0;
  await context.printAnswer(answer, {
    tableColumns: hidesFreshness ? names : answer.columns,
    fileColumns: answer.columns,
    importantColumns: [
      ...list.columns.filter(({ isImportant }) => isImportant).map(({ name }) => name),
      ...FRESHNESS_COLUMNS,
    ],
    tonneColumns: list.columns.filter(({ kind }) => kind === 'tonnes').map(({ name }) => name),
    emptyMessage: answer.empty,
    total: hasTotal ? describeTotals(totals, list.singular, { available }) : null,
    heading,
  });
}
