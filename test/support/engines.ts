import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { createInboxPort } from '../../src/store/postgres/inbox/inbox.js';
import { createMirrorPort } from '../../src/store/postgres/mirror/mirror.js';
import { openPostgres, type Postgres } from '../../src/store/postgres/open.js';
import type { Broken } from '../../src/store/contract/broken.js';
import { findBroken } from '../../src/store/postgres/find-broken.js';
import { findBroken as findBrokenInFiles } from '../../src/store/sqlite/find-broken.js';
import { snapshot } from '../../src/store/postgres/snapshot.js';
import { writeCopy } from '../../src/store/sqlite/copy.js';
import { createCertificateTable } from '../../src/store/postgres/mirror/certificates.js';
import { readerOf as askPostgres } from '../../src/store/postgres/reader.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { writeFreshnessFacts } from '../../src/sync/schedule/freshness-facts.js';
import { createInboxPort as createSqliteInbox } from '../../src/store/sqlite/inbox/inbox.js';
import { createMirror } from '../../src/mirror/create-mirror.js';
import type { InboxPort } from '../../src/inbox/port.js';
import type { OpenSync } from '../../src/mirror/port.js';
import type { Resource } from '../../src/resources/lists.js';
import { NOON, temporaryFolder, temporaryInbox } from './inbox.js';
import { activate, type Clock, readerOf, type Scene, temporaryScene } from './mirror.js';
import { type Hands, handsOn, handsOnTable } from './pdfs.js';
import { type Database, openGranted, temporaryDatabase } from './postgres.js';
import { type Tables, tablesIn, tablesOf as sqliteTables, type Value } from './tables.js';
import type { Store } from './box.js';
import { seeds } from './seeds.js';

/** A mirror on some engine. No test asks on which. */
export interface Stage extends Omit<Scene, 'handle'> {
  readonly hands: Hands;
  /** Writes a copy of the mirror as one SQLite file; false where that is there already. */
  readonly snapshot: (file: string) => Promise<boolean>;
  readonly findBroken: () => Promise<readonly Broken[]>;
}

export interface Engine {
  readonly name: string;
  readonly stage: () => Promise<Stage>;
  /** The same with an inbox beside it, its tables by `inbox.jobs`, and a reader who has the rights of one. */
  readonly library: () => Promise<Library>;
  /** A place for an inbox. */
  readonly store: () => Promise<Store>;
  /** How many histories by chance are played on it: each statement to a server is a round trip. */
  readonly seeds: readonly number[];
}

export interface Library {
  readonly stage: Stage;
  /** By which commands find it. */
  readonly env: { readonly DATA_DIR: string; readonly MIRROR_DATABASE_URL?: string };
  readonly tables: Tables;
  readonly reader: Reader;
  /** What a worker does each 15 seconds, so that readers know what was announced. */
  readonly writeFreshnessFacts: (at: number) => Promise<void>;
}

/** For what asks both and compares their answers. */
export const BOTH: readonly Engine[] = [
  {
    name: 'SQLite',
    stage: stageInFolder,
    library: libraryInFiles,
    store: async () => sqliteInbox(),
    seeds: seeds(8, 0),
  },
  {
    name: 'PostgreSQL',
    stage: async () => stageOn((await emptyDatabase()).postgres),
    library: libraryInSchemas,
    store: async () => inboxOn((await emptyDatabase()).postgres),
    seeds: seeds(2, 0),
  },
];

/** The one on which this run keeps: a law is held on files, and once more on a PostgreSQL where there is one. */
export const ENGINES = BOTH.filter(({ name }) => name === (inject('keptIn') ?? 'SQLite'));

async function libraryInFiles(): Promise<Library> {
  const stage = await stageInFolder();
  const { folder } = stage;
  const inbox = createSqliteInbox(temporaryInbox(folder), () => stage.clock.at);
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => reader.close());
  return {
    stage,
    env: { DATA_DIR: folder },
    tables: tablesIn(folder),
    reader,
    writeFreshnessFacts: looking(stage, inbox),
  };
}

async function libraryInSchemas(): Promise<Library> {
  const database = await emptyDatabase();
  const stage = await stageOn(database.postgres);
  const reader = askPostgres(await openGranted(database.postgres, database, 'read'));
  const env = { MIRROR_DATABASE_URL: database.url, DATA_DIR: join(stage.folder, 'none') };
  const inbox = createInboxPort(database.postgres, () => stage.clock.at);
  return { stage, env, tables: stage.db, reader, writeFreshnessFacts: looking(stage, inbox) };
}

function looking({ mirror }: Stage, inbox: InboxPort): Library['writeFreshnessFacts'] {
  return at => writeFreshnessFacts({ inbox, mirror, mirrorMembers: true }, at);
}

function sqliteInbox(folder = temporaryFolder()): Store {
  const db = temporaryInbox(folder);
  return {
    db: sqliteTables(db),
    open: now => createSqliteInbox(db, now),
    beside: () => sqliteInbox(folder),
  };
}

export function inboxOn(postgres: Postgres): Store {
  return {
    db: tablesOf(postgres),
    open: now => createInboxPort(postgres, now),
    beside: () => inboxOn(postgres),
  };
}

async function stageInFolder(): Promise<Stage> {
  const scene = await temporaryScene();
  return {
    ...scene,
    hands: handsOn(join(scene.folder, 'certificates')),
    snapshot: async file => writeCopy(scene.handle, file),
    findBroken: async () => {
      const files = {
        mirrorFile: join(scene.folder, 'mirror.db'),
        inboxFile: join(scene.folder, 'inbox.db'),
      };
      return findBrokenInFiles(files, scene.clock.at);
    },
  };
}

export async function stageOn(postgres: Postgres): Promise<Stage> {
  const folder = temporaryFolder();
  const port = createMirrorPort(postgres);
  const clock: Clock = { at: NOON };
  const mirror = createMirror(port, () => clock.at);
  await activate(mirror, clock);
  return {
    folder,
    db: tablesOf(postgres),
    port,
    mirror,
    clock,
    read: readerOf(mirror, clock),
    pdfs: maxBytes => createCertificateTable(postgres, { now: () => clock.at, maxBytes }),
    hands: handsOnTable(postgres),
    snapshot: file => snapshot(postgres, file, new Date(clock.at).toISOString()),
    findBroken: () => findBroken(postgres, clock.at),
  };
}

/** A run that has not written yet, of the first organization's first claim. */
export function openSync(resource: Resource, knownAt: string | null = null): OpenSync {
  return {
    request: {
      organizationId: 'organization-1',
      resource,
      claim: 1,
      startedAt: NOON,
      trigger: 'delivery',
    },
    part: 'data',
    id: null,
    hasPartialRows: false,
    previousLatestInstant: knownAt,
    latestInstant: knownAt,
    counts: { added: 0, changed: 0, removed: 0, unchanged: 0 },
    countsAsDrift: false,
  };
}

/** What is true is 1, as it is on SQLite. */
export function tablesOf({ query }: Postgres): Tables {
  const rows: Tables['rows'] = async <Row>(sql: string, ...values: Value[]) => {
    let place = 0;
    const found = await query<Row & object>(
      sql.replaceAll('?', () => `$${(place += 1)}`),
      values,
    );
    return found.map(withoutBooleans);
  };
  const column: Tables['column'] = async <Cell>(sql: string, ...values: Value[]) => {
    const found = await rows<Record<string, Cell>>(sql, ...values);
    return found.flatMap(row => Object.values(row).slice(0, 1));
  };
  const named = (kind: string) =>
    column<string>(
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'mirror' AND table_type = ?",
      kind,
    );
  return {
    rows,
    column,
    row: async <Row>(sql: string, ...values: Value[]) => (await rows<Row>(sql, ...values))[0],
    value: async <Cell>(sql: string, ...values: Value[]) => (await column<Cell>(sql, ...values))[0],
    tables: () => named('BASE TABLE'),
    views: () => named('VIEW'),
    columns: table =>
      column<string>(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'mirror' AND table_name = ? ORDER BY ordinal_position",
        table,
      ),
    change: async (sql, ...values) => {
      if (values.length === 0) await query(sql);
      else await rows(sql, ...values);
    },
  };
}

export function openAs(database: Database): Postgres {
  const postgres = connectTo(database);
  onTestFinished(postgres.close);
  return postgres;
}

function connectTo({ url }: Database): Postgres {
  return openPostgres({
    url: `${url}&options=-c%20search_path=mirror,inbox`,
    name: 'contract',
    connections: 4,
    onFault: error => {
      throw error;
    },
  });
}

function withoutBooleans<Row extends object>(row: Row): Row {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'boolean') Object.assign(row, { [name]: Number(value) });
  }
  return row;
}

/** One whose tables are empty, and who connects to it as its owner. */
export interface EmptyDatabase extends Database {
  readonly postgres: Postgres;
}

/** To make a database and to connect to it takes longer than most tests: one is emptied and used again. */
export interface Stock {
  readonly free: EmptyDatabase[];
  /** Done once in each, before it is used. */
  readonly prepare: string | null;
}

const PLAIN: Stock = { free: [], prepare: null };

const EMPTY = `DO $$
  DECLARE t record;
  BEGIN
    FOR t IN SELECT schemaname AS s, tablename AS n FROM pg_tables
      WHERE schemaname IN ('inbox', 'mirror', 'evidence') AND tablename <> 'schema_migrations'
    LOOP EXECUTE format('DELETE FROM %I.%I', t.s, t.n); END LOOP;
    FOR t IN SELECT schemaname AS s, sequencename AS n FROM pg_sequences WHERE schemaname IN ('inbox', 'mirror', 'evidence')
    LOOP PERFORM setval(format('%I.%I', t.s, t.n)::regclass, 1, false); END LOOP;
    INSERT INTO mirror.version_counter VALUES (1, 0);
    INSERT INTO mirror.certificate_mark VALUES (1, 0);
    INSERT INTO inbox.claims VALUES (1, 0);
  END $$`;

/** Those that are prepared in another way are kept apart. */
export async function emptyDatabase({ free, prepare }: Stock = PLAIN): Promise<EmptyDatabase> {
  const database = free.pop() ?? (await newDatabase(prepare));
  await database.postgres.query(EMPTY);
  onTestFinished(() => void free.push(database));
  return database;
}

async function newDatabase(prepare: string | null): Promise<EmptyDatabase> {
  const database = await temporaryDatabase();
  const postgres = connectTo(database);
  if (prepare !== null) await postgres.query(prepare);
  return { ...database, postgres };
}
