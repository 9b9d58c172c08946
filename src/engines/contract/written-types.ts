import { type Family, migrationsOf } from '../migrations.js';

const FAMILIES: readonly Family[] = ['mirror', 'inbox'];
const TABLE = /^CREATE TABLE (\w+\.\w+) \(\n(.*?)\n\)/gms;
const COLUMN = /^ {2}([a-z_][a-z0-9_]*) (double precision|[a-z]+(?:\(\d\))?)/gm;

/** The types of PostgreSQL, by `schema.table.column`, as its migrations have them: no server is asked. */
export function writtenTypes(): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { sql } of FAMILIES.flatMap(family => migrationsOf('postgres', family))) {
    for (const [, table = '', columns = ''] of sql.matchAll(TABLE)) {
      for (const [, name = '', type = ''] of columns.matchAll(COLUMN)) types.set(`${table}.${name}`, type);
    }
  }
  return types;
}
