import type { PermissionName, ProjectReference } from '../registry/model.js';
import type { MirrorColumn } from './columns.js';

export interface NamedColumn {
  readonly name: string;
}

export type SortOrder = readonly (readonly [column: string, direction: 'asc' | 'desc'])[];

/** Each as in `created_at desc`. */
export function sortBy(...columns: readonly `${string} ${'asc' | 'desc'}`[]): SortOrder {
  return columns.map(each => [each.replace(/ \w+$/, ''), each.endsWith(' desc') ? 'desc' : 'asc']);
}

/** A list of them, in one line. */
export function splitWords(all: string): readonly string[] {
  return all.split(' ');
}

/** What a person is shown of it. */
interface ListDisplay {
  /** Its table, or a view that stands in place of it. */
  readonly from: string;
  /** In their order: names before ids; what a narrow terminal can do without comes last. */
  readonly columns: readonly string[];
  readonly order: SortOrder;
}

/** The name of the organization whose a row is, which no table but its own holds. */
export const OWNER_NAME_COLUMN = 'organization_name';

/** What is mirrored: a table of what is true now. `past` holds what was of all tables, `<table>_history` both. */
export interface ResourceEntry {
  readonly table: string;
  /** The column of the organization, with which its key begins; null where the rest of it is the whole key. */
  readonly scope: 'organization_id' | 'id' | null;
  readonly key: readonly NamedColumn[];
  readonly columns: readonly NamedColumn[];
  /** False where the registry sends no object. */
  readonly hasDocument: boolean;
  /** How often it is read where nothing announces that it has changed. */
  readonly readInterval: 'round' | 'day';
  /** What an installation must grant, at VIEW or above; null where everybody may read it. */
  readonly permission: PermissionName | null;
  readonly display: ListDisplay;
}

/** What stands in the registry's objects, and how its columns are taken from one. */
export interface ItemEntry<Item> extends ResourceEntry {
  readonly key: readonly MirrorColumn<Item>[];
  readonly columns: readonly MirrorColumn<Item>[];
}

/** What is read as a whole list. */
export interface ListEntry<Item> extends ItemEntry<Item> {
  readonly scope: 'organization_id' | 'id';
  /** Where rows come to an end by themselves, as a reservation does. */
  readonly expiresByItself?: true;
  readonly projectOf: (item: Item) => ProjectReference | null;
}

export function namedColumns(...names: readonly string[]): NamedColumn[] {
  return names.map(name => ({ name }));
}

/** The columns by which a row is known. */
export function keyColumns({ scope, key }: Pick<ResourceEntry, 'scope' | 'key'>): string[] {
  return [...(scope === null ? [] : [scope]), ...key.map(({ name }) => name)];
}

/** The column by which a person names a row. */
export function idColumn(entry: ResourceEntry): string {
  return entry.key[0]?.name ?? 'id';
}

/** The column that says whose a row is; null where it is nobody's. */
export function ownerColumn({ scope, columns }: ResourceEntry): string | null {
  return scope ?? columns.find(({ name }) => name === 'organization_id')?.name ?? null;
}

/** All columns of the table, in their order. */
export function tableColumns(entry: ResourceEntry): string[] {
  const own = entry.columns.map(({ name }) => name);
  const document = entry.hasDocument ? ['document'] : [];
  return ['version', ...keyColumns(entry), ...own, 'valid_from', 'sync_id', ...document];
}
