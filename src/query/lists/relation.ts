/** SQL for tables and columns whose names come from the entries of lists. */
import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';
import { SelectList } from '../../store/sql/columns.js';
import type { Row } from '../../store/contract/tables.js';

/** Returns a table or view as SQL, given its name such as `retirements` or `inbox.jobs`. */
export function relation(name: string): RawBuilder<unknown> {
  return sql.table(name.startsWith('inbox.') ? name : `mirror.${name}`);
}

/** Selects columns whose names are known only at run time. */
export function selectColumns(columns: readonly string[]): SelectList<Row> {
  return new SelectList(sql.join(columns.map(column => sql.ref(column))));
}

export const ALL_COLUMNS = new SelectList<Row>(sql`*`);

/** Joins conditions by AND. Without any, the result holds for every row. */
export function joinConditions(conditions: readonly Expression<SqlBool>[]): RawBuilder<SqlBool> {
  return conditions.length === 0 ? sql`1 = 1` : sql.join(conditions, sql` AND `);
}
