import { parseObject, type SourceObject } from '../registry/json/json-object.js';
import { parseInstallation, parseProject } from '../registry/json/parse-objects.js';
import { textOf, type Value } from '../resources/columns.js';
import type { ItemEntry } from '../resources/entry.js';
import { fieldsOf } from '../resources/installations.js';
import { LIST_RESOURCES, type ListResource, LISTS } from '../resources/lists.js';
import { PROJECTS } from '../resources/projects.js';
import { SOURCES } from './sources.js';

type Cells = Readonly<Record<string, Value>>;
type Derive = (source: SourceObject) => Cells;

/** What each table's columns are, taken from the document again by the code that wrote them. */
const DERIVED: ReadonlyMap<string, Derive> = new Map([
  ...LIST_RESOURCES.map(derivedFromList),
  derivedBy(PROJECTS, parseProject),
  ['installations', deriveInstallation],
]);

export const DERIVED_TABLES: readonly string[] = [...DERIVED.keys()];

/** The columns of a row that its document contradicts; the document itself where no such row could have been made of it. */
export function contradictedColumns(
  table: string,
  row: Readonly<Record<string, Value | Uint8Array>>,
): string[] {
  const derive = DERIVED.get(table);
  if (derive === undefined) return [];
  const derived = read(String(row['document']), derive);
  if (derived === null) return ['document'];
  return Object.keys(derived).filter(name => textOf(derived[name]) !== textOf(row[name]));
}

/** Null where no such row could have been made of it. */
function read(document: string, derive: Derive): Cells | null {
  try {
    return derive(parseObject(document, 'document'));
  } catch (error) {
    if (error instanceof Error && error.name === 'RegistryError') return null;
    throw error;
  }
}

function derivedFromList<Name extends ListResource>(resource: Name): [table: string, derive: Derive] {
  return derivedBy(LISTS[resource], SOURCES[resource].parse);
}

function derivedBy<Item>(
  { table, key, columns }: ItemEntry<Item>,
  parse: (source: SourceObject) => Item,
): [table: string, derive: Derive] {
  return [table, source => cellsOf([...key, ...columns], parse(source))];
}

function cellsOf<Item>(
  columns: readonly { readonly name: string; readonly of: (item: Item) => Value }[],
  item: Item,
): Cells {
  return Object.fromEntries(columns.map(({ name, of }) => [name, of(item)]));
}

/** The state is worked out, and what the document leaves open may come from elsewhere. */
function deriveInstallation(source: SourceObject): Cells {
  const installation = parseInstallation(source);
  const { organization_id: organizationId, permissions, ...cells } = fieldsOf(installation);
  return {
    ...cells,
    ...(organizationId === null ? {} : { organization_id: organizationId }),
    ...(installation.permissions === null ? {} : { permissions }),
  };
}
