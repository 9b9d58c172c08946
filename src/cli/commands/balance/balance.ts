import { type Command, Option } from 'commander';
import type { Reader } from '../../../engines/contract/reader.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { addFormats, type FormatOptions, formatOf, isCsv } from '../../formats.js';
import { aDate, readSpan, readYear, today } from '../../instant.js';
import { type Io, say } from '../../io.js';
import { withThousands } from '../../../text/thousands.js';
import { organizationOrAll } from '../../named/in-mirror.js';
import { readOrganizationNames } from '../../../query/names.js';
import { writeRows, writeValue } from '../../output/output.js';
import { findPlace } from '../../place/find-place.js';
import { reading } from '../../place/place.js';
import { OF_ORGANIZATION } from '../../named/how-named.js';
import { isNothingKnown, NOTHING_KNOWN, writeForPeople } from './for-people.js';
import { countKnown, countKnownAt } from '../../../query/coverage.js';
import { ofKnown } from '../../../text/known.js';
import { type Asked, balanceOf } from './identities.js';
import { COLUMNS, type Line } from './line.js';

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
    .addOption(
      new Option('--as-of <instant>', `what was learnt by then: the end of ${aDate(io)}`).conflicts('year'),
    )
    .action(async (options: Options) => {
      await reading(findPlace(io), async reader => await show(io, reader, options));
    });
  addFormats(command, 'print it as JSON', 'print it as CSV');
  examples(command, [
    'carbon-mirror balance',
    'carbon-mirror balance --organization ID --year 2025',
    `carbon-mirror balance --as-of ${today(io)} --csv`,
  ]);
}

async function show(io: Io, reader: Reader, options: Options): Promise<void> {
  const asked = {
    organizationId: await organizationOrAll(reader, options.organization),
    ...readPeriod(options, io.now()),
  };
  if (!asked.isNow) say(io, `As told by ${asked.to}.`);
  const balance = await balanceOf(reader, asked);
  const names = new Map((await readOrganizationNames(reader)).map(({ id, name }) => [id, name]));
  const named = (line: Line) => ({
    organization_name: names.get(line.organization_id ?? '') ?? null,
    ...line,
  });
  const [sums, loose] = [balance.sums.map(named), balance.loose.map(named)];
  const isNothing = isNothingKnown(sums);
  const ties = isNothing ? null : loose.every(line => line.ties === null);
  const { notSummed = 0 } = balance;
  const known = asked.isNow ? await countKnown(reader) : await countKnownAt(reader, asked.to);
  if (options.json)
    await writeValue(io, { ...asked, known, ties, rowsNotSummed: notSummed, sums, doesNotTie: loose });
  else if (isCsv(options)) await writeRows(io, formatOf(options), COLUMNS, [...sums, ...loose]);
  else await writeForPeople(io, sums, loose);
  if (notSummed > 0)
    say(
      io,
      `${withThousands(notSummed)} rows have no amount that can be added: they are in no sum, whatever ties.`,
    );
  if (asked.organizationId === null && !isNothing) say(io, `This is of ${ofKnown(known)}.`);
  if (isNothing) throw new CommandFault(EXIT.checkFailed, NOTHING_KNOWN);
  if (ties === false) throw new CommandFault(EXIT.checkFailed, 'It does not add up.');
}

function readPeriod({ year, asOf }: Options, now: number): Omit<Asked, 'organizationId'> {
  if (year === undefined) {
    return { year: null, from: null, to: readSpan(asOf ?? 'now', now).to, isNow: asOf === undefined };
  }
  const { from, to } = readSpan(readYear(year), now);
  return { year, from: new Date(Date.parse(from) - 1).toISOString(), to, isNow: false };
}
