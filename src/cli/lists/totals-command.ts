import { describeTotals } from '../../query/answer/describe-totals.js';
import { GROUPINGS, parseGroupings, readGroupTotals } from '../../query/lists/group-totals.js';
import type { List } from '../../query/lists/list-type.js';
import { createUsageError } from '../command-error.js';
import { type Command, defineCommand, ROW_FORMATS } from '../define-command.js';
import { definePastDate, defineText, withDefault } from '../options.js';
import { assertKnown } from '../output/answer.js';
import { createFilterOptions, toListRequest } from './filter-options.js';
import { adviseOnUnknown, listPlaceholders } from './print-list-answer.js';

const DEFAULT_GROUPING = 'organization';

/** Creates the subcommand that adds up the rows of a list in groups, such as `retirements totals`. */
export function createTotalsCommand(list: List): Command {
  return defineCommand({
    summary: `Add up the tonnes of ${list.plural} in groups`,
    options: {
      ...createFilterOptions(list),
      by: withDefault(
        defineText('columns', `group by these, separated by commas: ${GROUPINGS.join(', ')}`),
        DEFAULT_GROUPING,
      ),
      asOf: definePastDate('add up the rows as of this date'),
    },
    formats: ROW_FORMATS,
    examples: [
      `carbon-mirror ${list.name} totals --year 2025 --by organization,month`,
      `carbon-mirror ${list.name} totals --by beneficiary --as-of now --csv > totals.csv`,
    ],
    run: async (context, { by, asOf, ...filterOptions }) => {
      const groupings = parseGroupings(by);
      if ('fault' in groupings) throw createUsageError(`--by: ${groupings.fault}`);
      const reader = await context.openReader();
      const request = await toListRequest(context, list, { filterOptions, instant: asOf?.until ?? null });
      const answer = await readGroupTotals(reader, request, groupings);
      const advice = adviseOnUnknown([{ list, answer }], context.io.now());
      if (answer.at !== null) assertKnown([answer], advice);
      const names = answer.columns.map(({ name }) => name);
      await context.printAnswer(answer, {
        tableColumns: answer.totals.rowsWithoutAmount === 0 ? names.slice(0, -1) : names,
        fileColumns: names,
        importantColumns: names,
        tonneColumns: ['amount_exact'],
        placeholders: listPlaceholders(answer.columns),
        emptyMessage: answer.empty,
        total: answer.totals.rows === 0 ? null : describeTotals(answer.totals, list.singular),
      });
      assertKnown([answer], advice);
    },
  });
}
