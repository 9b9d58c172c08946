import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Relation } from '../../migrations/schema.js';
import { CERTIFICATE_FILES } from '../../migrations/mirror/0001/books.js';
import type { PdfStore } from '../mirror/pdf-store.js';
import { assertEqualRows, copyTable, listHistories, listTables, type ReadRows } from './copy-tables.js';
import { createEpochName } from '../events/epoch-name.js';
import { beginEpoch } from './events/epochs.js';
import { DELETE_MOVING, INSERT_MOVING, MOVE_IN_PROGRESS } from './applied-migrations.js';
import { POSTGRES, SQLITE } from './dialect.js';
import type { MoveResult } from './engine.js';
import { FAMILIES, type Family } from './migrations.js';
import type { PoolOptions } from './postgres/driver.js';
import { StoreError } from './store-error.js';
import { createBatch, createAutocommitBatch } from './postgres/database.js';
import { migrate } from './postgres/migrate.js';
import type { Postgres, Query } from './postgres/open-postgres.js';
import { withConnections } from './postgres/await-schema.js';
import { createRowReader as readerInSchemas } from './postgres/snapshot.js';
import { select, sqlStatement } from './sql/columns.js';
import { type Params, prepared } from './sql/prepared.js';
import { createRowReader } from './sqlite/snapshot.js';
import { assertMigrated } from './sqlite/migrate.js';
import { openDatabase, type Sqlite } from './sqlite/open-database.js';

export interface MoveSource {
  readonly files: readonly (readonly [Family, file: string])[];
  readonly pdfs: PdfStore;
}

/** Rows that migrations insert into an empty database. */
const INITIAL_ROWS = 3;

/**
 * Copies files into an unused database. No process may write the files meanwhile. Programs refuse the database until all rows were
 * copied and compared.
 */
export function moveToPostgres(
  { files, pdfs }: MoveSource,
  pool: PoolOptions,
  at: string,
): Promise<MoveResult> {
  return withConnections(pool, async postgres => {
    await migrate(postgres, at);
    await postgres.transact(query => mark(query, at));
    let rows = 0;
    for (const [family, file] of files) rows += await moveFile(postgres, family, file);
    let certificates = 0;
    for (const table of CERTIFICATE_FILES.relations)
      certificates += await copy(postgres, table, () => readPdfs(pdfs, at));
    await beginMovedEpoch(postgres, at);
    const send = createAutocommitBatch(postgres.query);
    for (const family of FAMILIES) await send(DELETE_MOVING[family]());
    return { rows, certificates };
  });
}

const READ_LAST_VERSION = prepared(({ db }) => db.selectFrom('mirror.version_counter').select('last'));

/** Begins a new epoch of events, because the files may be used again and would give the same ids to other events. */
async function beginMovedEpoch({ query, transact }: Postgres, at: string): Promise<void> {
  const [[counter]] = await createAutocommitBatch(query)(READ_LAST_VERSION());
  const newestChange = counter?.last ?? 0;
  const epoch = createEpochName(randomBytes);
  await transact((_, send) => beginEpoch(createBatch(send), { epoch, at, reason: 'moved', newestChange }));
}

const COUNT_ROWS = prepared(() => {
  const counts = FAMILIES.flatMap(listTables).map(
    ({ name }) => sql`(SELECT count(*) FROM ${sql.table(name)})`,
  );
  return sqlStatement`SELECT ${select({ rows: sql<number>`${sql.join(counts, sql` + `)}` })}`;
});

/** Marks the database as incomplete. A move that was interrupted is repeated: each table is emptied before it is filled. */
async function mark(query: Query, at: string): Promise<void> {
  const send = createAutocommitBatch(query);
  const marked = [];
  for (const family of FAMILIES) {
    const [rows] = await send(
      INSERT_MOVING[family]({ version: MOVE_IN_PROGRESS, name: 'move', appliedAt: at, digest: '' }),
    );
    marked.push(...rows);
  }
  if (marked.length === 0) return;
  const [[found]] = await send(COUNT_ROWS());
  if (found?.rows !== INITIAL_ROWS)
    throw new StoreError('used', 'The database is in use already: files are moved into an empty one.');
}

/**
 * Copies one SQLite file into PostgreSQL and compares the rows. Returns how many rows it copied. Older versions are compared
 * through the history views, because these have a column for each cell of a version.
 */
async function moveFile(postgres: Postgres, family: Family, file: string): Promise<number> {
  const db = openDatabase(file, { busyTimeoutMs: 0, readonly: true });
  try {
    assertMigrated(db, family);
    const read = createRowReader(db);
    let rows = 0;
    for (const table of listTables(family)) {
      rows += await copy(postgres, table, read);
      await setSequence(db, postgres, table);
    }
    for (const history of listHistories(family))
      await postgres.transact(query => assertEqualRows(history, read, readerInSchemas(query)));
    return rows;
  } finally {
    db.close();
  }
}

function copy({ transact }: Postgres, table: Relation, read: ReadRows): Promise<number> {
  return transact(async query => {
    await copyTable(table, read, statement => {
      const { text, values } = statement.bind(POSTGRES);
      return query(text, [...values]);
    });
    return await assertEqualRows(table, read, readerInSchemas(query));
  });
}

/** Sets the sequence of a table that numbers its rows, so that new numbers follow the last one. */
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

/** Reads the certificate files as rows, one at a time because each may be large. */
async function* readPdfs(pdfs: PdfStore, at: string): ReturnType<ReadRows> {
  for await (const files of pdfs.list(null)) {
    for (const file of files) {
      const chunks: Uint8Array[] = [];
      const body = await pdfs.open(file);
      for await (const chunk of body ?? []) chunks.push(chunk);
      if (body !== null) yield [{ file, written_at: at, bytes: Buffer.concat(chunks) }];
    }
  }
}
