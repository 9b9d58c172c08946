import { hasOwnedHistory, type List } from '../../query/lists/list-type.js';
import { readList, type RowRange } from '../../query/lists/read-list.js';
import { type Command, defineCommand, ROW_FORMATS } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { definePastDate, defineRowLimit } from '../options.js';
import { assertKnown } from '../output/answer.js';
import { toListRequest, createFilterOptions } from './filter-options.js';
import { adviseOnUnknown, printListAnswer } from './print-list-answer.js';

const DEFAULT_LIMIT = 100;

/** Creates a subcommand such as `retirements list` with the filters of the list. */
export function createListCommand(list: List): Command {
  return defineCommand({
    summary: `List ${list.plural}${describeOrder(list)}`,
    options: {
      ...createFilterOptions(list),
      ...(hasOwnedHistory(list) && { asOf: AS_OF }),
      limit: defineRowLimit(DEFAULT_LIMIT),
    },
    formats: ROW_FORMATS,
    run: (context, { asOf, limit, ...filterOptions }) =>
      printList(context, list, { filterOptions, instant: asOf?.until ?? null, limit: limit || null }),
  });
}

const AS_OF = definePastDate('list the rows as of this date');

/** Describes the sort order for the help: newest first, largest first, or an empty text. */
function describeOrder({ order: [first] }: List): string {
  if (first?.[1] !== 'desc') return '';
  return first[0] === 'amount_micro' ? ', largest first' : ', newest first';
}

interface PrintListOptions {
  /** The raw values of the filter options by option name. */
  readonly filterOptions: Readonly<Record<string, unknown>>;
  /** Lists rows as of this instant; null for the present. */
  readonly instant: string | null;
  /** Null for all rows. */
  readonly limit: number | null;
}

/** Prints the rows of a list, their total, and how complete and fresh they are. */
async function printList(
  context: CommandContext,
  list: List,
  { filterOptions, instant, limit }: PrintListOptions,
): Promise<void> {
  const reader = await context.openReader();
  const request = await toListRequest(context, list, { filterOptions, instant });
  const range: RowRange = limit === null ? { kind: 'all' } : { kind: 'first', limit };
  await reader.inSnapshot(async snapshot => {
    const answer = await readList(snapshot, request, range);
    const advice = adviseOnUnknown([{ list, answer }], context.io.now());
    if (answer.at !== null) assertKnown([answer], advice);
    await printListAnswer(context, answer);
    if (limit !== null && answer.totals.rows > limit) context.printNotice('Use --limit 0 for all.');
    assertKnown([answer], advice);
  });
}
