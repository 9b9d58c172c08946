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
import { type Cell, writeRows } from '../output/output.js';
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
    const { known, balanced, rowsNotSummed, sums, notBalanced } = balance;
    if (format === 'json') await context.value({ ...asked, ...balance });
    else if (format === 'table') await writeSheets(context, sums, notBalanced, balanced !== null);
    else await context.rows(COLUMNS, [...sums, ...notBalanced]);
    if (rowsNotSummed > 0) {
      const many = withThousands(rowsNotSummed);
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

interface Sheet {
  readonly title: string;
  /** What a person reads, by the name of its column. */
  readonly shows: Readonly<Record<string, keyof NamedLine>>;
  /** What is said of those without a row, which are not shown. */
  readonly rest?: string;
}

const SHEETS: Readonly<Record<Line['identity'], Sheet>> = {
  retirements: {
    title: 'Retirements, against their own digits and the counters of certificates',
    shows: {
      organization_name: 'organization_name',
      counted: 'what',
      rows: 'rows',
      listed: 'found_micro',
      kept: 'expected_micro',
      difference: 'difference_micro',
    },
  },
  credits: {
    title: 'Credits: what stood there at first, and what was seen to rise and to fall between reads since',
    shows: {
      organization_name: 'organization_name',
      place: 'what',
      type: 'type',
      credits: 'rows',
      since: 'opening_at',
      opening: 'opening_micro',
      rose: 'risen_micro',
      fell: 'fallen_micro',
      listed: 'found_micro',
      difference: 'difference_micro',
    },
  },
  projects: {
    title: 'Projects and vintages: what reservations and requests retired was seen to fall',
    shows: {
      project_and_vintage: 'what',
      retirements: 'rows',
      retired: 'found_micro',
      fell: 'expected_micro',
      unexplained: 'unexplained_micro',
      difference: 'difference_micro',
    },
    rest: 'of which nothing was retired',
  },
  serials: {
    title: 'Serializations: each stands for one credit',
    shows: { serializations: 'rows' },
  },
};

/** A sheet for each identity, then what is not balanced, and a last line about all of them. */
async function writeSheets(
  context: Context,
  sums: readonly NamedLine[],
  unbalanced: readonly NamedLine[],
  isAnythingKnown: boolean,
): Promise<void> {
  for (const [identity, sheet] of Object.entries(SHEETS)) {
    const lines = sums.filter(line => line.identity === identity);
    if (lines.length > 0) await writeSheet(context, sheet, byName(lines));
  }
  if (unbalanced.length > 0) {
    const rows = unbalanced.map(line => `  ${`${whose(line)} ${shortName(line.what)}`.trim()}: ${line.why}`);
    await context.print('What is not balanced:', ...rows, '');
  }
  const rest = sums.reduce((sum, line) => sum + (line.unexplained_micro ?? 0n), 0n);
  if (rest > 0n) await context.print(`${plainTonnes(rest)} t of what was retired ${FROM_ELSEWHERE}`);
  if (isAnythingKnown) await context.print(verdictOn(sums));
}

const FROM_ELSEWHERE =
  'is explained by nothing that is mirrored: it may have come from an organization that is not.';

async function writeSheet({ io, print }: Context, sheet: Sheet, lines: readonly NamedLine[]): Promise<void> {
  const { title, shows, rest } = sheet;
  const listed = lines.filter(line => rest === undefined || line.rows > 0 || line.balanced !== true);
  const columns = Object.entries(shows);
  const rows = listed.map(line => ({
    ...Object.fromEntries(columns.map(([column, name]) => [column, cellOf(line, name)])),
    balanced: wordOf(line),
  }));
  const tonnes = columns.filter(([, name]) => name.endsWith('_micro')).map(([column]) => column);
  await print(title, '');
  if (rows.length > 0)
    await writeRows(io, 'table', [...Object.keys(shows), 'balanced'], rows, { keep: ['balanced'], tonnes });
  const left = lines.length - listed.length;
  if (left > 0)
    await print(`${withThousands(left)}${rows.length > 0 ? ' more' : ''} ${rest}: they are balanced.`);
  await print('');
}

function cellOf(line: NamedLine, name: keyof NamedLine): Cell {
  const value = line[name];
  if (name === 'organization_name') return whose(line);
  if (typeof value === 'bigint') return plainTonnes(value);
  return name === 'opening_at' && typeof value === 'string' ? `${value.slice(0, 16)}Z` : value;
}

function byName(lines: readonly NamedLine[]): NamedLine[] {
  const key = (line: NamedLine) => `${whose(line)}\0${line.what}`;
  return lines.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
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
