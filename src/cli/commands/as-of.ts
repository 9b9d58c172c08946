import { type Command, Option } from 'commander';
import type { Reader } from '../../engines/contract/reader.js';
import type { AsOf, DatedResource, ReadUnderWay } from '../../query/past/as-of.js';
import {
  DATED,
  readAsOf,
  readLastReadBefore,
  readOrganizationIds,
  readReadAt,
} from '../../query/past/as-of.js';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { addFile, addFormats, type FileOptions, formatOf, isCsv } from '../formats.js';
import { intoFile } from '../output/into-file.js';
import { aDate, readSpan, today } from '../instant.js';
import { type Io, print, say } from '../io.js';
import { knownAt } from '../known-at.js';
import { organizationIn } from '../named/in-mirror.js';
import { type Row, writeRows, writeValue } from '../output/output.js';
import { createTally, describeTotal } from '../output/totals.js';
import { findPlace } from '../place/find-place.js';
import { reading } from '../place/place.js';

interface AsOfOptions extends FileOptions {
  readonly organization?: string;
  readonly resource?: DatedResource;
}

const RESOURCES = ['warehouse', 'inventory', 'retirements'] as const;

export function define(program: Command, io: Io): void {
  const command = program
    .command('as-of')
    .description(
      'Show warehouse, inventory and retirements of an organization as the mirror had been told by then',
    )
    .argument('<date>', `the end of ${aDate(io)}`)
    .option('--organization <name>', 'the organization; may be left out where the mirror holds only one')
    .addOption(new Option('--resource <name>', 'one of them only').choices(RESOURCES))
    .action(async (date: string, options: AsOfOptions) => {
      const at = readSpan(date, io.now()).to;
      await intoFile({ io, findPlace }, { command: 'as-of' }, { ...options, asOf: at }, async (out, form) => {
        await reading(findPlace(io), async reader => await show(out, reader, at, form));
      });
    });
  addFile(addFormats(command, 'print it as JSON', 'print it as CSV; needs --resource'));
  examples(command, [
    `carbon-mirror as-of ${today(io)} --organization ID`,
    'carbon-mirror as-of now --resource retirements --out retirements.csv',
  ]);
}

async function show(io: Io, reader: Reader, at: string, options: AsOfOptions): Promise<void> {
  if (isCsv(options) && options.resource === undefined) {
    throw new CommandFault(
      EXIT.usage,
      '--csv prints one table: expected --resource warehouse, inventory or retirements.',
    );
  }
  const organizationId =
    options.organization === undefined
      ? onlyOne(await readOrganizationIds(reader))
      : await organizationIn(reader, options.organization);
  const wanted = (options.resource === undefined ? RESOURCES : [options.resource]).map(resource => ({
    organizationId,
    resource,
    at,
  }));
  const known = await knownAt(io, reader, wanted, asOf => asOf.resource);
  if (options.json) {
    const parts: Record<string, unknown> = {};
    for (const asOf of known) parts[asOf.resource] = await readPart(reader, asOf);
    return await writeValue(io, { organizationId, at, ...parts });
  }
  for (const asOf of known) await writePart(io, reader, asOf, options);
}

/** The title is data where people read it, and talk where a program does. */
async function writePart(io: Io, reader: Reader, asOf: AsOf, options: AsOfOptions): Promise<void> {
  const lastRead = await readLastReadBefore(reader, asOf);
  const title = `${asOf.resource} as of ${asOf.at}${lastRead === null ? '' : `, last read ${lastRead}`}:`;
  const read = await readReadAt(reader, asOf);
  if (read !== null) say(io, sayBeingRead(asOf, read));
  const { columns } = DATED[asOf.resource];
  if (isCsv(options)) {
    say(io, title);
    await writeRows(io, formatOf(options), columns, readAsOf(reader, asOf));
    return;
  }
  const tally = createTally();
  const rows = tally.count(readAsOf(reader, asOf));
  await print(io, title);
  await writeRows(io, 'table', columns, rows, { keep: ['amount_exact'], tonnes: ['amount_exact'] });
  await print(io, '', `${asOf.resource}: ${describeTotal(tally.total())}`, '');
}

async function readPart(reader: Reader, asOf: AsOf) {
  const rows: Row[] = [];
  for await (const row of readAsOf(reader, asOf)) rows.push(row);
  return {
    lastRead: await readLastReadBefore(reader, asOf),
    being_read: await readReadAt(reader, asOf),
    rows,
  };
}

function sayBeingRead({ resource, at }: AsOf, { from, to }: ReadUnderWay): string {
  const were = resource === 'retirements' ? 'were' : 'was';
  const until = to === null ? ' and still may be' : ` to ${to}`;
  return `${resource} ${were} being read from ${from}${until}: shown as told by ${at}.`;
}

function onlyOne(ids: readonly string[]): string {
  const [id] = ids;
  if (id !== undefined && ids.length === 1) return id;
  throw new CommandFault(
    EXIT.usage,
    `Expected --organization ID: the mirror holds ${ids.length} organizations.`,
    'See "carbon-mirror organizations list" for their ids.',
  );
}
