import type { Command } from 'commander';
import { type Available, type LeftOut, type Only, readAvailable } from '../../query/available.js';
import { andMore, MOST_SHOWN } from '../../text/and-more.js';
import { shortName } from '../../text/clean.js';
import { ofKnown } from '../../text/known.js';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { addFile, addFormats, type FileOptions, formatOf, isCsv } from '../formats.js';
import { intoFile } from '../output/into-file.js';
import { type Io, print, say } from '../io.js';
import { OF_ORGANIZATION } from '../named/how-named.js';
import { organizationOrAll } from '../named/in-mirror.js';
import { writeRows, writeValue } from '../output/output.js';
import { withThousands } from '../../text/thousands.js';
import { typeName } from '../../text/tonnes.js';
import { describeTotal, totalOf } from '../output/totals.js';
import { findPlace } from '../place/find-place.js';
import { reading } from '../place/place.js';
import { stretch } from '../../text/stretch.js';
import { readDuration } from '../words.js';

interface AvailableOptions extends FileOptions, Only {
  readonly organization?: string;
  readonly maxAge?: string;
  readonly strict?: boolean;
}

const COLUMNS = [
  'organization_name',
  'project_name',
  'vintage',
  'type',
  'amount',
  'rows_not_summed',
  'freshness',
  'age_seconds',
  'credit_id',
];

const FOR_PEOPLE = [
  'project_name',
  'vintage',
  'type',
  'amount',
  'organization_name',
  'age',
  'freshness',
  'credit_id',
  'rows_not_summed',
];

export function define(program: Command, io: Io): void {
  const command = program
    .command('available')
    .description(
      'What can be sold now, in tonnes, and what is known but not for sale, with its state and age',
    )
    .option('--organization <name>', OF_ORGANIZATION)
    .option(
      '--max-age <time>',
      'sell what was read completely within it, such as 30m, whatever happened since',
    )
    .option('--project <text>', 'of one project only: its id, or what its name holds')
    .option('--vintage <year>', 'of one vintage only')
    .option('--type <type>', 'of one type only, such as exPost or exAnte')
    .option('--strict', 'exit 3 where anything is left out')
    .action((options: AvailableOptions) =>
      intoFile({ io, findPlace }, { command: 'available' }, options, show),
    );
  addFormats(command, 'print both parts as JSON: rows and left_out', 'print what can be sold as CSV');
  addFile(command);
  examples(command, [
    'carbon-mirror available',
    'carbon-mirror available --project Mangrove --vintage 2021',
    'carbon-mirror available --out available.csv',
    'carbon-mirror available --max-age 30m --strict --json',
  ]);
}

async function show(io: Io, options: AvailableOptions): Promise<void> {
  demandVintage(options);
  const maxAgeSeconds =
    options.maxAge === undefined ? null : readDuration('--max-age', options.maxAge) / 1000;
  const available = await reading(findPlace(io), async reader => {
    const organizationId = await organizationOrAll(reader, options.organization);
    return await readAvailable(reader, { organizationId, maxAgeSeconds, only: options });
  });
  demandKnown(available);
  await write(io, available, options);
  const left = available.leftOut.length;
  if (left === 0 || options.strict !== true) return;
  throw new CommandFault(
    EXIT.checkFailed,
    `${left} ${left === 1 ? 'warehouse is' : 'warehouses are'} left out.`,
  );
}

function demandVintage({ vintage }: AvailableOptions): void {
  if (vintage === undefined || /^\d{4}$/.test(vintage)) return;
  throw new CommandFault(EXIT.usage, `--vintage: expected a year, got "${vintage}".`);
}

/** "Nothing can be sold" would be more than is known. */
function demandKnown({ known, uninstalled }: Available): void {
  if (known + uninstalled > 0) return;
  throw new CommandFault(
    EXIT.checkFailed,
    'Nothing is known yet: the mirror has read no warehouse, and knows no active installation.',
    'See "carbon-mirror status"; "carbon-mirror sync" looks for installations.',
  );
}

async function write(io: Io, available: Available, options: AvailableOptions): Promise<void> {
  const { rows, leftOut, known, uninstalled } = available;
  if (options.json) return await writeValue(io, { known, uninstalled, rows, leftOut });
  if (isCsv(options)) {
    await writeRows(io, formatOf(options), COLUMNS, rows);
    for (const each of named(leftOut)) say(io, `Left out: ${each}`);
    return undefined;
  }
  if (rows.length > 0) await writeForPeople(io, available);
  else
    await print(
      io,
      isAsked(options) ? 'Nothing of what can be sold now is as asked for.' : 'Nothing can be sold now.',
    );
  if (leftOut.length === 0) return undefined;
  await print(io, '', 'Not for sale now (see last_known_credits):', '');
  await print(io, ...named(leftOut).map(each => `  ${each}`));
  return undefined;
}

function isAsked({ organization, project, vintage, type }: AvailableOptions): boolean {
  return [organization, project, vintage, type].some(asked => asked !== undefined);
}

async function writeForPeople(io: Io, { rows, known }: Available): Promise<void> {
  const total = totalOf(rows);
  const columns = FOR_PEOPLE.filter(name => name !== 'rows_not_summed' || total.notSummed > 0);
  const shown = rows.map(row => ({ ...row, age: stretch(Number(row['age_seconds'])) }));
  await writeRows(io, 'table', columns, shown, {
    keep: ['project_name', 'amount'],
    tonnes: ['amount'],
  });
  const warehouses = new Set(rows.map(row => row['organization_id'])).size;
  const of = `${withThousands(warehouses)} of ${ofKnown(known)}`;
  await print(io, '', `Can be sold now, in ${of}: ${describeTotal(total)}.`);
}

/** All that something is known of; of those that nobody has read some, and how many more there are. */
function named(leftOut: readonly LeftOut[]): string[] {
  const unread = leftOut.filter(({ state, rows }) => state === 'never_read' && rows === 0);
  const some = unread.slice(0, MOST_SHOWN);
  const more = andMore(unread.length);
  return [
    ...leftOut.filter(each => !unread.includes(each) || some.includes(each)).map(describe),
    ...(more === null ? [] : [`${more} that were never read completely`]),
  ];
}

function describe({
  organizationId,
  installationId,
  organizationName,
  state,
  ageSeconds,
  rows,
  amounts,
  error,
}: LeftOut): string {
  const known = ageSeconds === null ? 'never read completely' : `known ${stretch(ageSeconds)} ago`;
  const tonnes = amounts
    .map(({ type, amount }) => `, ${withThousands(Number(amount.toFixed(6)))} t ${typeName(type)}`)
    .join('');
  const why = error === null ? '' : `: ${error}`;
  const name = shortName(organizationName ?? organizationId ?? installationId);
  return `${name}: ${known}, not for sale now: ${state}${why} (${rows} rows${tonnes})`;
}
