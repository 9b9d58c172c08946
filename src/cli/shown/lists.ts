import { type Command, Option } from 'commander';
import type { Reader } from '../../engines/contract/reader.js';
import { readByName, readList } from '../../query/lists.js';
import { type Entry, NAME_OF_OWNER, nameOf } from '../../resources/entry.js';
import { examples } from '../command.js';
import { connect } from '../connect.js';
import { addFormats, formatOf } from '../formats.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, print, say } from '../io.js';
import type { ListOptions, LiveList, LiveOne } from './live.js';
import { organizationOrAll } from '../named/in-mirror.js';
import { findInstalled } from '../named/live.js';
import { type Row, writeRows, writeValue } from '../output/output.js';
import { findPlace, findSettings, reading, type Place } from '../place.js';

export interface Resource {
  readonly noun: string;
  readonly list: Entry;
  /** What a person reads of it, where that is not what stands in the table. */
  readonly columns?: readonly string[];
  readonly refine?: (row: Row) => Row;
  readonly live?: LiveList;
  readonly liveOne?: LiveOne;
  /** How one that is shown may be named beside its id. */
  readonly find?: (reader: Reader, text: string) => Promise<string>;
}

/** How an organization, an installation or an app may be named. */
export const HOW_NAMED = 'its id, its name or the beginning of either';
export const OF_ORGANIZATION = `of one organization only: ${HOW_NAMED}`;

const LIMIT = new Option('--limit <n>', 'show at most so many, 0 for all').default('100');

/** `list`: from the mirror, or with --live from the registry. */
export function defineList(parent: Command, io: Io, resource: Resource): Command {
  const command = parent
    .command('list')
    .description(`List ${resource.noun} of the mirror`)
    .option('--organization <name>', OF_ORGANIZATION)
    .addOption(LIMIT)
    .action(async (options: ListOptions) => {
      const limit = readLimit(options.limit);
      const all = resource.columns ?? resource.list.shown.columns;
      const columns = options.live ? all.filter(name => name !== NAME_OF_OWNER) : all;
      const shape = { keep: [...columns.slice(0, 1), nameOf(resource.list)], tonnes: ['amount_exact'] };
      const show = async (rows: AsyncIterable<Row>) => {
        const shown = await writeRows(
          io,
          formatOf(options),
          columns,
          take(refined(rows, resource), limit),
          shape,
        );
        if (shown === limit) say(io, `Shown: ${shown}. There may be more: --limit 0 shows all.`);
      };
      if (options.live) return await show(await readLive(io, findSettings(io), resource, options));
      return await reading(findPlace(io), async reader => {
        const organizationId = await organizationOrAll(reader, options.organization);
        await show(readList(reader, resource.list, { organizationId, limit: limit || null }));
      });
    });
  addFormats(command);
  return resource.live === undefined
    ? command
    : command.option('--live', 'ask the registry instead of the mirror');
}

/** `show ID`: every column, and the registry's whole object. */
export function defineShow(parent: Command, io: Io, resource: Resource): Command {
  const command = parent
    .command('show')
    .description(`Show one of the ${resource.noun}, with the registry's whole object`)
    .argument('<id>', `value of the column ${nameOf(resource.list)}`)
    .option('--organization <name>', `whose it is: ${HOW_NAMED}`)
    .option('--json', 'print it as JSON')
    .action(async (id: string, options: ListOptions) => {
      const place = options.live ? findSettings(io) : findPlace(io);
      const rows = options.live
        ? [await readLiveOne(io, place, resource, id, options)]
        : await readMirrorOne(place, resource, id, options);
      const shown = rows.map(row => resource.refine?.(row) ?? row);
      if (options.json) return await writeValue(io, shown.length === 1 ? shown[0] : shown);
      for (const row of shown) await print(io, ...sheet(row));
      return undefined;
    });
  return resource.liveOne === undefined
    ? command
    : command.option('--live', 'ask the registry instead of the mirror');
}

export function defineGroup(
  program: Command,
  name: string,
  description: string,
  lines: readonly string[],
): Command {
  return examples(program.command(name).description(description), lines);
}

export function readLimit(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CommandFault(EXIT.usage, `--limit: expected a whole number, got "${text}".`);
}

/** A row as lines; its document last, as it was sent but for what a terminal obeys. */
export function sheet(row: Row): string[] {
  const width = Math.max(...Object.keys(row).map(name => name.length));
  const lines = Object.entries(row)
    .filter(([name]) => name !== 'document')
    .map(
      ([name, value]) =>
        `${name.padEnd(width)}  ${value === null || value === undefined ? '-' : String(value)}`,
    );
  const { document } = row;
  return [...lines, ...(typeof document === 'string' ? ['', ...document.split('\n')] : []), ''];
}

async function readMirrorOne(
  place: Place,
  { list, noun, liveOne, find = async (_reader, text) => text }: Resource,
  id: string,
  options: ListOptions,
): Promise<Row[]> {
  const rows = await reading(place, async reader => {
    const organizationId = await organizationOrAll(reader, options.organization);
    return await readByName(reader, list, await find(reader, id), organizationId);
  });
  if (rows.length > 0) return rows;
  throw new CommandFault(
    EXIT.notThere,
    `There is no "${id}" among the ${noun} of the mirror.`,
    `It may be gone, or not read yet: see "carbon-mirror history" and "carbon-mirror status"${liveOne === undefined ? '' : ', or ask the registry with --live'}.`,
  );
}

async function readLive(
  io: Io,
  place: Place,
  { live }: Resource,
  options: ListOptions,
): Promise<AsyncIterable<Row>> {
  if (live === undefined) throw new CommandFault(EXIT.usage, 'The registry has no such list.');
  return live(await connect(place, io), options);
}

async function readLiveOne(
  io: Io,
  place: Place,
  { liveOne, noun }: Resource,
  id: string,
  options: ListOptions,
): Promise<Row> {
  if (liveOne === undefined) throw new CommandFault(EXIT.usage, 'The registry cannot be asked for one.');
  const client = await connect(place, io);
  if (options.organization === undefined) return await liveOne(client, id, options);
  const { organizationId } = await findInstalled(client, options.organization);
  const row = await liveOne(client, id, { ...options, organization: organizationId });
  if ((row['organization_id'] ?? organizationId) === organizationId) return row;
  throw new CommandFault(EXIT.notThere, `There is no "${id}" among the ${noun} of ${organizationId}.`);
}

async function* refined(rows: AsyncIterable<Row>, { refine = row => row }: Resource): AsyncIterable<Row> {
  for await (const row of rows) yield refine(row);
}

async function* take(rows: AsyncIterable<Row>, limit: number): AsyncIterable<Row> {
  let count = 0;
  for await (const row of rows) {
    yield row;
    count++;
    if (count === limit) return;
  }
}
