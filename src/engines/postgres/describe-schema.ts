import type { Relation } from '../contract/relation.js';
import type { Family } from '../migrations.js';
import type { PoolOptions } from './driver.js';
import { during } from './prepare.js';

/** The tables and views that are there, in the words of the migrations' comments. */
export function describeSchema(pool: PoolOptions, families: readonly Family[]): Promise<Relation[]> {
  return during(pool, ({ query }) =>
    query<Relation>(
      `SELECT n.nspname AS database, CASE c.relkind WHEN 'v' THEN 'view' ELSE 'table' END AS kind, c.relname AS name,
         coalesce(obj_description(c.oid, 'pg_class'), '') AS meaning,
         (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
             'meaning', coalesce(col_description(c.oid, a.attnum), '')) ORDER BY a.attnum)
           FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
       FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
       WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'v', 'p') ORDER BY n.nspname = 'inbox', c.oid`,
      [families],
    ),
  );
}
