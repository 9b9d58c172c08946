import { createHash } from 'node:crypto';
import type { Relation } from '../../../migrations/schema.js';
import type { PdfStore } from '../../mirror/pdf-store.js';
import { POSTGRES } from '../dialect.js';
import type { Moved } from '../engine.js';
import { type Family, relationsOf } from '../migrations.js';
import type { PoolOptions } from '../postgres/driver.js';
import { PostgresError } from '../postgres/errors.js';
import { migrate } from '../postgres/migrate.js';
import type { Postgres, Query } from '../postgres/open.js';
import { during } from '../postgres/prepare.js';
import { readRows } from '../postgres/snapshot.js';
import { demandSchema } from '../sqlite/migrate.js';
import { openDatabase, type Sqlite } from '../sqlite/open.js';
import { createBinder } from '../statement.js';
import { type Cells, createSum, historiesIn, insertRows, tablesIn } from './rows.js';

export interface From {
  readonly files: Readonly<Partial<Record<Family, string>>>;
  readonly pdfs: PdfStore;
}

const FAMILIES: readonly Family[] = ['inbox', 'mirror', 'evidence'];
const ROWS_AT_ONCE = 250;
/** Rows that migrations put into an empty database. */
const FROM_THE_BEGINNING = 3;
const bind = createBinder(POSTGRES);
const MARK = 'version = 0';

/** Files that nobody writes into a database that nobody has used. Until all of it is there and compared, everybody refuses that. */
export function moveToPostgres({ files, pdfs }: From, pool: PoolOptions, at: string): Promise<Moved> {
  return during(pool, async postgres => {
    await migrate(postgres, at);
    await postgres.transact(query => mark(query, at));
    let rows = 0;
    for (const family of FAMILIES) {
      const file = files[family];
      if (file === undefined) continue;
      const db = openDatabase(file, { busyTimeoutMs: 0, readonly: true });
      try {
        demandSchema(db, family);
        for (const table of tablesIn(family))
          rows += await postgres.transact(query => copyTable(db, query, table));
        for (const history of historiesIn(family))
          await postgres.transact(query => compare(history, readFile(db, history), query));
      } finally {
        db.close();
      }
    }
    const certificates = await copyCertificates(pdfs, postgres, at);
    await postgres.query(`DELETE FROM mirror.schema_migrations WHERE ${MARK}`);
    return { rows, certificates };
  });
}

/** One that was begun before goes on: each table is emptied before it is filled. */
async function mark(query: Query, at: string): Promise<void> {
  const begun = await query(
    "INSERT INTO mirror.schema_migrations VALUES (0, 'move', $1, '') ON CONFLICT DO NOTHING RETURNING version",
    [at],
  );
  if (begun.length === 0) return;
  const counts = FAMILIES.flatMap(family => relationsOf('postgres', family))
    .filter(({ kind }) => kind === 'table')
    .map(({ name }) => `(SELECT count(*) FROM ${name})`);
  const [found] = await query<{ n: number }>(`SELECT ${counts.join(' + ')} AS n`);
  if (found?.n !== FROM_THE_BEGINNING)
    throw new PostgresError('used', 'The database is in use already: files are moved into an empty one.');
}

async function copyTable(db: Sqlite, query: Query, table: Relation): Promise<number> {
  await query(`DELETE FROM ${table.name}`);
  for await (const rows of readFile(db, table)) {
    const { text, values } = bind(insertRows(table, rows));
    await query(text, [...values]);
  }
  const copied = await compare(table, readFile(db, table), query);
  await setCounter(db, query, table);
  return copied;
}

/** Throws where a row or a column differs; answers how many rows there are. */
async function compare(
  relation: Relation,
  here: AsyncIterable<readonly Cells[]>,
  query: Query,
): Promise<number> {
  const sums = [createSum(relation), createSum(relation)] as const;
  for await (const rows of here) rows.forEach(sums[0].add);
  const there = readRows(query, relation.name, Object.keys(relation.columns));
  for await (const rows of there) rows.forEach(sums[1].add);
  const [one, other] = [sums[0].read(), sums[1].read()];
  if (one.rows === other.rows && one.sum === other.sum) return one.rows;
  throw new Error(`${relation.name}: expected ${one.rows} equal rows, got ${other.rows} that are not those`);
}

async function* readFile(db: Sqlite, { name, columns }: Relation): AsyncGenerator<readonly Cells[]> {
  const asked = `SELECT ${Object.keys(columns).join(', ')} FROM ${nameIn(name)}`;
  let rows: Cells[] = [];
  for (const row of db.prepare<[], Cells>(asked).safeIntegers().iterate()) {
    rows.push(row);
    if (rows.length < ROWS_AT_ONCE) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

function nameIn(name: string): string {
  return name.replace(/^\w+\./, '');
}

/** Where a table numbers its own rows, it goes on after the last number that was given. */
async function setCounter(db: Sqlite, query: Query, { name, columns }: Relation): Promise<void> {
  for (const [column, [kind]] of Object.entries(columns)) {
    if (kind !== 'id' && kind !== 'counted') continue;
    const asked =
      kind === 'counted'
        ? `SELECT seq FROM sqlite_sequence WHERE name = '${nameIn(name)}'`
        : `SELECT max(${column}) FROM ${nameIn(name)}`;
    const last = db.prepare<[], bigint | null>(asked).safeIntegers().pluck().get() ?? null;
    if (last !== null)
      await query(`SELECT setval(pg_get_serial_sequence('${name}', '${column}'), $1)`, [last]);
  }
}

async function copyCertificates(pdfs: PdfStore, { query }: Postgres, at: string): Promise<number> {
  await query('DELETE FROM mirror.certificate_files');
  let copied = 0;
  for await (const files of pdfs.list(null)) {
    for (const file of files) {
      const body = await pdfs.open(file);
      if (body === null) continue;
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      const [stored] = await query<{ sha256: string }>(
        "INSERT INTO mirror.certificate_files VALUES ($1, $2, $3) RETURNING encode(sha256(bytes), 'hex') AS sha256",
        [file, at, bytes],
      );
      if (stored?.sha256 !== createHash('sha256').update(bytes).digest('hex'))
        throw new Error(`${file}: what was stored is not what was sent`);
      copied += 1;
    }
  }
  return copied;
}
