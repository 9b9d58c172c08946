import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/store/postgres/migrate.js';
import { openPostgres } from '../../src/store/postgres/open-postgres.js';
import { type NoServer, type Server, startServer } from './server.js';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: Server | NoServer;
  }
}

/** Nothing here has to outlive the machine, and much is committed. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'max_wal_size=256MB',
  'autovacuum=off',
  'max_connections=200',
];

const CREATE_TEMPLATE = 'CREATE DATABASE template_of_tests TEMPLATE template0';

/** Words sort as people of a country expect it, which is how a database is made where nobody thinks of it. From 15 on. */
const AS_PEOPLE_SORT = ` LOCALE_PROVIDER icu ICU_LOCALE 'da'`;
const KNOWS_ICU = 150_000;

/** One server a run. Each test copies the database that is migrated here. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { server, stop } = await startServer(SETTINGS);
  try {
    if (!('missing' in server)) await createTemplate(server);
    project.provide('postgres', server);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createTemplate({ host, port }: Server): Promise<void> {
  const client = new Client({ host, port, user: 'postgres', database: 'postgres' });
  await client.connect();
  const { rows } = await client.query<{ number: string }>(
    `SELECT current_setting('server_version_num') AS number`,
  );
  await client.query(CREATE_TEMPLATE + (Number(rows[0]?.number) < KNOWS_ICU ? '' : AS_PEOPLE_SORT));
  await client.end();
  const postgres = openPostgres({
    url: `postgres://postgres@/template_of_tests?host=${host}&port=${port}`,
    name: 'template',
    connections: 1,
    onFault: error => {
      throw error;
    },
  });
  await migrate(postgres, new Date(0).toISOString());
  await postgres.close();
}
