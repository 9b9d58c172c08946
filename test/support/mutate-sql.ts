import type { Postgres } from '../../src/store/postgres/open-postgres.js';

/** Replaces one piece of an inbox function in one database, to check that a test would notice. */
export async function mutateFunction(owner: Postgres, name: string, from: string, to: string): Promise<void> {
  const [found] = await owner.query<{ sql: string }>(
    `SELECT pg_get_functiondef('inbox.${name}'::regproc) AS sql`,
  );
  const broken = found?.sql.replace(from, to) ?? '';
  if (broken === found?.sql) throw new Error(`expected "${from}" in ${name}`);
  await owner.query(broken);
}
