import type { PermissionName, ProjectReference } from '../registry/object-models.js';
import type { MirrorColumn } from './mirror-columns.js';

/** A column whose values are not read from objects of the registry, so that only its name is known. */
export interface NamedColumn {
  readonly name: string;
}

/** The columns that rows are sorted by, the most significant first. */
export type SortOrder = readonly (readonly [column: string, direction: 'asc' | 'desc'])[];

/** Splits a text at its spaces. */
export function splitWords(text: string): readonly string[] {
  return text.split(' ');
}

/** The pseudo-column for the name of the organization that owns a row; only the table `organizations` stores names. */
export const OWNER_NAME_COLUMN = 'organization_name';

/**
 * A mirrored resource. Its table holds the current rows; the table `past` holds the former rows of all resources, and the
 * view `<table>_history` shows both.
 */
export interface ResourceEntry {
  readonly table: string;
  /** The column with the organization's id. It comes first in the primary key. Null if `key` is the whole primary key. */
  readonly scope: 'organization_id' | 'id' | null;
  readonly key: readonly NamedColumn[];
  readonly columns: readonly NamedColumn[];
  /** Whether each row stores the JSON object that the registry sent. */
  readonly hasDocument: boolean;
  /** The permission that an installation must grant, at VIEW or above, or null if none is needed. */
  readonly permission: PermissionName | null;
  /** The table or view with the current rows as people see them. */
  readonly source: string;
}

/** A resource whose columns are read from objects of the registry. */
export interface ItemEntry<Item> extends ResourceEntry {
  readonly key: readonly MirrorColumn<Item>[];
  readonly columns: readonly MirrorColumn<Item>[];
}

/** A resource of an organization that is always read as a whole list. */
export interface ListEntry<Item> extends ItemEntry<Item> {
  readonly scope: 'organization_id' | 'id';
  /** How often the list is read when no webhook announces a change: in each scheduled round or once a day. */
  readonly readInterval: 'round' | 'day';
  /** Set if rows disappear on their own, as reservations do: then a short answer is not suspicious. */
  readonly rowsExpire?: true;
  readonly getProject: (item: Item) => ProjectReference | null;
}

/** Creates columns that have only a name, because their values do not come from the registry's JSON. */
export function createNamedColumns(...names: readonly string[]): NamedColumn[] {
  return names.map(name => ({ name }));
}

/** Returns the columns of the primary key. The organization's id comes first. */
export function listKeyColumns({ scope, key }: Pick<ResourceEntry, 'scope' | 'key'>): string[] {
  return [...(scope === null ? [] : [scope]), ...key.map(({ name }) => name)];
}

/** Returns the column that identifies a row to people. */
export function getIdColumn(entry: ResourceEntry): string {
  return entry.key[0]?.name ?? 'id';
}

/** Returns the column that holds the id of the owning organization. Returns null if rows have no owner. */
export function findOwnerColumn({ scope, columns }: ResourceEntry): string | null {
  return scope ?? columns.find(({ name }) => name === 'organization_id')?.name ?? null;
}

/** Returns all columns of a mirrored resource's table. */
export function listTableColumns(entry: ResourceEntry): string[] {
  const dataColumns = entry.columns.map(({ name }) => name);
  const document = entry.hasDocument ? ['document'] : [];
  return ['version', ...listKeyColumns(entry), ...dataColumns, 'valid_from', 'sync_id', ...document];
}
