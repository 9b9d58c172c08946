import { type Command, Option } from 'commander';
import type { Reader } from '../../../engines/contract/reader.js';
import { tonnesOf } from '../../../text/tonnes.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { addFormats, type FormatOptions, formatOf, isCsv } from '../../formats.js';
import { AN_INSTANT, readInstant } from '../../instant.js';
import { type Io, print } from '../../io.js';
import { organizationOrAll } from '../../named/in-mirror.js';
import { readOrganizationNames } from '../../../query/names.js';
import { shortName } from '../../../text/clean.js';
import { writeRows, writeValue } from '../../output/output.js';
import { findPlace } from '../../place/find-place.js';
import { reading } from '../../place/place.js';
import { OF_ORGANIZATION } from '../../named/how-named.js';
import { type Asked, balanceOf } from './identities.js';
import { COLUMNS, type Line, microOf } from './line.js';

interface Options extends FormatOptions {
  readonly organization?: string;
  readonly year?: string;
  readonly asOf?: string;
}

export function define(program: Command, io: Io): void {
  const command = program
    .command('balance')
    .description('Show whether retirements, credits, projects and serializations add up, to the millionth')
    .option('--organization <name>', OF_ORGANIZATION)
    .option('--year <year>', 'what was learnt in that year, in UTC')
    .addOption(new Option('--as-of <instant>', `what was learnt by then: ${AN_INSTANT}`).conflicts('year'))
    .action(async (options: Options) => {
      await reading(findPlace(io), async reader => await show(io, reader, options));
    });
  addFormats(command, 'print it as JSON', 'print it as CSV');
  examples(command, [
    'carbon-mirror balance',
    'carbon-mirror balance --organization ID --year 2025',
    'carbon-mirror balance --as-of 2025-12-31 --csv',
  ]);
}

async function show(io: Io, reader: Reader, options: Options): Promise<void> {
  const asked = {
    organizationId: await organizationOrAll(reader, options.organization),
    ...readPeriod(options, io.now()),
  };
  const { sums, loose } = await balanceOf(reader, asked);
  const ties = loose.every(line => line.ties === null);
  if (options.json) await writeValue(io, { ...asked, ties, sums, doesNotTie: loose });
  else if (isCsv(options))
    await writeRows(
      io,
      formatOf(options),
      COLUMNS,
      [...sums, ...loose].map(line => ({ ...line })),
    );
  else await print(io, ...describe(sums, loose, await readNames(reader)));
  if (!ties) throw new CommandFault(EXIT.checkFailed, 'It does not add up.');
}

const YEAR = /^\d{4}$/;

function readPeriod({ year, asOf }: Options, now: number): Omit<Asked, 'organizationId'> {
  if (year === undefined) {
    return { year: null, from: null, to: readInstant(asOf ?? 'now', now), isNow: asOf === undefined };
  }
  const from = Date.parse(`${year}-01-01T00:00:00.000Z`);
  if (!YEAR.test(year) || from > now) {
    throw new CommandFault(EXIT.usage, `Expected a year that has begun, like 2025, got "${year}".`);
  }
  const end = Date.parse(`${year}-12-31T23:59:59.999Z`);
  return {
    year,
    from: new Date(from - 1).toISOString(),
    to: new Date(Math.min(end, now)).toISOString(),
    isNow: false,
  };
}

type Names = ReadonlyMap<string | null, string>;

async function readNames(reader: Reader): Promise<Names> {
  const named = await readOrganizationNames(reader);
  return new Map(named.map(({ id, name }) => [id, `${shortName(name ?? id)} `]));
}

function describe(sums: readonly Line[], loose: readonly Line[], names: Names): string[] {
  const whose = ({ organization_id: id }: Line) => names.get(id) ?? (id === null ? '' : `${id} `);
  const lines = sums.map(
    line => `${whose(line)}${line.identity}, ${line.what}: ${amounts(line)}: ${endOf(line)}`,
  );
  if (loose.length === 0) return lines;
  const rows = loose.map(line => `  ${whose(line)}${shortName(line.what)}: ${line.why}`);
  return [...lines, '', 'What does not tie:', ...rows];
}

function endOf({ ties }: Line): string {
  return ties === 1 ? 'ties' : ties === null ? 'not known yet' : 'DOES NOT TIE';
}

function amounts(line: Line): string {
  const tonnes = (micro: bigint | null) => `${tonnesOf(microOf(micro))} t`;
  const {
    opening_micro: opening,
    risen_micro: risen,
    fallen_micro: fallen,
    found_micro: found,
    expected_micro: expected,
  } = line;
  if (line.identity === 'serials') return String(line.rows);
  if (line.identity === 'retirements') return `${line.rows} with ${tonnes(found)}`;
  if (line.identity === 'projects')
    return `${line.rows} retirements with ${tonnes(found)}, seen to fall by ${tonnes(expected)}`;
  return `${tonnes(opening)}, seen to rise by ${tonnes(risen)} and to fall by ${tonnes(fallen)} between reads, ${tonnes(found)} listed`;
}
