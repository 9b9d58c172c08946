import { describeHeld, describeTotals } from '../../query/answer/describe-totals.js';
import { FRESHNESS_COLUMNS } from '../../query/freshness/read-freshness.js';
import type { AnswerNotes } from '../../query/answer/answer.js';
import { findLastYearEnd } from '../../query/history/year-end.js';
import type { ListColumn } from '../../query/lists/column.js';
import type { List } from '../../query/lists/list-type.js';
import type { ListAnswer } from '../../query/lists/read-list.js';
import type { CommandContext } from '../context.js';
import { UNKNOWN_ADVICE } from '../output/answer.js';

interface UnknownList {
  readonly list: List;
  readonly answer: Pick<AnswerNotes, 'at' | 'caveats'>;
}

/** Returns advice for the case that no list was known at the requested instant, such as the earliest possible date. */
export function adviseOnUnknown(lists: readonly UnknownList[], now: number): string[] {
  const knownFrom = lists.flatMap(({ answer: { caveats } }) =>
    caveats.flatMap(caveat => (caveat.code === 'nothing_known_then' ? (caveat.knownFrom ?? []) : [])),
  );
  const [first] = knownFrom.toSorted();
  if (first === undefined) return [UNKNOWN_ADVICE];
  const yearEnd = findLastYearEnd(first, now);
  const withYear = lists.find(({ list, answer }) => answer.at !== null && 'year' in list.filters);
  const year = withYear?.answer.at?.slice(0, 4);
  return [
    yearEnd === null
      ? `The earliest possible date is --as-of ${first}.`
      : `The last year end can be asked: --as-of ${yearEnd}.`,
    ...(withYear === undefined
      ? []
      : [
          `"carbon-mirror ${withYear.list.name} list --year ${year}" lists the ${withYear.list.plural} of ${year} as they are known now.`,
        ]),
  ];
}

/**
 * Returns advice for the case that no list can be compared: the last year end that can be compared, or else the earliest date that
 * can be compared.
 */
export function adviseOnUncompared(
  comparisons: readonly Pick<AnswerNotes, 'caveats'>[],
  now: number,
): string {
  const knownFrom = comparisons.flatMap(({ caveats }) =>
    caveats.flatMap(caveat => (caveat.code === 'nothing_compared' ? (caveat.knownFrom ?? []) : [])),
  );
  const [first] = knownFrom.toSorted();
  if (first === undefined) return UNKNOWN_ADVICE;
  const yearEnd = findLastYearEnd(first, now);
  return yearEnd === null
    ? `The earliest possible date is --from ${first}.`
    : `The last year end can be compared: --from ${yearEnd}.`;
}

/**
 * Returns, for each column name, the word to show in place of a missing value, such as `unclaimed` for a beneficiary. Leaves out columns
 * without such a word.
 */
export function listPlaceholders(columns: readonly ListColumn[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    columns.flatMap(({ name, placeholder }) => (placeholder === null ? [] : [[name, placeholder]])),
  );
}

/** Prints the rows of a list, their total and their notes. If several lists are printed, `heading` is the name of this one. */
export async function printListAnswer(
  context: CommandContext,
  answer: ListAnswer,
  heading: string | null = null,
): Promise<void> {
  const { list, rowFreshness, totals, available, held, subject } = answer;
  const names = list.columns.map(({ name }) => name);
  const hidesFreshness = rowFreshness === null || rowFreshness.areAllFresh;
  const hasTotal = totals.amounts !== null && totals.rows > 0;
  const lines = [
    describeTotals(totals, list.singular, { subject, available }),
    ...(held === null ? [] : [describeHeld(held)]),
  ];
  await context.printAnswer(answer, {
    tableColumns: hidesFreshness ? names : answer.columns,
    fileColumns: answer.columns,
    importantColumns: [
      ...list.columns.filter(({ isImportant }) => isImportant).map(({ name }) => name),
      ...FRESHNESS_COLUMNS,
    ],
    wrappedColumns: list.columns.filter(({ isWrapped }) => isWrapped).map(({ name }) => name),
    tonneColumns: list.columns.filter(({ kind }) => kind === 'tonnes').map(({ name }) => name),
    placeholders: listPlaceholders(list.columns),
    emptyMessage: answer.empty,
    total: hasTotal ? lines.join('\n') : null,
    heading,
  });
}
