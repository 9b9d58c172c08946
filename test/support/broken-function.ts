import type { Postgres } from '../../src/store/postgres/open.js';

/** Changes one piece of a function of the inbox in one database, to see that a test would notice. */
export async function breakFunction(owner: Postgres, name: string, from: string, to: string): Promise<void> {
  const [found] = await owner.query<{ sql: string }>(
    `SELECT pg_get_functiondef('inbox.${name}'::regproc) AS sql`,
  );
  const broken = found?.sql.replace(from, to) ?? '';
  if (broken === found?.sql) throw new Error(`expected "${from}" in ${name}`);
  await owner.query(broken);
}
