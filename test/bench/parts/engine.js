// Chooses the engine of a benchmark. `--engine postgres` starts a server of its own, with all flushes of a production server.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { startServer } from '../../postgres/server.js';
import { MAIN } from './children.js';

/** @import { DatabaseSettings } from '../../../dist/src/store/settings.js' */
/** @import { Server } from '../../postgres/server.js' */
/** @typedef {'sqlite' | 'postgres'} EngineName */
/** @typedef {{ dataDir: string, database: DatabaseSettings | null }} Settings */

/**
 * Returns the name of the engine, and the arguments of a benchmark without `--engine NAME` and `smallest`.
 * @returns {{ engine: EngineName, rest: string[] }}
 */
export function readArguments() {
  const args = process.argv.slice(3).filter(arg => arg !== 'smallest');
  const at = args.indexOf('--engine');
  const engine = at < 0 ? 'sqlite' : args[at + 1];
  if (engine !== 'sqlite' && engine !== 'postgres') throw new Error('--engine: expected sqlite or postgres');
  return { engine, rest: at < 0 ? args : args.toSpliced(at, 2) };
}

/**
 * Runs a benchmark with a server, which is stopped at the end.
 * @param {(server: Server) => Promise<void>} measure
 */
export async function withPostgres(measure) {
  const { server, stop } = await startServer([]);
  try {
    if ('missing' in server) throw new Error(`this benchmark needs PostgreSQL: ${server.missing}`);
    await measure(server);
  } finally {
    await stop();
  }
}

/**
 * Creates a database, empty or with the schema of the program.
 * @param {Server} server
 * @param {{ migrated?: boolean }} [options]
 */
export async function freshDatabase(server, { migrated = true } = {}) {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await withConnection(urlOf(server, 'postgres'), client =>
    client.query(`CREATE DATABASE ${name} TEMPLATE template0`),
  );
  const url = urlOf(server, name);
  if (migrated) {
    const env = { ...process.env, MIRROR_DATABASE_URL: url };
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'migrate'], { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`migrate ended with ${status}: ${stderr}`);
  }
  return url;
}

/**
 * Runs work with a connection to a database, which is closed at the end.
 * @template Result
 * @param {string} url
 * @param {(client: Client) => Promise<Result>} work
 */
export async function withConnection(url, work) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * @param {Server} server
 * @param {string} name
 */
function urlOf({ host, port }, name) {
  return `postgres://postgres@localhost/${name}?host=${host}&port=${port}`;
}
