import { type Command, Option } from 'commander';
import type { Reader } from '../../engines/contract/reader.js';
import { readOrganizationIds } from '../../query/past/as-of.js';
import { readList } from '../../query/lists.js';
import { readStates, type States } from '../../query/reads/freshness.js';
import { readOrganizationNames } from '../../query/names.js';
import { nameOf } from '../../resources/entry.js';
import { shortName } from '../../text/clean.js';
import { addFile, addFormats, formatOf } from '../formats.js';
import { aDate, readSpan } from '../instant.js';
import { type Io, say } from '../io.js';
import { knownAt } from '../known-at.js';
import { OF_ORGANIZATION } from '../named/how-named.js';
import { organizationOrAll } from '../named/in-mirror.js';
import { readLimit } from '../words.js';
import { intoFile } from '../output/into-file.js';
import { type Row, writeRows } from '../output/output.js';
import { findPlace } from '../place/find-place.js';
import { reading } from '../place/place.js';
import { conditionsOf } from './filters.js';
import { type ListOptions, type Resource, wordOf } from './resource.js';

export function defineList(parent: Command, io: Io, resource: Resource): void {
  const { filters = [], dated, noun } = resource;
  const command = parent
    .command('list')
    .description(`List ${noun} of the mirror`)
    .option('--organization <name>', OF_ORGANIZATION)
    .addOption(new Option('--limit <n>', 'show at most so many, 0 for all').default('100'))
    .action((options: ListOptions) =>
      intoFile({ io, findPlace }, { command: `${parent.name()} list` }, options, (out, form) =>
        list(out, resource, form),
      ),
    );
  for (const { option } of filters) command.addOption(option);
  if (dated !== undefined) {
    command.option('--as-of <date>', `as they stood then: the end of ${aDate(io)}`);
  }
  addFile(addFormats(command));
}

async function list(io: Io, resource: Resource, options: ListOptions): Promise<void> {
  const limit = readLimit(options.limit);
  const where = conditionsOf(resource.filters ?? [], options);
  const at = options.asOf === undefined ? undefined : readSpan(options.asOf, io.now()).to;
  return await reading(findPlace(io), async reader => {
    const organizationId = await organizationOrAll(reader, options.organization);
    const ofOne = (id: string | null) =>
      readList(reader, resource.list, { organizationId: id, where, at, limit: limit || null });
    const rows =
      at === undefined
        ? ofOne(organizationId)
        : oneByOne(await knownOwners(io, reader, resource, organizationId, at), ofOne);
    if (at !== undefined) say(io, `As told by ${at}.`);
    const none = isAsked(options, where) ? NONE_FITS : noneOf(resource);
    const states = at === undefined ? await readStates(reader, wordOf(resource), organizationId) : null;
    await write(io, resource, options, rows, { none, states });
  });
}

const NONE_FITS = 'No row of the mirror is as asked for.';

function isAsked({ organization, asOf }: ListOptions, where: readonly unknown[]): boolean {
  return where.length > 0 || organization !== undefined || asOf !== undefined;
}

function noneOf({ noun }: Resource): string {
  return `The mirror holds no ${noun}: see "carbon-mirror status" for what was read.`;
}

async function write(
  io: Io,
  resource: Resource,
  options: ListOptions,
  rows: AsyncIterable<Row>,
  { none, states }: { readonly none: string; readonly states: States | null },
): Promise<void> {
  const limit = readLimit(options.limit);
  const format = formatOf(options);
  const own = resource.columns ?? resource.list.shown.columns;
  const columns =
    states === null || (format === 'table' && states.areAllCurrent) ? own : [...own, 'freshness'];
  const shape = {
    keep: [...columns.slice(0, 1), nameOf(resource.list), 'freshness'],
    tonnes: ['amount_exact'],
    none,
  };
  const taken = take(refined(rows, resource, states), limit);
  const shown = await writeRows(io, format, columns, taken, shape);
  if (shown === limit) say(io, `Shown: ${shown}. There may be more: --limit 0 shows all.`);
}

/** In the order of the list. */
async function knownOwners(
  io: Io,
  reader: Reader,
  { dated }: Resource,
  organizationId: string | null,
  at: string,
): Promise<string[]> {
  if (dated === undefined) return [];
  const names = new Map((await readOrganizationNames(reader)).map(({ id, name }) => [id, name]));
  const ids = organizationId === null ? await readOrganizationIds(reader) : [organizationId];
  const wanted = ids.map(id => ({ organizationId: id, resource: dated, at }));
  const known = await knownAt(
    io,
    reader,
    wanted,
    asOf => `${shortName(names.get(asOf.organizationId) ?? asOf.organizationId)}, ${asOf.resource}`,
  );
  return known
    .map(asOf => asOf.organizationId)
    .toSorted()
    .toReversed();
}

async function* oneByOne(
  owners: readonly string[],
  rowsOf: (owner: string) => AsyncIterable<Row>,
): AsyncIterable<Row> {
  for (const owner of owners) yield* rowsOf(owner);
}

async function* refined(
  rows: AsyncIterable<Row>,
  { refine = row => row }: Resource,
  states: States | null,
): AsyncIterable<Row> {
  for await (const row of rows)
    yield refine(states === null ? row : { ...row, freshness: states.stateOf(row) });
}

async function* take(rows: AsyncIterable<Row>, limit: number): AsyncIterable<Row> {
  let count = 0;
  for await (const row of rows) {
    yield row;
    count++;
    if (count === limit) return;
  }
}
