import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Relation } from '../../migrations/schema.js';
import { CERTIFICATE_FILES } from '../../migrations/mirror/0001/books.js';
import type { PdfStore } from '../mirror/certificates/pdf-store.js';
import {
  compareAndCountRows,
  copyTable,
  listHistoryViews,
  listTables,
  type ReadRows,
} from './copy-tables.js';
import { createEpochName } from '../events/epoch-name.js';
import { beginEpoch } from './events/epochs.js';
import { DELETE_MOVING, INSERT_MOVING, MOVE_IN_PROGRESS } from './applied-migrations.js';
import { POSTGRES, SQLITE } from './dialect.js';
import type { MoveResult } from './engine.js';
import { DATABASE_NAMES, type DatabaseName } from './migrations.js';
import type { PoolOptions } from './postgres/driver.js';
import { StoreError } from './store-error.js';
import { createBatch, createAutocommitBatch } from './postgres/database.js';
import { migrate } from './postgres/migrate.js';
import type { Postgres, RunQuery } from './postgres/open-postgres.js';
import { withConnections } from './postgres/await-schema.js';
import { createRowReader as createPostgresRowReader } from './postgres/snapshot.js';
import { select, sqlStatement } from './sql/columns.js';
import { type Params, prepared } from './sql/prepared.js';
import { createRowReader } from './sqlite/snapshot.js';
import { assertMigrated } from './sqlite/migrate.js';
import { openDatabase, type Sqlite } from './sqlite/open-database.js';

/** The SQLite files and the certificates to move. */
export interface MoveSource {
  readonly files: readonly (readonly [DatabaseName, file: string])[];
  readonly pdfs: PdfStore;
}

/** The number of rows that migrations insert into an empty database. */
const INITIAL_ROWS = 3;

/**
 * Copies SQLite files and certificates into an empty PostgreSQL database and compares all rows. No process may write the files
 * meanwhile. Other programs refuse to open the database until the move is complete.
 */
export function moveToPostgres(
  { files, pdfs }: MoveSource,
  pool: PoolOptions,
  now: string,
): Promise<MoveResult> {
  return withConnections(pool, async postgres => {
    await migrate(postgres, now);
    await postgres.transact(query => markIncomplete(query, now));
    let rows = 0;
    for (const [database, file] of files) rows += await moveFile(postgres, database, file);
    let certificates = 0;
    for (const table of CERTIFICATE_FILES.relations)
      certificates += await copyAndCompare(postgres, table, () => readPdfs(pdfs, now));
    await beginEpochAfterMove(postgres, now);
    const send = createAutocommitBatch(postgres.query);
    for (const database of DATABASE_NAMES) await send(DELETE_MOVING[database]());
    return { rows, certificates };
  });
}

const READ_LAST_VERSION = prepared(({ db }) => db.selectFrom('mirror.version_counter').select('last'));

/**
 * Begins a new epoch of event ids in the PostgreSQL database. Without a new epoch, two different events could get the same id if somebody
 * uses the SQLite files again.
 */
async function beginEpochAfterMove({ query, transact }: Postgres, now: string): Promise<void> {
  const [[counter]] = await createAutocommitBatch(query)(READ_LAST_VERSION());
  const newestChange = counter?.last ?? 0;
  const epoch = createEpochName(randomBytes);
  await transact((_, send) =>
    beginEpoch(createBatch(send), { epoch, at: now, reason: 'moved', newestChange }),
  );
}

const COUNT_ROWS = prepared(() => {
  const counts = DATABASE_NAMES.flatMap(listTables).map(
    ({ name }) => sql`(SELECT count(*) FROM ${sql.table(name)})`,
  );
  return sqlStatement`SELECT ${select({ rows: sql<number>`${sql.join(counts, sql` + `)}` })}`;
});

/**
 * Marks the database as incomplete until the move ends. Throws if it contains rows already, unless an interrupted move left
 * them.
 */
async function markIncomplete(query: RunQuery, now: string): Promise<void> {
  const send = createAutocommitBatch(query);
  const marked = [];
  for (const database of DATABASE_NAMES) {
    const [rows] = await send(
      INSERT_MOVING[database]({ version: MOVE_IN_PROGRESS, name: 'move', appliedAt: now, digest: '' }),
    );
    marked.push(...rows);
  }
  if (marked.length === 0) return;
  const [[found]] = await send(COUNT_ROWS());
  if (found?.rows !== INITIAL_ROWS)
    throw new StoreError('used', 'The database is in use already: files are moved into an empty one.');
}

/**
 * Copies the rows of one SQLite file into PostgreSQL, checks that all rows are equal, and returns the number of rows. Does not change the
 * file.
 */
async function moveFile(postgres: Postgres, database: DatabaseName, file: string): Promise<number> {
  const db = openDatabase(file, { busyTimeoutMs: 0, readonly: true });
  try {
    assertMigrated(db, database);
    const read = createRowReader(db);
    let rows = 0;
    for (const table of listTables(database)) {
      rows += await copyAndCompare(postgres, table, read);
      await setSequence(db, postgres, table);
    }
    for (const history of listHistoryViews(database))
      await postgres.transact(query => compareAndCountRows(history, read, createPostgresRowReader(query)));
    return rows;
  } finally {
    db.close();
  }
}

/**
 * Replaces the rows of a PostgreSQL table with those that `read` returns, in one transaction. Returns their number, or throws
 * if the copy differs.
 */
function copyAndCompare({ transact }: Postgres, table: Relation, read: ReadRows): Promise<number> {
  return transact(async query => {
    await copyTable(table, read, statement => {
      const { text, values } = statement.bind(POSTGRES);
      return query(text, [...values]);
    });
    return await compareAndCountRows(table, read, createPostgresRowReader(query));
  });
}

/**
 * Sets the sequence of a column with generated numbers to the last number that SQLite used, so that new rows get higher
 * numbers. Does nothing for a table without such a column.
 */
async function setSequence(db: Sqlite, { query }: Postgres, { name, columns }: Relation): Promise<void> {
  for (const [column, [kind]] of Object.entries(columns)) {
    if (kind !== 'id' && kind !== 'counted') continue;
    const [, table = name] = name.split('.');
    const { text } = prepared(() =>
      kind === 'counted'
        ? sql`SELECT seq FROM sqlite_sequence WHERE name = ${sql.lit(table)}`
        : sql`SELECT max(${sql.id(column)}) FROM ${sql.table(name)}`,
    ).compileFor(SQLITE);
    const last = db.prepare<[], bigint | null>(text).safeIntegers().pluck().get() ?? null;
    if (last !== null) await createAutocommitBatch(query)(SET_SEQUENCE({ name, column, last }));
  }
}
type SequenceValue = { readonly name: string; readonly column: string; readonly last: bigint };
const SET_SEQUENCE = prepared(
  (_, { name, column, last }: Params<SequenceValue>) =>
    sqlStatement`SELECT ${select({ last: sql<number>`setval(pg_get_serial_sequence(${name}, ${column}), ${last})` })}`,
);

/** Yields the PDF of each certificate as a chunk with one row, because a PDF may be large. */
async function* readPdfs(pdfs: PdfStore, writtenAt: string): ReturnType<ReadRows> {
  for await (const files of pdfs.list(null)) {
    for (const file of files) {
      const chunks: Uint8Array[] = [];
      const body = await pdfs.open(file);
      for await (const chunk of body ?? []) chunks.push(chunk);
      if (body !== null) yield [{ file, written_at: writtenAt, bytes: Buffer.concat(chunks) }];
    }
  }
}
