import { setImmediate as pause } from 'node:timers/promises';
import type { Reader } from '../../../engines/contract/reader.js';
import type { Row, Value } from '../../../engines/contract/tables.js';
import { readVersions } from '../../../query/documents.js';
import type { ItemEntry } from '../../../resources/entry.js';
import { fieldsOf } from '../../../resources/installations.js';
import { LIST_RESOURCES, type ListResource, LISTS } from '../../../resources/lists.js';
import { PROJECTS } from '../../../resources/projects.js';
import type { Broken } from '../../../engines/engine.js';
import { readSource, type Source } from '../../../registry/json/fields.js';
import { parseInstallation, parseProject } from '../../../registry/json/parse.js';
import { SOURCES } from '../../../sync/sources.js';

type Derive = (source: Source) => Row;

const SHOWN = 5;
const ROWS_AT_ONCE = 1_000;

/** What each table's columns are, taken from the document again by the code that wrote them. */
const DERIVED: ReadonlyMap<string, Derive> = new Map([
  ...LIST_RESOURCES.map(derivedFromList),
  derivedBy(PROJECTS, parseProject),
  ['installations', deriveInstallation],
]);

/** Rows, past ones included, with a column that is not what their document says. */
export async function findUnderived(reader: Reader): Promise<Broken[]> {
  const broken: Broken[] = [];
  for (const [table, derive] of DERIVED) {
    for (const part of [table, `${table}_past`]) broken.push(...(await findIn(reader, part, derive)));
  }
  return broken;
}

async function findIn(reader: Reader, table: string, derive: Derive): Promise<Broken[]> {
  const broken: Broken[] = [];
  for (let last: Value = 0; ; ) {
    const rows = await readVersions(reader, table, last, ROWS_AT_ONCE);
    for (const row of rows) {
      const where = compare(row, derive);
      if (where === null) continue;
      broken.push({ law: `each column of ${table} is what its document says`, where });
      if (broken.length === SHOWN) return broken;
    }
    const end = rows.at(-1)?.['version'];
    if (end === undefined || rows.length < ROWS_AT_ONCE) return broken;
    last = end;
    await pause();
  }
}

/** Null where every column fits. */
function compare(row: Row, derive: Derive): string | null {
  const derived = read(String(row['document']), derive);
  if (derived === null) return `version ${String(row['version'])}: document`;
  const names = Object.keys(derived).filter(name => textOf(derived[name]) !== textOf(row[name]));
  return names.length === 0 ? null : `version ${String(row['version'])}: ${names.join(', ')}`;
}

/** Null where no such row could have been made of it. */
function read(document: string, derive: Derive): Row | null {
  try {
    return derive(readSource(document, 'document'));
  } catch (error) {
    if (error instanceof Error && error.name === 'RegistryError') return null;
    throw error;
  }
}

/** Numbers of a column are read as bigint, those of a document are not. */
function textOf(value: Value | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

function derivedFromList<Name extends ListResource>(resource: Name): [table: string, derive: Derive] {
  return derivedBy(LISTS[resource], SOURCES[resource].parse);
}

function derivedBy<Item>(
  { table, key, columns }: ItemEntry<Item>,
  parse: (source: Source) => Item,
): [table: string, derive: Derive] {
  return [table, source => cellsOf([...key, ...columns], parse(source))];
}

function cellsOf<Item>(
  columns: readonly { readonly name: string; readonly of: (item: Item) => Value }[],
  item: Item,
): Row {
  return Object.fromEntries(columns.map(({ name, of }) => [name, of(item)]));
}

/** The state is worked out, and what the document leaves open may come from elsewhere. */
function deriveInstallation(source: Source): Row {
  const installation = parseInstallation(source);
  const { organization_id: organizationId, permissions, ...cells } = fieldsOf(installation);
  return {
    ...cells,
    ...(organizationId === null ? {} : { organization_id: organizationId }),
    ...(installation.permissions === null ? {} : { permissions }),
  };
}
