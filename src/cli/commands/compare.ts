import { type Caveat, isUnknown } from '../../query/answer/caveat.js';
import { describeNotes } from '../../query/answer/describe-notes.js';
import { CAVEATS_COLUMN } from '../../query/answer/serialize.js';
import {
  ALL_COMPARED_ROWS,
  COMPARABLE_LISTS,
  compareList,
  type ComparisonAnswer,
  parseComparedLists,
  USUALLY_COMPARED_LISTS,
} from '../../query/history/comparison.js';
import {
  COMPARISON_AMOUNT_COLUMNS,
  describeCounts,
  describeType,
  listCsvColumns,
  streamCsvRows,
  serializeComparisons,
  toAmountCells,
} from '../../query/history/describe-comparison.js';
import type { List } from '../../query/lists/list-type.js';
import { createUsageError } from '../command-error.js';
import type { CommandContext } from '../context.js';
import { defineCommand } from '../define-command.js';
import { findOptionalOrganizationId } from '../find-rows.js';
import { streamStdout } from '../io.js';
import { adviseOnUncompared } from '../lists/print-list-answer.js';
import {
  defineParsedText,
  definePastDate,
  makeRequired,
  ORGANIZATION_OPTION,
  withDefault,
} from '../options.js';
import { assertKnown, printAnswerNotes } from '../output/answer.js';
import { toJson } from '../output/output-formats.js';

const LIST_NAMES = COMPARABLE_LISTS.map(({ name }) => name);

export const COMPARE = defineCommand({
  summary: 'Compare credits and retirements at two dates',
  details:
    'Shows totals side by side, then each row that was added, changed or removed. ' +
    'Rows of an organization whose list was not known at both dates are left out.',
  options: {
    from: makeRequired(definePastDate('the earlier date')),
    to: withDefault({ ...definePastDate(''), description: 'the later date, given as for --from' }, 'now'),
    list: withDefault(
      defineParsedText(
        'names',
        `compare these lists, separated by commas: ${LIST_NAMES.join(', ')}`,
        parseLists,
      ),
      USUALLY_COMPARED_LISTS,
    ),
    organization: ORGANIZATION_OPTION,
  },
  formats: { json: 'print as JSON', csv: 'print the rows that differ as CSV' },
  examples: [
    'carbon-mirror compare --from 2024 --to 2025',
    'carbon-mirror compare --from 2024-12-31 --to 2025-12-31 --list retirements --csv',
    'carbon-mirror compare --from 24h --organization ID --json',
  ],
  run: async (context, { from: { until: from }, to: { until: to }, list: lists, organization }) => {
    if (from > to)
      throw createUsageError(
        `--to: expected ${from} or later, got ${to}.`,
        'Give the earlier date to --from.',
      );
    const reader = await context.openReader();
    const organizationId = await findOptionalOrganizationId(reader, organization);
    await reader.inSnapshot(async snapshot => {
      const comparisons: ComparisonAnswer[] = [];
      for (const list of lists)
        comparisons.push(await compareList(snapshot, { list, organizationId, from, to }, ALL_COMPARED_ROWS));
      assertKnown(comparisons, adviseOnUncompared(comparisons, context.io.now()));
      const known = comparisons.filter(({ caveats }) => !caveats.some(isUnknown));
      await printComparisons(context, { organization_id: organizationId, from, to }, { comparisons, known });
      for (const unknown of comparisons.filter(each => !known.includes(each)))
        printAnswerNotes(context.io, unknown, unknown.list.name);
    });
  },
});

/**
 * Parses the names of the lists to compare, separated by commas. Throws a usage error if a list is unknown or cannot be compared.
 */
function parseLists(words: string): readonly List[] {
  const lists = parseComparedLists(words);
  if ('fault' in lists) throw createUsageError(`--list: ${lists.fault}`);
  return lists;
}

interface Comparisons {
  readonly comparisons: readonly ComparisonAnswer[];
  /** The comparisons of lists of which something is known. */
  readonly known: readonly ComparisonAnswer[];
}

/** Prints comparisons as JSON, CSV or tables. CSV and tables leave out lists of which nothing is known. */
async function printComparisons(
  context: CommandContext,
  header: object,
  { comparisons, known }: Comparisons,
): Promise<void> {
  if (context.format === 'json')
    return await streamStdout(context.io, serializeComparisons(header, comparisons, toJson));
  if (context.format === 'csv') {
    const columns = [...listCsvColumns(known), CAVEATS_COLUMN];
    await context.printRows(columns, streamCsvRows(known), {
      emptyMessage: known.map(({ empty }) => empty).join(' '),
    });
  } else for (const comparison of known) await printComparison(context, comparison);
  for (const { list, from: _from, to: _to, ...notes } of known)
    printAnswerNotes(context.io, notes, list.name);
  printSideNotes(context, known);
}

/** Prints the row counts and the tonnes of a list at both compared instants, with the differences. Then prints the rows that differ. */
async function printComparison(context: CommandContext, comparison: ComparisonAnswer): Promise<void> {
  const { list, from, to, amounts, rows, columns, empty } = comparison;
  await context.printLines(
    `${list.name}, before: ${from.at}, after: ${to.at}:`,
    `${describeCounts(comparison)}.`,
  );
  if (amounts.length > 0)
    await context.printRows(
      ['tonnes', ...COMPARISON_AMOUNT_COLUMNS],
      amounts.map(sum => ({ tonnes: describeType(list, sum.type), ...toAmountCells(sum) })),
      { tonneColumns: COMPARISON_AMOUNT_COLUMNS, importantColumns: COMPARISON_AMOUNT_COLUMNS },
    );
  if (comparison.totals.rows > 0) {
    await context.printLines('');
    await context.printRows(
      columns.map(({ name }) => name),
      rows,
      {
        importantColumns: columns.filter(({ isImportant }) => isImportant).map(({ name }) => name),
        tonneColumns: columns.filter(({ kind }) => kind === 'tonnes').map(({ name }) => name),
      },
    );
  } else context.printNotice(empty);
  await context.printLines('');
}

type ComparedSide = ComparisonAnswer['from'];
type UnreadChanges = Extract<Caveat, { code: 'changes_unread_after' }>;

/**
 * Prints notes to stderr that say how recent the data of each list is at both compared instants (the sides of the comparison). A note that
 * several lists share at an instant is printed once, with the names of these lists.
 */
function printSideNotes(context: CommandContext, comparisons: readonly ComparisonAnswer[]): void {
  const sides = comparisons.flatMap(({ list, from, to }) =>
    (from.at === to.at ? [to] : [from, to]).map(side => ({ name: list.name, side })),
  );
  for (const at of new Set(sides.map(({ side }) => side.at))) {
    const namesByNote = new Map<string, string[]>();
    const ofInstant = sides.filter(({ side }) => side.at === at);
    const oldest = findOldestUnread(ofInstant.map(({ side }) => side));
    for (const { name, side } of ofInstant)
      for (const note of describeSide(side, oldest))
        namesByNote.set(note, [...(namesByNote.get(note) ?? []), name]);
    for (const [note, names] of namesByNote) context.printNotice(`${names.join(', ')} at ${at}: ${note}`);
  }
}

/**
 * Returns notes that say how recent the data of a list is at one of the two compared instants. If `oldest` is not null, it replaces the
 * list's own caveat about its last read, so that all lists have the same note.
 */
function describeSide({ freshness, caveats }: ComparedSide, oldest: UnreadChanges | null): string[] {
  const shown = caveats
    .filter(caveat => !isUnknown(caveat))
    .map(caveat => (caveat.code === 'changes_unread_after' ? (oldest ?? caveat) : caveat));
  return describeNotes({ freshness, caveats: shown, coverage: null, gaps: [] });
}

/**
 * Merges all caveats of these sides which say that changes after the last read of a list may be missing. Returns one caveat with the oldest
 * last read and the total number of lists. Returns null if there is no such caveat.
 */
function findOldestUnread(sides: readonly ComparedSide[]): UnreadChanges | null {
  const unread = sides.flatMap(({ caveats }) =>
    caveats.flatMap(caveat => (caveat.code === 'changes_unread_after' ? caveat : [])),
  );
  const [oldest] = unread.toSorted((one, other) => (one.lastReadAt < other.lastReadAt ? -1 : 1));
  return oldest === undefined
    ? null
    : { ...oldest, lists: unread.reduce((sum, { lists }) => sum + lists, 0) };
}
