import { type BalanceAsked, type Line, type NamedLine, readBalance } from '../../query/history/balance.js';
import { shortName } from '../../text/clean.js';
import { ofKnown } from '../../text/known.js';
import { withThousands } from '../../text/thousands.js';
import { plainTonnes } from '../../text/tonnes.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { CommandFault, EXIT } from '../exit.js';
import { readSpan } from '../instant.js';
import { organizationOrAll } from '../find/in-mirror.js';
import type { Row } from '../output/output.js';
import { date, ORGANIZATION, year } from '../taken.js';

/** As programs take them. */
const COLUMNS = [
  'identity',
  'organization_name',
  'organization_id',
  'what',
  'type',
  'rows',
  'opening_at',
  'opening_micro',
  'risen_micro',
  'fallen_micro',
  'found_micro',
  'expected_micro',
  'explained_micro',
  'unexplained_micro',
  'difference_micro',
  'balanced',
  'why',
] as const satisfies readonly (keyof NamedLine)[];

export const BALANCE = command({
  says: 'Show whether retirements, credits, projects and serializations add up, to the millionth',
  options: {
    organization: ORGANIZATION,
    year: year('what was observed in that year, in UTC'),
    asOf: { ...date('what was observed by then: the end of'), conflicts: ['year'] },
  },
  prints: { json: 'print it as JSON', csv: 'print it as CSV' },
  examples: today => [
    'carbon-mirror balance',
    'carbon-mirror balance --organization ID --year 2025',
    `carbon-mirror balance --as-of ${today} --csv`,
  ],
  run: async (context, { organization, year: ofYear, asOf }) => {
    const { io, format, say } = context;
    const reader = await context.reader();
    const organizationId = await organizationOrAll(reader, organization);
    const asked = { organizationId, ...periodOf(ofYear, asOf?.to, io.now()) };
    if (!asked.isNow) say(`What was observed by ${asked.to}.`, OF_NOW);
    const balance = await readBalance(reader, asked);
    const { known, balanced, rowsWithoutAmount, sums, notBalanced } = balance;
    if (format === 'json') await context.value({ ...asked, ...balance });
    else if (format === 'table') await writeForPeople(context, balance);
    else await context.rows(COLUMNS, [...sums, ...notBalanced]);
    if (rowsWithoutAmount > 0) {
      const many = withThousands(rowsWithoutAmount);
      say(`${many} rows have no amount that can be added: no sum has them in it, balanced or not.`);
    }
    if (balanced === null) throw new CommandFault(EXIT.checkFailed, NOTHING_KNOWN);
    if (organizationId === null) say(`This is of ${ofKnown(known)}.`);
    if (!balanced) throw new CommandFault(EXIT.checkFailed, 'It does not add up.');
  },
});

const OF_NOW = 'Projects and serializations are compared at this moment only.';
const NOTHING_KNOWN = 'Nothing can be added up: by then no list that has rows had been read completely.';

function periodOf(
  ofYear: string | undefined,
  by: string | undefined,
  now: number,
): Omit<BalanceAsked, 'organizationId'> {
  if (ofYear === undefined)
    return { year: null, from: null, to: by ?? readSpan('now', now).to, isNow: by === undefined };
  const { from, to } = readSpan(ofYear, now);
  return { year: ofYear, from: new Date(Date.parse(from) - 1).toISOString(), to, isNow: false };
}

const IDENTITIES: readonly Line['identity'][] = ['retirements', 'credits', 'projects', 'serials'];
/** What a person reads, by the name of its column. */
const SHOWN: Readonly<Record<string, keyof NamedLine>> = {
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
async function writeForPeople(
  { rows, print }: Context,
  { sums, notBalanced, balanced }: Awaited<ReturnType<typeof readBalance>>,
): Promise<void> {
  const listed = sums.filter(line => line.rows > 0 || line.balanced !== true);
  const shape = { keep: ['identity', 'what', 'balanced'], tonnes: TONNES, none: '' };
  if (listed.length > 0)
    await rows([...Object.keys(SHOWN), 'balanced'], listed.toSorted(byIdentity).map(toRow), shape);
  await print('');
  const empty = sums.length - listed.length;
  if (empty > 0) await print(`${withThousands(empty)} more, of nothing: they are balanced.`);
  if (notBalanced.length > 0) {
    const lines = notBalanced.map(
      line => `  ${`${whose(line)} ${shortName(line.what)}`.trim()}: ${line.why}`,
    );
    await print('What is not balanced:', ...lines, '');
  }
  const rest = sums.reduce((sum, line) => sum + (line.unexplained_micro ?? 0n), 0n);
  if (rest > 0n) await print(`${plainTonnes(rest)} t of what was retired ${FROM_ELSEWHERE}`);
  if (balanced !== null) await print(verdictOn(sums));
}

const FROM_ELSEWHERE =
  'is explained by nothing that is mirrored: it may have come from an organization that is not.';

function toRow(line: NamedLine): Row {
  const cells = Object.entries(SHOWN).map(([column, name]) => {
    const value = line[name];
    return [column, typeof value === 'bigint' ? plainTonnes(value) : value] as const;
  });
  return { ...Object.fromEntries(cells), organization_name: whose(line) || null, balanced: wordOf(line) };
}

function byIdentity(one: NamedLine, other: NamedLine): number {
  const key = (line: NamedLine) => [IDENTITIES.indexOf(line.identity), whose(line), line.what].join('\0');
  return key(one) < key(other) ? -1 : 1;
}

function whose({ organization_name: name, organization_id: id }: NamedLine): string {
  return shortName(name ?? id ?? '');
}

function wordOf({ balanced }: Line): string {
  return balanced === null ? 'not known yet' : balanced ? 'yes' : 'NO';
}

function verdictOn(sums: readonly Line[]): string {
  const counted = (balanced: Line['balanced']) => sums.filter(line => line.balanced === balanced).length;
  const [unbalanced, unknown] = [counted(false), counted(null)];
  const of = `of ${withThousands(sums.length)} sums`;
  const left = unknown === 0 ? '' : ` ${withThousands(unknown)} are not known yet.`;
  if (unbalanced > 0) return `${withThousands(unbalanced)} ${of} are not balanced.${left}`;
  return unknown === 0
    ? `All ${withThousands(sums.length)} sums are balanced.`
    : `All others are balanced.${left}`;
}
