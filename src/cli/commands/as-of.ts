import { type Command, Option } from 'commander';
import type { Reader } from '../../engines/contract/reader.js';
import type { AsOf, DatedResource, ReadUnderWay } from '../../query/as-of.js';
import {
  DATED,
  readAsOf,
  readKnownSince,
  readLastReadBefore,
  readOrganizationIds,
  readReadAt,
} from '../../query/as-of.js';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { addFormats, type FormatOptions, formatOf, isCsv } from '../formats.js';
import { AN_INSTANT, readInstant } from '../instant.js';
import { emit, type Io, say } from '../io.js';
import { organizationIn } from '../named/in-mirror.js';
import { type Row, writeRows, writeValue } from '../output/output.js';
import { findPlace, reading } from '../place.js';

interface AsOfOptions extends FormatOptions {
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
    .argument('<date>', AN_INSTANT)
    .option('--organization <name>', 'the organization; may be left out where the mirror holds only one')
    .addOption(new Option('--resource <name>', 'one of them only').choices(RESOURCES))
    .action(async (date: string, options: AsOfOptions) => {
      const at = readInstant(date, io.now());
      await reading(findPlace(io), async reader => await show(io, reader, at, options));
    });
  addFormats(command, 'print it as JSON', 'print it as CSV; needs --resource');
  examples(command, [
    'carbon-mirror as-of 2025-12-31 --organization ID',
    'carbon-mirror as-of 2025-12-31T12:00:00Z --resource retirements --csv',
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
  const known = await knownAt(io, reader, wanted, options.resource === undefined);
  if (options.json) {
    const parts: Record<string, unknown> = {};
    for (const asOf of known) parts[asOf.resource] = await readPart(reader, asOf);
    return await writeValue(io, { organizationId, at, ...parts });
  }
  for (const asOf of known) {
    const lastRead = await readLastReadBefore(reader, asOf);
    say(io, `${asOf.resource} as of ${at}${lastRead === null ? '' : `, last read ${lastRead}`}:`);
    const read = await readReadAt(reader, asOf);
    if (read !== null) say(io, sayBeingRead(asOf, read));
    await writeRows(io, formatOf(options), DATED[asOf.resource].columns, readAsOf(reader, asOf));
    if (!isCsv(options)) await emit(io, '\n');
  }
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

/** What was known then. Where all were asked for, one that was never read is named and left out. */
async function knownAt(io: Io, reader: Reader, wanted: readonly AsOf[], tolerant: boolean): Promise<AsOf[]> {
  const unknown: string[] = [];
  const known: AsOf[] = [];
  for (const asOf of wanted) {
    const since = await readKnownSince(reader, asOf);
    if (since === null) unknown.push(`${asOf.resource}: never read completely`);
    else if (since > asOf.at) unknown.push(`${asOf.resource}: not known before ${since}`);
    else known.push(asOf);
  }
  if (known.length === 0 || !tolerant) {
    if (unknown.length === 0) return known;
    throw new CommandFault(
      EXIT.checkFailed,
      unknown,
      'The mirror cannot tell what was there before its first complete read.',
    );
  }
  for (const line of unknown) say(io, line);
  return known;
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
