// The baselines of the receive benchmark: plain Express servers that use only the database driver of the program.
// node receive-floor.js bare|insert|insert-postgres FOLDER|DATABASE_URL SECRET
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { Database } from '../../../dist/src/store/sqlite/driver.js';
import express from 'express';
import { Pool } from 'pg';

const [kind = '', where = '', secret = ''] = process.argv.slice(2);
/** The default pool size of the driver. */
const CONNECTIONS = 10;

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.enable('strict routing');
app.enable('case sensitive routing');
app.use(express.json({ limit: 65_536 }));

/** @typedef {{ event: string, installation: { id: string }, signedData: string }} Post */
/** @typedef {(post: Post) => unknown} Store */

/** @type {Readonly<Record<string, () => Store | Promise<Store>>>} */
const STORES = {
  bare: () => () => undefined,
  insert: createStore,
  'insert-postgres': createPostgresStore,
};
const openStore = STORES[kind];
if (openStore === undefined) throw new Error(`there is no floor ${kind}`);
const store = await openStore();

app.post('/webhooks', async (request, response) => {
  const { signedData } = request.body;
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(signedData).digest('hex')}`);
  const signature = Buffer.from(request.get('x-registry-signature-256') ?? '');
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
    response.status(401).end();
    return;
  }
  await store(request.body);
  response.status(202).end();
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  process.stdout.write(`listening ${address.port}\n`);
});
process.once('SIGTERM', () => process.exit(0));

/**
 * Stores each request with one insert and one flush.
 * @returns {Store}
 */
function createStore() {
  const db = new Database(join(where, 'floor.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma('temp_store = MEMORY');
  db.exec(`CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY, received_at TEXT NOT NULL, event TEXT, installation_id TEXT,
    digest TEXT NOT NULL, signed_data TEXT NOT NULL) STRICT`);
  const insert = db.prepare(`INSERT INTO deliveries (received_at, event, installation_id, digest, signed_data)
    VALUES (?, ?, ?, ?, ?)`);
  return ({ event, installation, signedData }) => {
    const digest = createHash('sha256').update(signedData).digest('hex');
    insert.run(new Date().toISOString(), event, installation.id, digest, signedData);
  };
}

/**
 * Stores each request with one insert through a pool, each in a flushed commit.
 * @returns {Promise<Store>}
 */
async function createPostgresStore() {
  const pool = new Pool({ connectionString: where, max: CONNECTIONS });
  pool.on('error', () => process.exit());
  await pool.query(`CREATE TABLE deliveries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, received_at timestamptz NOT NULL, event text,
    installation_id text, digest text NOT NULL, signed_data text NOT NULL)`);
  const insert = `INSERT INTO deliveries (received_at, event, installation_id, digest, signed_data)
    VALUES ($1, $2, $3, $4, $5)`;
  return async ({ event, installation, signedData }) => {
    const digest = createHash('sha256').update(signedData).digest('hex');
    await pool.query(insert, [new Date(), event, installation.id, digest, signedData]);
  };
}
