/**
 * Checks mirrored rows against the JSON documents stored beside them: parses the document again with the code that wrote
 * the row, and compares the columns. It reads no database; callers pass the rows.
 */
import { parseObject, type SourceObject } from '../registry/json/json-object.js';
import { parseInstallation, parseProject } from '../registry/json/parse-objects.js';
import type { MirrorColumn } from '../resources/mirror-columns.js';
import { toComparableText, type SqlValue } from '../resources/sql-values.js';
import type { ItemEntry } from '../resources/entry.js';
import { toInstallationColumns } from '../resources/installations.js';
import { LIST_RESOURCES, type ListResource, LISTS } from '../resources/lists.js';
import { PROJECTS } from '../resources/projects.js';
import { SOURCES } from './list-sources.js';

/** The values of a row by column name. */
type DerivedColumnValues = Readonly<Record<string, SqlValue>>;
/** Derives the column values of a row from its parsed document. */
type DeriveColumns = (source: SourceObject) => DerivedColumnValues;
/** A table, and the function that derives the columns of its rows. */
type DerivedTable = readonly [table: string, deriveColumns: DeriveColumns];

/** For each table, how its columns follow from the document of a row. */
const DERIVE_BY_TABLE: ReadonlyMap<string, DeriveColumns> = new Map<string, DeriveColumns>([
  ...LIST_RESOURCES.map(toDerivedListTable),
  toDerivedTable(PROJECTS, parseProject),
  ['installations', deriveInstallationColumns],
]);

/** The tables whose rows can be checked against their documents. */
export const DERIVED_TABLES: readonly string[] = [...DERIVE_BY_TABLE.keys()];

/**
 * Returns the names of the columns whose values differ from those in the row's JSON document. Returns `['document']`, the name of
 * the column with the document, if the document cannot be parsed.
 */
export function findContradictedColumns(
  table: string,
  row: Readonly<Record<string, SqlValue | Uint8Array>>,
): string[] {
  const deriveColumns = DERIVE_BY_TABLE.get(table);
  if (deriveColumns === undefined) return [];
  const derived = tryDeriveColumns(String(row['document']), deriveColumns);
  if (derived === null) return ['document'];
  return Object.keys(derived).filter(name => toComparableText(derived[name]) !== toComparableText(row[name]));
}

/** Computes the columns of a row from its JSON document. Returns null if the document cannot be parsed. */
function tryDeriveColumns(document: string, deriveColumns: DeriveColumns): DerivedColumnValues | null {
  try {
    return deriveColumns(parseObject(document, 'document'));
  } catch (error) {
    if (error instanceof Error && error.name === 'RegistryError') return null;
    throw error;
  }
}

/** Returns the table of a list with the function that computes the table's columns from a JSON document. */
function toDerivedListTable<Name extends ListResource>(resource: Name): DerivedTable {
  return toDerivedTable(LISTS[resource], SOURCES[resource].parse);
}

/** Returns the name of a table with the function that computes the table's columns from a JSON document. */
function toDerivedTable<Item>(
  { table, key, columns }: ItemEntry<Item>,
  parse: (source: SourceObject) => Item,
): DerivedTable {
  return [table, source => toColumnValues([...key, ...columns], parse(source))];
}

/** Returns the column values of an item, indexed by column name. */
function toColumnValues<Item>(columns: readonly MirrorColumn<Item>[], item: Item): DerivedColumnValues {
  return Object.fromEntries(columns.map(({ name, getValue }) => [name, getValue(item)]));
}

/** Computes the columns of an installation from its JSON document. */
function deriveInstallationColumns(source: SourceObject): DerivedColumnValues {
  const installation = parseInstallation(source);
  const { organization_id: organizationId, permissions, ...columns } = toInstallationColumns(installation);
  // Columns that the document does not contain are omitted, so that they are not compared.
  return {
    ...columns,
    ...(organizationId === null ? {} : { organization_id: organizationId }),
    ...(installation.permissions === null ? {} : { permissions }),
  };
}
