import { describeBalanceReason } from '../../query/history/balance-reason.js';
import { streamOf } from '../../query/answer/answer.js';
import { CAVEATS_COLUMN, serializeAnswer, withNotesCell } from '../../query/answer/serialize.js';
import {
  BALANCE_COLUMNS,
  type BalanceLine,
  type BalanceLines,
  collectBalance,
  describeVerdict,
  MAX_SUMS_SHOWN,
  readBalance,
  selectListedSums,
  toReadableSums,
} from '../../query/history/balance.js';
import { truncateName } from '../../text/clean-text.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import { formatPlainTonnes } from '../../text/tonnes.js';
import { defineCommand } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { createCheckError } from '../command-error.js';
import { findOptionalOrganizationId } from '../find-rows.js';
import { streamStdout } from '../io.js';
import { printAnswerNotes } from '../output/answer.js';
import { type Row, toJson } from '../output/output-formats.js';
import { createProgress } from '../output/progress.js';
import { ORGANIZATION_OPTION } from '../options.js';

export const BALANCE = defineCommand({
  summary: 'Check that credits and retirements add up',
  details: 'Every sum is checked to the millionth of a tonne.',
  options: { organization: ORGANIZATION_OPTION },
  formats: { json: 'print as JSON', csv: 'print as CSV' },
  examples: ['carbon-mirror balance', 'carbon-mirror balance --organization ID --csv'],
  run: async (context, { organization }) => {
    const { format } = context;
    const reader = await context.openReader();
    const organizationId = await findOptionalOrganizationId(reader, organization);
    const showProgress = createProgress(context.io);
    const answer = await readBalance(reader, organizationId, identity =>
      showProgress(`Adding up ${identity}`),
    );
    showProgress(null);
    const lines = await collectBalance(answer);
    const { sums, differences, balanced } = lines;
    const rows = streamOf([...sums, ...differences]);
    if (format === 'json') {
      const more = { organization_id: organizationId, balanced };
      await streamStdout(context.io, serializeAnswer(rows, answer, toJson, more));
    } else if (format === 'csv') {
      const cells = withNotesCell(rows, answer);
      await context.printRows([...BALANCE_COLUMNS, CAVEATS_COLUMN], cells);
    } else await printBalance(context, lines);
    printAnswerNotes(context.io, answer);
    if (balanced === null) throw createCheckError(NOTHING_KNOWN);
    if (!balanced)
      throw createCheckError('Some sums do not balance.', 'The table above shows each difference.');
  },
});

const NOTHING_KNOWN = 'Nothing can be checked yet: no list with rows has been read completely.';

/** Columns of the table for people, and the field that each shows. */
const FIELD_BY_COLUMN: Readonly<Record<string, keyof Omit<BalanceLine, 'why'>>> = {
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

/**
 * Prints the result of the balance check. The check calculates each sum of credits and of retirements in two ways, which must agree. Prints
 * these sums, then the reason for each row whose two amounts differ, then how many checks passed.
 */
async function printBalance(
  { io, printRows, printLines, printNotice }: CommandContext,
  { sums, differences, balanced }: BalanceLines,
): Promise<void> {
  const { totals, failed, shown, hiddenCount } = toReadableSums(sums);
  const isShortened = io.terminal.stdout && hiddenCount > 0;
  const listed = isShortened ? [...totals, ...failed, ...shown] : selectListedSums(sums);
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
  if (differences.length > 0) {
    const lines = (isShortened ? differences.slice(0, MAX_SUMS_SHOWN) : differences).map(
      line =>
        `  ${`${getOwnerName(line)} ${truncateName(line.what)}`.trim()}: ${line.why && describeBalanceReason(line.why)}`,
    );
    const more = differences.length - lines.length;
    if (more > 0) lines.push(`  and ${formatWithCommas(more)} more`);
    await printLines('Not balanced:', ...lines, '');
  }
  if (balanced !== null) await printLines(describeVerdict(sums));
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

/** Returns `yes` if the line balances, else `NO`. */
function formatVerdict({ balanced }: BalanceLine): string {
  return balanced ? 'yes' : 'NO';
}
