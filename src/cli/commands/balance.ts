import {
  type Balance,
  BALANCE_COLUMNS,
  coverageOf,
  isUpperBound,
  type Line,
  listedIn,
  readBalance,
  verdictOn,
} from '../../query/history/balance.js';
import { truncateName } from '../../text/clean-text.js';
import { withThousands } from '../../text/numbers.js';
import { formatPlainTonnes } from '../../text/tonnes.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { checkFault } from '../exit.js';
import { organizationOrAll } from '../find/in-mirror.js';
import type { Row } from '../output/output.js';
import { ORGANIZATION } from '../options.js';

export const BALANCE = command({
  says: 'Show whether retirements, credits, projects and serializations add up, to the millionth',
  options: { organization: ORGANIZATION },
  prints: { json: 'print it as JSON', csv: 'print it as CSV' },
  examples: ['carbon-mirror balance', 'carbon-mirror balance --organization ID --csv'],
  run: async (context, { organization }) => {
    const { format, say } = context;
    const reader = await context.reader();
    const organizationId = await organizationOrAll(reader, organization);
    const balance = await readBalance(reader, organizationId);
    const { balanced, rowsWithoutAmount, sums, notBalanced } = balance;
    if (format === 'json') await context.value({ organizationId, ...balance });
    else if (format === 'table') await writeForPeople(context, balance);
    else await context.rows(BALANCE_COLUMNS, [...sums, ...notBalanced]);
    if (rowsWithoutAmount > 0) {
      const many = withThousands(rowsWithoutAmount);
      say(`${many} rows have no amount that can be added: no sum has them in it, balanced or not.`);
    }
    if (balanced === null) throw checkFault(NOTHING_KNOWN);
    if (organizationId === null) say(coverageOf(balance));
    else say('Projects and serializations are compared over all organizations only.');
    if (!balanced) throw checkFault('It does not add up.', 'The rows that are not balanced say by how much.');
  },
});

const NOTHING_KNOWN = 'Nothing can be added up: no list that has rows has been read completely.';

/** What a person reads, by the name of its column. */
const SHOWN: Readonly<Record<string, keyof Line>> = {
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
const TONNES = Object.keys(SHOWN).filter(name => SHOWN[name]?.endsWith('_micro'));

/** Each sum, then what is not balanced with its rows, and a last line about all of them. */
async function writeForPeople({ rows, print }: Context, balance: Balance): Promise<void> {
  const { sums, notBalanced, balanced } = balance;
  const listed = listedIn(balance);
  const shape = {
    keep: ['organization_name', 'what', 'type', 'found', 'difference', 'balanced'],
    tonnes: TONNES,
    none: '',
  };
  if (listed.length > 0) await rows([...Object.keys(SHOWN), 'balanced'], listed.map(toRow), shape);
  await print('');
  if (notBalanced.length > 0) {
    const lines = notBalanced.map(
      line => `  ${`${whose(line)} ${truncateName(line.what)}`.trim()}: ${line.why}`,
    );
    await print('What is not balanced:', ...lines, '');
  }
  const rest = sums.reduce((sum, line) => sum + BigInt(line.unexplained_micro ?? 0), 0n);
  if (rest > 0n) await print(`${formatPlainTonnes(rest)} t of what was retired ${FROM_ELSEWHERE}`);
  if (balanced !== null) await print(verdictOn(balance));
}

const FROM_ELSEWHERE =
  'fits no reservation or request in the mirror: it may come from an organization that is not mirrored.';

function toRow(line: Line): Row {
  const cells = Object.entries(SHOWN).map(([column, name]) => {
    const value = line[name];
    const isMicro = name.endsWith('_micro') && value !== null;
    const bound = name === 'expected_micro' && isUpperBound(line) ? '≤ ' : '';
    return [column, isMicro ? `${bound}${formatPlainTonnes(BigInt(value))}` : value] as const;
  });
  return { ...Object.fromEntries(cells), organization_name: whose(line) || null, balanced: wordOf(line) };
}

function whose({ organization_name: name, organization_id: id }: Line): string {
  return truncateName(name ?? id ?? '');
}

function wordOf({ balanced }: Line): string {
  return balanced === null ? 'not known yet' : balanced ? 'yes' : 'NO';
}
