import {
  type Balance,
  BALANCE_COLUMNS,
  coverageOf,
  type BalanceLine,
  listedIn,
  MAX_SUMS_SHOWN,
  readBalance,
  toReadableSums,
  verdictOn,
} from '../../query/history/balance.js';
import { truncateName } from '../../text/clean-text.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import { formatPlainTonnes } from '../../text/tonnes.js';
import { defineCommand } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { createCheckError } from '../command-error.js';
import { findOptionalOrganizationId } from '../find/find-rows.js';
import type { Row } from '../output/output-formats.js';
import { createProgress } from '../output/progress.js';
import { ORGANIZATION_OPTION } from '../options.js';

export const BALANCE = defineCommand({
  summary: 'Check that credits and retirements add up',
  details: 'Every sum is checked to the millionth of a tonne.',
  options: { organization: ORGANIZATION_OPTION },
  formats: { json: 'print as JSON', csv: 'print as CSV' },
  examples: ['carbon-mirror balance', 'carbon-mirror balance --organization ID --csv'],
  run: async (context, { organization }) => {
    const { format, printNotice } = context;
    const reader = await context.openReader();
    const organizationId = await findOptionalOrganizationId(reader, organization);
    const showProgress = createProgress(context.io);
    const balance = await readBalance(reader, organizationId, identity =>
      showProgress(`Adding up ${CHECKED_NAMES[identity]}`),
    );
    showProgress(null);
    const { balanced, rowsWithoutAmount, sums, notBalanced } = balance;
    if (format === 'json') await context.printJson({ organizationId, ...balance });
    else if (format === 'table') await printBalance(context, balance);
    else await context.printRows(BALANCE_COLUMNS, [...sums, ...notBalanced]);
    if (rowsWithoutAmount > 0) {
      printNotice(`${formatWithCommas(rowsWithoutAmount)} rows have no usable amount and are in no sum.`);
    }
    if (balanced === null) throw createCheckError(NOTHING_KNOWN);
    if (organizationId === null) printNotice(coverageOf(balance));
    if (!balanced)
      throw createCheckError('Some sums do not balance.', 'The table above shows each difference.');
  },
});

const CHECKED_NAMES: Readonly<Record<BalanceLine['identity'], string>> = {
  retirements: 'retirements',
  credits: 'credits',
};

const NOTHING_KNOWN = 'Nothing can be checked yet: no list with rows has been read completely.';

/** Columns of the table for people, and the field that each shows. */
const FIELD_BY_COLUMN: Readonly<Record<string, keyof BalanceLine>> = {
  identity: 'identity',
  organization_name: 'organization_name',
  what: 'what',
  type: 'type',
  rows: 'rows',
  opening: 'opening_micro',
  rose: 'risen_micro',
  fell: 'fallen_micro',
  found: 'found_micro',
  expected: 'expected_micro',
  difference: 'difference_micro',
};
const TONNES = Object.keys(FIELD_BY_COLUMN).filter(column => FIELD_BY_COLUMN[column]?.endsWith('_micro'));

/** Prints the sums of the balance check, then the reason for each sum that is not balanced. */
async function printBalance(
  { io, printRows, printLines, printNotice }: CommandContext,
  balance: Balance,
): Promise<void> {
  const { notBalanced, balanced } = balance;
  const { totals, failed, shown, hiddenCount } = toReadableSums(balance);
  const isShortened = io.terminal.stdout && hiddenCount > 0;
  const listed = isShortened ? [...totals, ...failed, ...shown] : listedIn(balance);
  const shape = {
    importantColumns: ['organization_name', 'what', 'type', 'found', 'difference', 'balanced'],
    tonneColumns: TONNES,
    emptyMessage: '',
  };
  if (listed.length > 0)
    await printRows([...Object.keys(FIELD_BY_COLUMN), 'balanced'], listed.map(toTableRow), shape);
  if (isShortened)
    printNotice(`${formatCount(hiddenCount, 'sum')} of single organizations not shown. Use --csv for all.`);
  await printLines('');
  if (notBalanced.length > 0) {
    const lines = (isShortened ? notBalanced.slice(0, MAX_SUMS_SHOWN) : notBalanced).map(
      line => `  ${`${getOwnerName(line)} ${truncateName(line.what)}`.trim()}: ${line.why}`,
    );
    const more = notBalanced.length - lines.length;
    if (more > 0) lines.push(`  and ${formatWithCommas(more)} more`);
    await printLines('Not balanced:', ...lines, '');
  }
  if (balanced !== null) await printLines(verdictOn(balance));
}

/** Formats a sum of the balance check as a table row with amounts in tonnes. */
function toTableRow(line: BalanceLine): Row {
  const cells = Object.entries(FIELD_BY_COLUMN).map(([column, field]) => {
    const value = line[field];
    const isAmount = field.endsWith('_micro') && value !== null;
    return [column, isAmount ? formatPlainTonnes(BigInt(value)) : value] as const;
  });
  return {
    ...Object.fromEntries(cells),
    organization_name: getOwnerName(line) || null,
    balanced: formatVerdict(line),
  };
}

/**
 * Returns the name of the organization, or the id if the name is unknown. Returns an empty text for a line
 * about all organizations.
 */
function getOwnerName({ organization_name: name, organization_id: id }: BalanceLine): string {
  return truncateName(name ?? id ?? '');
}

/** Returns `yes` if the line balances, `NO` if the line does not balance, and `unknown` otherwise. */
function formatVerdict({ balanced }: BalanceLine): string {
  return balanced === null ? 'unknown' : balanced ? 'yes' : 'NO';
}
