import { describeTotals } from '../../query/answer/describe-totals.js';
import { collectRows, streamOf } from '../../query/answer/answer.js';
import { serializeAnswer } from '../../query/answer/serialize.js';
import {
  type AvailableAnswer,
  answerAvailable,
  type ExcludedWarehouse,
  wasEverHeld,
} from '../../query/available.js';
import { getOrganizationName } from '../../query/coverage.js';
import { getFilterText } from '../../query/lists/parse-request.js';
import type { ChosenFilter } from '../../query/lists/list-type.js';
import { WAREHOUSE } from '../../query/lists/list-definitions.js';
import { sentenceOf, wordsOf } from '../../query/freshness/describe-freshness.js';
import { formatOmittedCount, formatCount, MAX_SHOWN, formatWithCommas } from '../../text/numbers.js';
import { truncateName } from '../../text/clean-text.js';
import { formatDuration } from '../../text/duration.js';
import { formatCreditType } from '../../text/tonnes.js';
import { defineCommand } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { createCheckError, createNotFoundError } from '../command-error.js';
import { toListRequest, createFilterOptions } from '../lists/filter-options.js';
import { streamStdout } from '../io.js';
import { printAnswerNotes } from '../output/answer.js';
import { toJson, toSnakeKeys } from '../output/output-formats.js';
import type { Reader } from '../../store/contract/reader.js';

const CREDIT_COLUMNS = ['vintage', 'type', 'amount'];
const CSV_COLUMNS = [
  'organization_name',
  'project_name',
  ...CREDIT_COLUMNS,
  'rows_without_amount',
  'freshness',
  'failing_since',
  'age_seconds',
  'credit_id',
];
const TABLE_COLUMNS = [
  'project_name',
  ...CREDIT_COLUMNS,
  'organization_name',
  'age',
  'freshness',
  'credit_id',
];

/** The maximum number of credits shown on a terminal. The total counts all. Files, pipes, JSON and CSV get all credits. */
const MAX_CREDITS_SHOWN = 100;

export const AVAILABLE = defineCommand({
  summary: 'Show credits available to sell now',
  details: 'Also lists the warehouses that are left out, and why.',
  options: createFilterOptions(WAREHOUSE),
  formats: {
    json: 'print as JSON: the credits (rows) and the warehouses left out (left_out)',
    csv: 'print the available credits as CSV',
  },
  examples: [
    'carbon-mirror available --project Mangrove --vintage 2021',
    'carbon-mirror available --csv > available.csv',
  ],
  run: async (context, given) => {
    const reader = await context.openReader();
    const request = await toListRequest(context, WAREHOUSE, { filterOptions: given, instant: null });
    const organizationId = getFilterText(request, 'organization_id');
    const creditFilters = request.filters.filter(({ name }) => name !== 'organization_id');
    const where = creditFilters.map(({ condition }) => condition);
    const answer = await answerAvailable(reader, { organizationId, where });
    const { excluded, uninstalled, totals } = answer;
    assertAnyOrganizationKnown(answer);
    if (totals.rows === 0) await assertFilterValuesExist(reader, creditFilters);
    if (context.format === 'json') {
      const more = { left_out: toSnakeKeys(excluded), uninstalled };
      await streamStdout(context.io, serializeAnswer(answer.rows, answer, toJson, more));
    } else if (context.format === 'table') {
      await printAvailable(context, answer, request.filters.length > 0);
    } else {
      await context.printAnswer(answer, { tableColumns: [], fileColumns: CSV_COLUMNS, total: null });
      context.printNotice(...describeExcludedWarehouses(excluded).map(line => `Left out: ${line}`));
    }
  },
});

/** Throws if no warehouse credit ever had the value of one of the filters. Such a value is probably misspelt. */
async function assertFilterValuesExist(reader: Reader, filters: readonly ChosenFilter[]): Promise<void> {
  for (const { name, text, condition } of filters) {
    if (await wasEverHeld(reader, condition)) continue;
    // No mirrored credit ever had this value, so it is probably misspelt.
    throw createNotFoundError(
      `No known warehouse has ever held credits with the ${name} "${text}".`,
      'See "carbon-mirror available" for all available credits.',
    );
  }
}

/** Throws if the mirror knows no organization yet. An empty result would then be misleading. */
function assertAnyOrganizationKnown({ coverage, uninstalled }: AvailableAnswer): void {
  if ((coverage?.known ?? 0) + uninstalled > 0) return;
  throw createCheckError(
    'No warehouse has been read yet, and no active installation was found.',
    'Run "carbon-mirror sync" to look for installations; see "carbon-mirror status".',
  );
}

/**
 * Prints the available credits and their total, then the warehouses (`excluded`) that are not counted because their data is not
 * fresh. `isFiltered` says whether the user chose filters.
 */
async function printAvailable(
  context: CommandContext,
  { rows: stream, totals, excluded, ...notes }: AvailableAnswer,
  isFiltered: boolean,
) {
  const rows = (await collectRows(stream)).map(row => ({
    ...row,
    age: formatDuration(Number(row.age_seconds)),
    freshness: wordsOf({ state: 'fresh', reason: null, failing_since: row.failing_since }),
  }));
  const isShortened = context.io.terminal.stdout && rows.length > MAX_CREDITS_SHOWN;
  const shown = isShortened ? rows.slice(0, MAX_CREDITS_SHOWN) : rows;
  if (rows.length === 0) {
    const sentence = isFiltered
      ? 'No available credits match these filters.'
      : 'No credits are available now.';
    await context.printLines(sentence);
    printAnswerNotes(context.io, { ...notes, totals });
  } else {
    const columns = [...TABLE_COLUMNS, ...(totals.rowsWithoutAmount > 0 ? ['rows_without_amount'] : [])];
    await context.printAnswer(
      { ...notes, totals, rows: streamOf(shown) },
      {
        tableColumns: columns,
        fileColumns: CSV_COLUMNS,
        importantColumns: ['project_name', 'vintage', 'type', 'amount', 'organization_name', 'credit_id'],
        tonneColumns: ['amount'],
        total: `${describeTotals(totals, 'credit', { subject: 'available now' })}.`,
      },
    );
  }
  if (isShortened) context.printNotice(`Showing ${MAX_CREDITS_SHOWN}. Use --csv or --json for all.`);
  if (excluded.length === 0) return;
  const lines = describeExcludedWarehouses(excluded).map(line => `  ${line}`);
  await context.printLines('', 'Left out (last known amounts; see last_known_credits):', '', ...lines);
}

/** Returns a line for each excluded warehouse. If many were never read, the last line only says how many more there are. */
function describeExcludedWarehouses(warehouses: readonly ExcludedWarehouse[]): string[] {
  const neverRead = warehouses.filter(({ state, rows }) => state === 'never_read' && rows === 0);
  const unnamed = new Set(neverRead.slice(MAX_SHOWN));
  const rest = formatOmittedCount(neverRead.length);
  return [
    ...warehouses.filter(warehouse => !unnamed.has(warehouse)).map(describeExcludedWarehouse),
    ...(rest === null ? [] : [`${rest} that were never read completely`]),
  ];
}

/** Returns a line such as "Acme: last read 2 h ago, stale (3 rows, 120 t ex-post)". */
function describeExcludedWarehouse(warehouse: ExcludedWarehouse): string {
  const { organization_name: ownName, age_seconds, rows, amounts } = warehouse;
  const sentence = sentenceOf(warehouse);
  const name = truncateName(getOrganizationName({ ...warehouse, name: ownName }));
  const lastRead =
    age_seconds === null ? 'never read completely' : `last read ${formatDuration(age_seconds)} ago`;
  const reason = sentence === null ? '' : `, ${sentence}`;
  const tonnes = amounts.map(({ type, amount }) =>
    amount === null ? '' : `, ${formatWithCommas(Number(amount.toFixed(6)))} t ${formatCreditType(type)}`,
  );
  const notSummed = amounts.reduce((sum, { rowsWithoutAmount }) => sum + rowsWithoutAmount, 0);
  const excluded =
    notSummed === 0 ? '' : `, excluding ${formatWithCommas(notSummed)} without a usable amount`;
  const sums = `${formatCount(rows, 'row')}${tonnes.join('')}${excluded}`;
  return `${name}: ${lastRead}, ${wordsOf(warehouse)}${reason} (${sums})`;
}
