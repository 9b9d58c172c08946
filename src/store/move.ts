import type { Relation } from '../../migrations/schema.js';
import { CERTIFICATE_FILES } from '../../migrations/mirror/0001/books.js';
import type { PdfStore } from '../mirror/pdf-store.js';
import { copyTable, demandEqual, historiesIn, type Read, tablesIn } from './copy-tables.js';
import { POSTGRES } from './dialect.js';
import type { Moved } from './engine.js';
import { FAMILIES, type Family } from './migrations.js';
import type { PoolOptions } from './postgres/driver.js';
import { StoreError } from './errors.js';
import { migrate, MOVING } from './postgres/migrate.js';
import type { Postgres, Query } from './postgres/open.js';
import { during } from './postgres/prepare.js';
import { readerIn as readerInSchemas } from './postgres/snapshot.js';
import { nameIn, readerIn } from './sqlite/copy.js';
import { demandSchema } from './sqlite/migrate.js';
import { openDatabase, type Sqlite } from './sqlite/open.js';

export interface From {
  readonly files: readonly (readonly [Family, file: string])[];
  readonly pdfs: PdfStore;
}

/** Rows that migrations put into an empty database. */
const FROM_THE_BEGINNING = 3;

/** Files that nobody writes into a database that nobody has used. Until all of it is there and compared, everybody refuses that. */
export function moveToPostgres({ files, pdfs }: From, pool: PoolOptions, at: string): Promise<Moved> {
  return during(pool, async postgres => {
    await migrate(postgres, at);
    await postgres.transact(query => mark(query, at));
    let rows = 0;
    for (const [family, file] of files) rows += await moveFile(postgres, family, file);
    let certificates = 0;
    for (const table of CERTIFICATE_FILES.relations)
      certificates += await copy(postgres, table, () => readPdfs(pdfs, at));
    for (const family of FAMILIES)
      await postgres.query(`DELETE FROM ${family}.schema_migrations WHERE version = ${MOVING}`);
    return { rows, certificates };
  });
}

/** One that was begun before goes on: each table is emptied before it is filled. */
async function mark(query: Query, at: string): Promise<void> {
  const begun = [];
  for (const family of FAMILIES) {
    const into = `INSERT INTO ${family}.schema_migrations VALUES (${MOVING}, 'move', $1, '')`;
    begun.push(...(await query(`${into} ON CONFLICT DO NOTHING RETURNING version`, [at])));
  }
  if (begun.length === 0) return;
  const counts = FAMILIES.flatMap(tablesIn).map(({ name }) => `(SELECT count(*) FROM ${name})`);
  const [found] = await query<{ n: number }>(`SELECT ${counts.join(' + ')} AS n`);
  if (found?.n !== FROM_THE_BEGINNING)
    throw new StoreError('used', 'The database is in use already: files are moved into an empty one.');
}

/** The past is compared as people read it: a cell a column. */
async function moveFile(postgres: Postgres, family: Family, file: string): Promise<number> {
  const db = openDatabase(file, { busyTimeoutMs: 0, readonly: true });
  try {
    demandSchema(db, family);
    const read = readerIn(db);
    let rows = 0;
    for (const table of tablesIn(family)) {
      rows += await copy(postgres, table, read);
      await setCounter(db, postgres, table);
    }
    for (const history of historiesIn(family))
      await postgres.transact(query => demandEqual(history, read, readerInSchemas(query)));
    return rows;
  } finally {
    db.close();
  }
}

function copy({ transact }: Postgres, table: Relation, read: Read): Promise<number> {
  return transact(async query => {
    await copyTable(table, read, statement => {
      const { text, values } = statement.bind(POSTGRES);
      return query(text, [...values]);
    });
    return await demandEqual(table, read, readerInSchemas(query));
  });
}

/** Where a table numbers its own rows, it goes on after the last number that was given. */
async function setCounter(db: Sqlite, { query }: Postgres, { name, columns }: Relation): Promise<void> {
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

/** As rows of the table that has them there, one at a time: each may be large. */
async function* readPdfs(pdfs: PdfStore, at: string): ReturnType<Read> {
  for await (const files of pdfs.list(null)) {
    for (const file of files) {
      const chunks: Uint8Array[] = [];
      const body = await pdfs.open(file);
      for await (const chunk of body ?? []) chunks.push(chunk);
      if (body !== null) yield [{ file, written_at: at, bytes: Buffer.concat(chunks) }];
    }
  }
}
