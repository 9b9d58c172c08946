import { type Available, type LeftOut, readAvailable, wasEverHeld } from '../../query/available.js';
import { textOf } from '../../query/lists/ask.js';
import { WAREHOUSE } from '../../query/lists/lists.js';
import { sentenceOf, wordsOf } from '../../query/freshness/words.js';
import {
  formatRest,
  formatCount,
  MAX_SHOWN,
  formatKnownOrganizations,
  withThousands,
} from '../../text/numbers.js';
import { truncateName } from '../../text/clean-text.js';
import { formatDuration } from '../../text/duration.js';
import { creditTypeName } from '../../text/tonnes.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { checkFault, notThereFault } from '../exit.js';
import { askOf, filterOptions } from '../lists/filters.js';
import { describeTotal, totalOf } from '../output/totals.js';

const OF_A_ROW = ['vintage', 'type', 'amount'];
const NAMES = ['organization_name', 'project_name'];
const STANDS = ['freshness', 'failing_since', 'age_seconds'];
const COLUMNS = [...NAMES, ...OF_A_ROW, 'rows_without_amount', ...STANDS, 'credit_id'];
const FOR_PEOPLE = ['project_name', ...OF_A_ROW, 'organization_name', 'age', 'freshness', 'credit_id'];

export const AVAILABLE = command({
  says: 'Show the credits that are available to sell now, and which warehouses are left out and why',
  options: filterOptions(WAREHOUSE),
  prints: {
    json: 'print both parts as JSON: rows and left_out',
    csv: 'print what is available as CSV',
  },
  examples: [
    'carbon-mirror available --project Mangrove --vintage 2021',
    'carbon-mirror available --csv > available.csv',
  ],
  run: async (context, given) => {
    const reader = await context.reader();
    const asked = await askOf(context, WAREHOUSE, { given, at: null });
    const organizationId = textOf(asked, 'organization_id');
    const chosen = asked.filters.filter(({ name }) => name !== 'organization_id');
    const where = chosen.map(({ condition }) => condition);
    const available = await readAvailable(reader, { organizationId, where });
    const { rows, leftOut, known, uninstalled } = available;
    demandKnown(available);
    for (const { name, text, condition } of rows.length === 0 ? chosen : []) {
      if (await wasEverHeld(reader, condition)) continue;
      throw notThereFault(
        `No warehouse has held a credit of the ${name} "${text}", as far as the mirror has seen.`,
        'See "carbon-mirror available" for those of now.',
      );
    }
    if (context.format === 'json') await context.value({ known, uninstalled, rows, leftOut });
    else if (context.format === 'table') {
      await writeForPeople(context, available, asked.filters.length > 0);
    } else {
      await context.rows(COLUMNS, rows);
      context.say(...named(leftOut).map(each => `Left out: ${each}`));
    }
  },
});

/** "Nothing is available" would be more than is known. */
function demandKnown({ known, uninstalled }: Available): void {
  if (known + uninstalled > 0) return;
  throw checkFault(
    'The mirror has read no warehouse yet, and it has found no active installation.',
    'See "carbon-mirror status"; "carbon-mirror sync" looks for installations.',
  );
}

async function writeForPeople(
  context: Context,
  { rows, known, warehouses, leftOut }: Available,
  isAsked: boolean,
) {
  const total = totalOf(rows);
  if (rows.length > 0) {
    const columns = [...FOR_PEOPLE, ...(total.notSummed > 0 ? ['rows_without_amount'] : [])];
    const standings = new Map<unknown, string>(warehouses.map(each => [each.organization_id, wordsOf(each)]));
    const shown = rows.map(row => ({
      ...row,
      age: formatDuration(Number(row['age_seconds'])),
      freshness: standings.get(row['organization_id']) ?? null,
    }));
    await context.rows(columns, shown, {
      keep: ['project_name', 'vintage', 'type', 'amount', 'organization_name', 'credit_id'],
      tonnes: ['amount'],
    });
    const holders = formatCount(new Set(rows.map(row => row['organization_id'])).size, 'organization');
    await context.print('', `Available now: ${describeTotal(total)} of ${holders}.`);
  } else
    await context.print(
      isAsked ? 'Nothing that is available now fits what was asked for.' : 'Nothing is available now.',
    );
  const failing = warehouses.filter(each => each.failing_since !== null).length;
  const failed = failing === 0 ? '' : `; the last read failed in ${withThousands(failing)}`;
  const fresh = `${warehouses.length === 1 ? 'is' : 'are'} ${withThousands(warehouses.length)}`;
  await context.print(`Fresh ${fresh} of ${formatKnownOrganizations(known)}${failed}.`);
  if (leftOut.length === 0) return;
  const left = named(leftOut).map(each => `  ${each}`);
  await context.print('', 'Not available now (see last_known_credits):', '', ...left);
}

/** All that something is known of; of those that nobody has read some, and how many more there are. */
function named(leftOut: readonly LeftOut[]): string[] {
  const unread = leftOut.filter(({ state, rows }) => state === 'never_read' && rows === 0);
  const unnamed = new Set(unread.slice(MAX_SHOWN));
  const more = formatRest(unread.length);
  return [
    ...leftOut.filter(each => !unnamed.has(each)).map(describe),
    ...(more === null ? [] : [`${more} that were never read completely`]),
  ];
}

function describe(left: LeftOut): string {
  const { age_seconds: age, rows, amounts } = left;
  const sentence = sentenceOf(left);
  const name = truncateName(left.organization_name ?? left.organization_id ?? left.installation_id);
  const known = age === null ? 'never read completely' : `known ${formatDuration(age)} ago`;
  const why = sentence === null ? '' : `, ${sentence}`;
  const tonnes = amounts.map(({ type, amount }) =>
    amount === null ? '' : `, ${withThousands(Number(amount.toFixed(6)))} t ${creditTypeName(type)}`,
  );
  const unsummed = amounts.reduce((sum, { rowsWithoutAmount: more }) => sum + more, 0);
  const without = unsummed === 0 ? '' : `, without ${withThousands(unsummed)} whose amount cannot be summed`;
  return `${name}: ${known}, not available now: ${wordsOf(left)}${why} (${formatCount(rows, 'row')}${tonnes.join('')}${without})`;
}
