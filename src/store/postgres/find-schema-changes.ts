import { type RawBuilder, sql } from 'kysely';
import { DATABASE_NAMES, listMigrations } from '../migrations.js';
import { compareSchemas, type SchemaObject } from '../schema-objects.js';
import { select, sqlStatement } from '../sql/columns.js';
import { prepared } from '../sql/prepared.js';
import { createAutocommitBatch } from './database.js';
import type { Postgres, RunQuery } from './open-postgres.js';

const READ_IS_STANDBY = prepared(
  () => sqlStatement`SELECT ${select({ isStandby: sql<boolean>`pg_is_in_recovery()` })}`,
);
/** Lists temporary views in the order of their creation. */
const LIST_TEMPORARY_VIEWS = prepared(
  () => sqlStatement`SELECT ${select({ name: sql<string>`relname`, text: sql<string>`pg_get_viewdef(oid)` })}
    FROM pg_class WHERE relkind = 'v' AND relnamespace = pg_my_temp_schema() ORDER BY oid`,
);

/**
 * Describes the differences between the schemas and what the migrations create. Versions of PostgreSQL print definitions
 * differently, so this server runs the migrations in a temporary schema, prints the result and rolls back. A standby cannot do
 * that and is not checked.
 */
export async function findSchemaChanges({ query, begin }: Postgres): Promise<string[]> {
  const [[server]] = await createAutocommitBatch(query)(READ_IS_STANDBY());
  if (server?.isStandby === true) return [];
  const transaction = await begin('ISOLATION LEVEL READ COMMITTED READ WRITE');
  try {
    await transaction.query('SET LOCAL search_path = pg_catalog');
    const found = await listSchemaObjects(transaction.query, 'ours');
    for (const schema of DATABASE_NAMES)
      for (const migration of listMigrations('postgres', schema))
        await transaction.query(moveToTemporarySchema(migration.sql));
    const changes = compareSchemas(await listSchemaObjects(transaction.query, 'temporary'), found);
    if (changes.length === 0) return [];
    await recreateViews(transaction.query);
    const changesSinceRestore = compareSchemas(
      await listSchemaObjects(transaction.query, 'temporary'),
      found,
    );
    return changes.filter(each => changesSinceRestore.includes(each));
  } finally {
    await transaction.rollback();
  }
}

const SCHEMA_NAMES = DATABASE_NAMES.join('|');
const OUR_SCHEMA = new RegExp(String.raw`\b(${SCHEMA_NAMES})\.`, 'g');
const OUR_OR_TEMPORARY_SCHEMA = new RegExp(String.raw`\b(${SCHEMA_NAMES}|pg_temp(_\d+)?)\.`, 'g');

/** Replaces our schema names in SQL with `pg_temp`, the temporary schema. */
function moveToTemporarySchema(ddl: string): string {
  return ddl.replaceAll(OUR_SCHEMA, 'pg_temp.');
}

/**
 * Recreates each temporary view from the definition that PostgreSQL prints, as pg_restore does. PostgreSQL prints some views
 * differently after that.
 */
async function recreateViews(query: RunQuery): Promise<void> {
  const [views] = await createAutocommitBatch(query)(LIST_TEMPORARY_VIEWS());
  for (const { name, text } of views) await query(`CREATE OR REPLACE VIEW pg_temp.${name} AS ${text}`);
}

/**
 * Lists the tables, views and other objects of our schemas or of the temporary schema, without schema names. Leaves out the
 * tables of applied migrations, because each schema has one with the same name.
 */
async function listSchemaObjects(
  query: RunQuery,
  schemas: keyof typeof LIST_OBJECTS,
): Promise<SchemaObject[]> {
  const [rows] = await createAutocommitBatch(query)(LIST_OBJECTS[schemas]());
  return rows
    .filter(({ name }) => !/\bschema_migrations/.test(name))
    .map(({ kind, name, definition }) => ({ kind, name, definition: removeSchemaNames(definition) }));
}

function removeSchemaNames(definition: string): string {
  return definition.replaceAll(OUR_OR_TEMPORARY_SCHEMA, '').replaceAll(/\s+/g, ' ');
}

const prepareList = (isInScope: RawBuilder<unknown>) =>
  prepared(
    () => sqlStatement`WITH schemas AS (SELECT oid FROM pg_namespace WHERE ${isInScope}),
  relations AS (
    SELECT c.oid, relname, relkind, relpersistence, relrowsecurity FROM pg_class AS c JOIN schemas ON schemas.oid = relnamespace
  )
  SELECT ${select({ kind: sql<string>`kind`, name: sql<string>`name`, definition: sql<string>`definition` })} FROM (
  SELECT 'table' AS kind, relname::text AS name,
    concat_ws(' ', relkind, relpersistence = 'u', relrowsecurity) AS definition
  FROM relations WHERE relkind NOT IN ('v', 'i', 'S')
  UNION ALL
  SELECT 'view', relname, pg_get_viewdef(oid) FROM relations WHERE relkind = 'v'
  UNION ALL
  SELECT 'column', relname || '.' || attname, concat_ws(' ', format_type(atttypid, atttypmod), collname,
    attnotnull, attidentity, attgenerated, attstorage, pg_get_expr(adbin, adrelid))
  FROM relations JOIN pg_attribute ON attrelid = relations.oid AND attnum > 0 AND NOT attisdropped
    LEFT JOIN pg_collation ON pg_collation.oid = attcollation
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE relkind NOT IN ('v', 'i', 'S')
  UNION ALL
  SELECT CASE WHEN indisunique THEN 'unique index' ELSE 'index' END, i.relname, pg_get_indexdef(i.oid)
  FROM relations AS i JOIN pg_index ON indexrelid = i.oid
  UNION ALL
  SELECT 'constraint', relname || '.' || conname, pg_get_constraintdef(pg_constraint.oid)
  FROM relations JOIN pg_constraint ON conrelid = relations.oid WHERE contype <> 'n'
  UNION ALL
  SELECT 'trigger', relname || '.' || tgname, concat_ws(' ', tgenabled, pg_get_triggerdef(pg_trigger.oid))
  FROM relations JOIN pg_trigger ON tgrelid = relations.oid WHERE NOT tgisinternal
  UNION ALL
  SELECT 'rule', relname || '.' || rulename, concat_ws(' ', ev_enabled, pg_get_ruledef(pg_rewrite.oid))
  FROM relations JOIN pg_rewrite ON ev_class = relations.oid WHERE rulename <> '_RETURN'
  UNION ALL
  SELECT 'policy', relname || '.' || polname, pg_get_expr(polqual, polrelid)
  FROM relations JOIN pg_policy ON polrelid = relations.oid
  UNION ALL
  SELECT 'function', proname || '(' || pg_get_function_identity_arguments(pg_proc.oid) || ')', pg_get_functiondef(pg_proc.oid)
  FROM pg_proc JOIN schemas ON schemas.oid = pronamespace WHERE prokind IN ('f', 'p')
  ) AS objects ORDER BY 1, 2`,
  );
const LIST_OBJECTS = {
  ours: prepareList(sql`nspname IN (${sql.join(DATABASE_NAMES.map(schema => sql.lit(schema)))})`),
  temporary: prepareList(sql`oid = pg_my_temp_schema()`),
};
