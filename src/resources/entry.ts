import type { PermissionName, ProjectReference } from '../registry/model.js';
import type { Column } from './columns.js';

export interface Named {
  readonly name: string;
}

export type Order = readonly (readonly [column: string, direction: 'asc' | 'desc'])[];

/** Each as in `created_at desc`. */
export function by(...columns: readonly `${string} ${'asc' | 'desc'}`[]): Order {
  return columns.map(each => [each.replace(/ \w+$/, ''), each.endsWith(' desc') ? 'desc' : 'asc']);
}

/** A list of them, in one line. */
export function words(all: string): readonly string[] {
  return all.split(' ');
}

/** What a person is shown of it. */
interface Shown {
  /** Its table, or a view that stands in place of it. */
  readonly from: string;
  /** In their order: names before ids; what a narrow terminal can do without comes last. */
  readonly columns: readonly string[];
  readonly order: Order;
}

/** The name of the organization whose a row is, which no table but its own holds. */
export const NAME_OF_OWNER = 'organization_name';

/** What is mirrored: a table of what is true now. `past` holds what was of all tables, `<table>_history` both. */
export interface Entry {
  readonly table: string;
  /** The column of the organization, with which its key begins; null where the rest of it is the whole key. */
  readonly scope: 'organization_id' | 'id' | null;
  readonly key: readonly Named[];
  readonly columns: readonly Named[];
  /** False where the registry sends no object. */
  readonly hasDocument: boolean;
  /** How often it is read where nothing announces that it has changed. */
  readonly every: 'round' | 'day';
  /** What an installation must grant, at VIEW or above; null where everybody may read it. */
  readonly permission: PermissionName | null;
  readonly shown: Shown;
}

/** What stands in the registry's objects, and how its columns are taken from one. */
export interface ItemEntry<Item> extends Entry {
  readonly key: readonly Column<Item>[];
  readonly columns: readonly Column<Item>[];
}

/** What is read as a whole list. */
export interface ListEntry<Item> extends ItemEntry<Item> {
  readonly scope: 'organization_id' | 'id';
  /** Where rows come to an end by themselves, as a reservation does. */
  readonly endsByNature?: true;
  readonly projectOf: (item: Item) => ProjectReference | null;
}

export function named(...names: readonly string[]): Named[] {
  return names.map(name => ({ name }));
}

/** The columns by which a row is known. */
export function keyOf({ scope, key }: Pick<Entry, 'scope' | 'key'>): string[] {
  return [...(scope === null ? [] : [scope]), ...key.map(({ name }) => name)];
}

/** The column by which a person names a row. */
export function nameOf(entry: Entry): string {
  return entry.key[0]?.name ?? 'id';
}

/** The column that says whose a row is; null where it is nobody's. */
export function ownerOf({ scope, columns }: Entry): string | null {
  return scope ?? columns.find(({ name }) => name === 'organization_id')?.name ?? null;
}

/** All columns of the table, in their order. */
export function columnsOf(entry: Entry): string[] {
  const own = entry.columns.map(({ name }) => name);
  const document = entry.hasDocument ? ['document'] : [];
  return ['version', ...keyOf(entry), ...own, 'valid_from', 'sync_id', ...document];
}
