import { type Command, Option } from 'commander';
import { type Available, type LeftOut, readAvailable } from '../../query/available.js';
import { shortName } from '../clean.js';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, print, say } from '../io.js';
import { OF_ORGANIZATION } from '../shown/lists.js';
import { organizationOrAll } from '../named/in-mirror.js';
import { writeRows, writeValue } from '../output.js';
import { findPlace, reading } from '../place.js';
import { ago, readDuration } from '../words.js';

interface AvailableOptions {
  readonly organization?: string;
  readonly maxAge?: string;
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
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
    .option('--strict', 'exit 3 where anything is left out')
    .option('--json', 'print both parts as JSON: rows and left_out')
    .addOption(new Option('--csv', 'print what can be sold as CSV').conflicts('json'))
    .action((options: AvailableOptions) => show(io, options));
  examples(command, [
    'carbon-mirror available',
    'carbon-mirror available --csv > available.csv',
    'carbon-mirror available --max-age 30m --strict --json',
  ]);
}

async function show(io: Io, options: AvailableOptions): Promise<void> {
  const maxAgeSeconds =
    options.maxAge === undefined ? null : readDuration('--max-age', options.maxAge) / 1000;
  const available = await reading(findPlace(io), async reader => {
    const organizationId = await organizationOrAll(reader, options.organization);
    return await readAvailable(reader, { organizationId, maxAgeSeconds });
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

/** "Nothing can be sold" would be more than is known. */
function demandKnown({ warehouses }: Available): void {
  if (warehouses > 0) return;
  throw new CommandFault(
    EXIT.checkFailed,
    'Nothing is known yet: the mirror has read no warehouse, and knows no active installation.',
    'See "carbon-mirror status"; "carbon-mirror sync" looks for installations.',
  );
}

async function write(io: Io, { rows, leftOut }: Available, options: AvailableOptions): Promise<void> {
  if (options.json) return await writeValue(io, { rows, leftOut });
  if (options.csv) {
    await writeRows(io, 'csv', COLUMNS, rows);
    for (const each of leftOut) say(io, `Left out: ${describe(each)}`);
    return undefined;
  }
  if (rows.length > 0) await writeRows(io, 'table', COLUMNS, rows);
  else await print(io, 'Nothing can be sold now.');
  if (leftOut.length === 0) return undefined;
  await print(io, '', 'Not for sale now (see last_known_credits):', '');
  await print(io, ...leftOut.map(each => `  ${describe(each)}`));
  return undefined;
}

function describe({
  organizationId,
  organizationName,
  state,
  ageSeconds,
  rows,
  amount,
  error,
}: LeftOut): string {
  const known = ageSeconds === null ? 'never read completely' : `known ${ago(ageSeconds)} ago`;
  const tonnes = amount === null ? '' : `, ${Number(amount.toFixed(6))} t`;
  const why = error === null ? '' : `: ${error}`;
  const name = shortName(organizationName ?? organizationId);
  return `${name}: ${known}, not for sale now: ${state}${why} (${rows} rows${tonnes})`;
}
