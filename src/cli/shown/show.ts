import type { Command } from 'commander';
import type { Reader } from '../../engines/contract/reader.js';
import { readByName } from '../../query/lists.js';
import { readStates } from '../../query/reads/freshness.js';
import { nameOf } from '../../resources/entry.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, print } from '../io.js';
import { wholeName } from '../named/beginning.js';
import { organizationOrAll } from '../named/in-mirror.js';
import { type Row, writeRows, writeValue } from '../output/output.js';
import { findPlace } from '../place/find-place.js';
import { reading } from '../place/place.js';
import { HOW_NAMED } from '../named/how-named.js';
import { type ListOptions, type Resource, wordOf } from './resource.js';
import { sheet } from './sheet.js';

/** One row, and the tables that stand beside it. */
interface Shown {
  readonly row: Row;
  readonly beside: Readonly<Record<string, readonly Row[]>>;
}

/** `show ID`: every column, and the registry's whole object. */
export function defineShow(parent: Command, io: Io, resource: Resource): void {
  parent
    .command('show')
    .description(`Show one of the ${resource.noun}, with the registry's whole object`)
    .argument('<id>', `value of the column ${nameOf(resource.list)}, or its beginning`)
    .option('--organization <name>', `whose it is: ${HOW_NAMED}`)
    .option('--json', 'print it as JSON')
    .action((id: string, options: ListOptions) => show(io, resource, id, options));
}

async function show(io: Io, resource: Resource, id: string, options: ListOptions): Promise<void> {
  const found = await reading(findPlace(io), reader => readOne(reader, resource, id, options));
  const shown = found.map(({ row, beside }) => ({ row: resource.refine?.(row) ?? row, beside }));
  if (options.json) {
    const values = shown.map(({ row, beside }) => ({ ...row, ...beside }));
    return await writeValue(io, values.length === 1 ? values[0] : values);
  }
  for (const { row, beside } of shown) {
    await print(io, ...sheet(row));
    for (const [name, rows] of Object.entries(beside)) {
      await print(io, `${name}:`);
      await writeRows(io, 'table', Object.keys(rows[0] ?? {}), rows);
      await print(io, '');
    }
  }
}

async function readOne(
  reader: Reader,
  resource: Resource,
  id: string,
  options: ListOptions,
): Promise<Shown[]> {
  const { list, noun, beside, find = async (_reader: Reader, text: string) => text } = resource;
  const organizationId = await organizationOrAll(reader, options.organization);
  const named = await find(reader, id);
  const exact = await readByName(reader, list, named, organizationId);
  const whole = exact.length > 0 ? null : await wholeName(reader, list, named);
  const rows = whole === null ? exact : await readByName(reader, list, whole, organizationId);
  if (rows.length === 0) {
    throw new CommandFault(
      EXIT.notThere,
      `There is no "${id}" among the ${noun} of the mirror.`,
      `It may be gone, or not read yet: see "carbon-mirror history" and "carbon-mirror status".`,
    );
  }
  const states = await readStates(reader, wordOf(resource), organizationId);
  const stated = (row: Row) => (states === null ? row : { ...row, freshness: states.stateOf(row) });
  return await Promise.all(
    rows.map(async row => ({ row: stated(row), beside: (await beside?.(reader, row)) ?? {} })),
  );
}
