import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { grantsTo, type Purpose } from '../../src/store/contract/grants.js';
import { openPostgres, type Postgres } from '../../src/store/postgres/open.js';
import type { Server } from '../postgres/server.js';

export interface Database {
  readonly name: string;
  readonly url: string;
}

/** The server of this run. Where there can be none, whoever asks for it fails and says why. */
function theServer(): Server {
  const server = inject('postgres');
  if ('missing' in server) throw new Error(`This test needs PostgreSQL: ${server.missing}`);
  return server;
}

/** A database of its own, migrated or empty. It goes with the server. */
export async function temporaryDatabase(
  how: { readonly migrated?: boolean; readonly options?: string } = {},
): Promise<Database> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = how.migrated === false ? 'template0' : 'template_of_tests';
  const { host, port } = theServer();
  const client = new Client({ host, port, user: 'postgres', database: 'postgres' });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${how.options ?? ''}`);
  } finally {
    await client.end();
  }
  return databaseOf(name);
}

/** The one of all tests that make nothing in it. */
export function theDatabase(): Database {
  return databaseOf('postgres');
}

function databaseOf(name: string): Database {
  const { host, port } = theServer();
  return { name, url: `postgres://postgres@localhost/${name}?host=${host}&port=${port}` };
}

export function openTemporary({ url }: Database, connections = 4): Postgres {
  const faults: Error[] = [];
  const postgres = openPostgres({ url, name: 'test', connections, onFault: error => faults.push(error) });
  onTestFinished(async () => {
    await postgres.close();
    if (faults.length > 0) throw faults[0];
  });
  return postgres;
}

/** A new role that may do in a database what one process needs, and no more: a connection as it. */
export async function openGranted(owner: Postgres, database: Database, purpose: Purpose): Promise<Postgres> {
  return openTemporary(await grantedTo(owner, database, purpose));
}

/** The database as such a role is told of it. */
export async function grantedTo(
  owner: Pick<Postgres, 'query'>,
  { name, url }: Database,
  purpose: Purpose,
): Promise<Database> {
  const role = `${purpose} "${randomBytes(6).toString('hex')}"`;
  await owner.query(`CREATE ROLE "${role.replaceAll('"', '""')}" LOGIN`);
  for (const grant of grantsTo(purpose, role)) await owner.query(grant);
  return { name, url: url.replace('//postgres@', `//${encodeURIComponent(role)}@`) };
}

export function roleOf({ url }: Database): string {
  return decodeURIComponent(new URL(url).username);
}
