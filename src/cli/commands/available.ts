import { type Available, type LeftOut, readAvailable, wasEverHeld } from '../../query/available.js';
import { textOf } from '../../query/lists/ask.js';
import { WAREHOUSE } from '../../query/lists/lists.js';
import { sentenceOf, wordsOf } from '../../query/freshness/words.js';
import { formatOmittedCount, formatCount, MAX_SHOWN, formatWithCommas } from '../../text/numbers.js';
import { truncateName } from '../../text/clean-text.js';
import { formatDuration } from '../../text/duration.js';
import { formatCreditType } from '../../text/tonnes.js';
import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { createCheckError, createNotFoundError } from '../exit.js';
import { toListRequest, createFilterOptions } from '../lists/filters.js';
import { describeTotal, sumRows } from '../output/totals.js';

const OF_A_ROW = ['vintage', 'type', 'amount'];
const NAMES = ['organization_name', 'project_name'];
const STANDS = ['freshness', 'failing_since', 'age_seconds'];
const COLUMNS = [...NAMES, ...OF_A_ROW, 'rows_without_amount', ...STANDS, 'credit_id'];
const FOR_PEOPLE = ['project_name', ...OF_A_ROW, 'organization_name', 'age', 'freshness', 'credit_id'];

export const AVAILABLE = defineCommand({
  summary: 'Show credits available to sell now',
  details: 'Also lists the warehouses that are left out, and why.',
  options: createFilterOptions(WAREHOUSE),
  formats: {
    json: 'print as JSON: rows, and left_out for the rest',
    csv: 'print the available credits as CSV',
  },
  examples: [
    'carbon-mirror available --project Mangrove --vintage 2021',
    'carbon-mirror available --csv > available.csv',
  ],
  run: async (context, given) => {
    const reader = await context.openReader();
    const asked = await toListRequest(context, WAREHOUSE, { given, at: null });
    const organizationId = textOf(asked, 'organization_id');
    const chosen = asked.filters.filter(({ name }) => name !== 'organization_id');
    const where = chosen.map(({ condition }) => condition);
    const available = await readAvailable(reader, { organizationId, where });
    const { rows, leftOut, known, uninstalled } = available;
    demandKnown(available);
    for (const { name, text, condition } of rows.length === 0 ? chosen : []) {
      if (await wasEverHeld(reader, condition)) continue;
      throw createNotFoundError(
        `No known warehouse has ever held credits with the ${name} "${text}".`,
        'See "carbon-mirror available" for all available credits.',
      );
    }
    if (context.format === 'json') await context.printJson({ known, uninstalled, rows, leftOut });
    else if (context.format === 'table') {
      await writeForPeople(context, available, asked.filters.length > 0);
    } else {
      await context.printRows(COLUMNS, rows);
      context.printNotice(...named(leftOut).map(each => `Left out: ${each}`));
    }
  },
});

/** "Nothing is available" would be more than is known. */
function demandKnown({ known, uninstalled }: Available): void {
  if (known + uninstalled > 0) return;
  throw createCheckError(
    'No warehouse has been read yet, and no active installation was found.',
    'Run "carbon-mirror sync" to look for installations; see "carbon-mirror status".',
  );
}

async function writeForPeople(
  context: CommandContext,
  { rows, known, warehouses, leftOut }: Available,
  isAsked: boolean,
) {
  const total = sumRows(rows);
  if (rows.length > 0) {
    const columns = [...FOR_PEOPLE, ...(total.notSummed > 0 ? ['rows_without_amount'] : [])];
    const standings = new Map<unknown, string>(warehouses.map(each => [each.organization_id, wordsOf(each)]));
    const shown = rows.map(row => ({
      ...row,
      age: formatDuration(Number(row['age_seconds'])),
      freshness: standings.get(row['organization_id']) ?? null,
    }));
    await context.printRows(columns, shown, {
      importantColumns: ['project_name', 'vintage', 'type', 'amount', 'organization_name', 'credit_id'],
      tonneColumns: ['amount'],
    });
    const holders = formatCount(new Set(rows.map(row => row['organization_id'])).size, 'organization');
    await context.printLines('', `Available now: ${describeTotal(total)} of ${holders}.`);
  } else
    await context.printLines(
      isAsked ? 'No available credits match these filters.' : 'No credits are available now.',
    );
  const failing = warehouses.filter(each => each.failing_since !== null).length;
  const failed = failing === 0 ? '' : ` The last read of ${formatCount(failing, 'warehouse')} failed.`;
  await context.printLines(`${describeFreshness(warehouses.length, known)}${failed}`);
  if (leftOut.length === 0) return;
  const left = named(leftOut).map(each => `  ${each}`);
  await context.printLines('', 'Left out (last known amounts; see last_known_credits):', '', ...left);
}

function describeFreshness(fresh: number, known: number): string {
  if (fresh < known)
    return `${formatWithCommas(fresh)} of ${formatCount(known, 'organization')} are up to date.`;
  return known === 1
    ? 'The only organization is up to date.'
    : `All ${formatWithCommas(known)} organizations are up to date.`;
}

/** All that something is known of; of those that nobody has read some, and how many more there are. */
function named(leftOut: readonly LeftOut[]): string[] {
  const unread = leftOut.filter(({ state, rows }) => state === 'never_read' && rows === 0);
  const unnamed = new Set(unread.slice(MAX_SHOWN));
  const more = formatOmittedCount(unread.length);
  return [
    ...leftOut.filter(each => !unnamed.has(each)).map(describe),
    ...(more === null ? [] : [`${more} that were never read completely`]),
  ];
}

function describe(left: LeftOut): string {
  const { age_seconds: age, rows, amounts } = left;
  const sentence = sentenceOf(left);
  const name = truncateName(left.organization_name ?? left.organization_id ?? left.installation_id);
  const known = age === null ? 'never read completely' : `last read ${formatDuration(age)} ago`;
  const why = sentence === null ? '' : `, ${sentence}`;
  const tonnes = amounts.map(({ type, amount }) =>
    amount === null ? '' : `, ${formatWithCommas(Number(amount.toFixed(6)))} t ${formatCreditType(type)}`,
  );
  const unsummed = amounts.reduce((sum, { rowsWithoutAmount: more }) => sum + more, 0);
  const without = unsummed === 0 ? '' : `, excluding ${formatWithCommas(unsummed)} without a usable amount`;
  return `${name}: ${known}, ${wordsOf(left)}${why} (${formatCount(rows, 'row')}${tonnes.join('')}${without})`;
}
