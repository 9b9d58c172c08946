// Opens mirrors for tests. `openMirror` opens an empty one in files, `ENGINES` opens one on the engine of this run, and
// `openFilledMirror` fills one with organizations and their rows. The other files of this folder fill mirrors in other ways: demo.ts with
// the programs and the demo world, by-workers.ts with worker processes, mirror-pair.ts on both engines. rows.ts creates rows to read.
import { dirname, join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { InboxPort } from '../../../src/inbox/port.js';
import { createMirror } from '../../../src/mirror/create-mirror.js';
import type {
  LookUpMissingRows,
  ReadResult,
  Mirror,
  ListReader,
  ListReadRequest,
} from '../../../src/mirror/mirror.js';
import type { PdfStore } from '../../../src/mirror/certificates/pdf-store.js';
import type { InstallationState } from '../../../src/store/contract/states.js';
import type { MirrorPort } from '../../../src/mirror/port/mirror-port.js';
import type { Installation } from '../../../src/registry/object-models.js';
import type { OpenSync } from '../../../src/mirror/port/sync.js';
import type { ListItems, ListResource, Resource } from '../../../src/resources/lists.js';
import type { ConsistencyFault } from '../../../src/store/contract/finding.js';
import type { Reader } from '../../../src/store/contract/reader.js';
import { findConsistencyFaults } from '../../../src/store/postgres/find-consistency-faults.js';
import { createInboxPort as createInboxInSchemas } from '../../../src/store/postgres/inbox/inbox-port.js';
import { createCertificateTable } from '../../../src/store/postgres/mirror/certificate-table.js';
import { createMirrorPort as createMirrorInSchemas } from '../../../src/store/postgres/mirror/mirror-port.js';
import type { Postgres } from '../../../src/store/postgres/open-postgres.js';
import { createReader as askPostgres } from '../../../src/store/postgres/reader.js';
import { snapshot } from '../../../src/store/postgres/snapshot.js';
import { createCertificateFolder } from '../../../src/store/sqlite/mirror/certificate-folder.js';
import { writeCopy } from '../../../src/store/sqlite/snapshot.js';
import { findConsistencyFaults as findBrokenInFiles } from '../../../src/store/sqlite/find-consistency-faults.js';
import { createInboxPort } from '../../../src/store/sqlite/inbox/inbox-port.js';
import { migrate } from '../../../src/store/sqlite/migrate.js';
import { createMirrorPort } from '../../../src/store/sqlite/mirror/mirror-port.js';
import { openDatabase, type Sqlite } from '../../../src/store/sqlite/open-database.js';
import { openReader } from '../../../src/store/sqlite/reader.js';
import { recordUnreadDeliveries } from '../../../src/sync/schedule/unread-deliveries.js';
import { NOON, type InboxStore, temporaryFolder, temporaryInbox } from '../inbox.js';
import { createMigratedDatabase } from '../migrated-databases.js';
import { type PdfTampering, tamperWithFiles, tamperWithTable } from '../pdfs.js';
import {
  type DatabasePool,
  takeEmptyDatabase,
  openInboxOnPostgres,
  createRole,
  openWithRole,
  tablesInSchemas,
} from '../postgres.js';
import { listSeeds } from '../seeds.js';
import { type Tables, openTablesIn, createTables } from '../tables.js';
import { credit, installation, organization, createUnknownPage, retirement, type Row } from './rows.js';

/** Opens a real, migrated mirror.db that is closed after the test. */
export function temporaryMirror(folder: string = temporaryFolder()): Sqlite {
  const file = join(folder, 'mirror.db');
  createMigratedDatabase(file, 'mirror');
  const db = openDatabase(file, { busyTimeoutMs: 1_000 });
  onTestFinished(() => {
    db.close();
  });
  migrate(db, 'mirror', new Date(NOON).toISOString());
  return db;
}

/** A clock that only tests move. */
export interface TestClock {
  at: number;
}

export const MINUTE = 60_000;

/** Creates a mirror on a connection, with its certificates in a folder beside the database. */
export type MirrorMaker = (db: Sqlite, now: () => number) => Mirror;

const makeMirror: MirrorMaker = (db, now) => createMirror(createPort(db), now);

function createPort(db: Sqlite): MirrorPort {
  return createMirrorPort(db, join(dirname(db.name), 'certificates'));
}

export interface SqliteMirror {
  /** The folder of the mirror; certificates are in a subfolder. */
  readonly folder: string;
  readonly db: Tables;
  /** The writing connection, for tests of the engine. */
  readonly handle: Sqlite;
  readonly port: MirrorPort;
  /** Opens the store of its certificate files. */
  readonly pdfs: (maxBytes: number) => PdfStore;
  readonly mirror: Mirror;
  readonly clock: TestClock;
  /** Reads a whole list with the newest claim, in pages of `limit` rows, or in one answer if `limit` is null. */
  readonly read: <Name extends ListResource>(
    resource: Name,
    items: readonly ListItems[Name][],
    overrides?: Partial<ListReadRequest<Name>> & {
      limit?: number | null;
      total?: number | null;
      findGone?: (ids: readonly string[]) => Promise<readonly string[]>;
    },
  ) => Promise<ReadResult>;
}

export const TRAFFIC = { requests: 1, bytes: 100 };
const TRIGGER = 'delivery';

/** Opens a mirror with one active installation and a clock at noon. */
export async function openMirror({
  folder = temporaryFolder(),
  create = makeMirror,
}: {
  folder?: string;
  create?: MirrorMaker;
} = {}): Promise<SqliteMirror> {
  const db = temporaryMirror(folder);
  const clock = { at: NOON };
  const mirror = create(db, () => clock.at);
  await writeInstallation({ mirror, clock }, 1);
  return {
    folder,
    db: createTables(db),
    handle: db,
    port: createPort(db),
    pdfs: maxBytes =>
      createCertificateFolder(join(folder, 'certificates'), { now: () => clock.at, maxBytes }),
    mirror,
    clock,
    read: createListRead(mirror, clock),
  };
}

/** Installs the app on `count` organizations and reads their warehouses. The warehouse of organization n has n credits. */
export async function fillOrganizations(
  { mirror, clock, read }: Pick<SqliteMirror, 'mirror' | 'clock' | 'read'>,
  count: number,
): Promise<void> {
  for (let n = 1; n <= count; n++) {
    const organizationId = `organization-${n}`;
    await writeInstallation({ mirror, clock }, n);
    const credits = Array.from({ length: n }, (_, index) =>
      credit(`c-${n}-${index}`, { organizationId, serialization: `ICR-ISL-${n}-${index}-14-R-0-2021` }),
    );
    await read('warehouse', credits, { organizationId });
  }
}

/** Marks all lists of an organization as unreadable for days. */
export async function breakReads({ db }: Pick<SqliteMirror, 'db'>, organizationId: string): Promise<void> {
  await db.change(
    `UPDATE resource_states SET outcome = 'failed', error = 'answered 503', failing_since = '2026-11-01T00:00:00.000Z',
      webhook_failed = 1 WHERE organization_id = ?`,
    organizationId,
  );
}

/** Writes that `installation-N` of `organization-N` was found now: active and with the first claim, unless the details differ. */
export async function writeInstallation(
  { mirror, clock }: Pick<SqliteMirror, 'mirror' | 'clock'>,
  n: number,
  {
    state = 'active',
    claim = 1,
    ...details
  }: Partial<Installation> & { readonly state?: InstallationState; readonly claim?: number } = {},
): Promise<void> {
  await mirror.writeInstallation({
    installation: installation(`installation-${n}`, { organizationId: `organization-${n}`, ...details }),
    state,
    claim,
    startedAt: clock.at,
    arrivedAt: clock.at,
    trigger: TRIGGER,
  });
}

/** Begins a read of the first organization with the newest claim. */
export async function beginRead<Name extends ListResource>(
  { mirror, clock }: Pick<SqliteMirror, 'mirror' | 'clock'>,
  resource: Name,
  overrides: Partial<ListReadRequest<Name>> = {},
): Promise<ListReader<ListItems[Name]>> {
  const defaults = {
    organizationId: 'organization-1',
    claim: 1,
    startedAt: clock.at,
    trigger: TRIGGER,
  } as const;
  return await mirror.beginRead({ ...defaults, resource, ...overrides });
}

export function createListRead(mirror: Mirror, clock: TestClock): SqliteMirror['read'] {
  return async (resource, items, { limit = null, total, findGone, ...request } = {}) => {
    const read = await beginRead({ mirror, clock }, resource, request);
    if (limit === null) await read.writeBatch(items, clock.at);
    else await writePages(read, items, limit, clock);
    return read.finish({
      ...TRAFFIC,
      total: total ?? null,
      ...(findGone && { lookUpMissing: createFindMissing(findGone, clock) }),
    });
  };
}

async function writePages<Item extends Row>(
  read: ListReader<Item>,
  items: readonly Item[],
  limit: number,
  clock: TestClock,
): Promise<void> {
  for (let page = 0; page === 0 || page * limit < items.length; page += 1) {
    const some = items.slice(page * limit, (page + 1) * limit);
    await read.writePage(createUnknownPage(some, clock.at));
  }
}

/** Creates a lookup that answers at once which ids the registry no longer has. */
export function createFindMissing(
  gone: (ids: readonly string[]) => Promise<readonly string[]>,
  clock: TestClock,
): LookUpMissingRows {
  return async ids => new Map((await gone(ids)).map(id => [id, clock.at]));
}

/** A mirror on either engine. Tests do not depend on which. */
export interface TestMirror extends Omit<SqliteMirror, 'handle'> {
  readonly tampering: PdfTampering;
  /** Writes a snapshot of the mirror to a SQLite file. Returns false if the file exists. */
  readonly snapshot: (file: string) => Promise<boolean>;
  readonly findConsistencyFaults: () => Promise<readonly ConsistencyFault[]>;
}

export interface TestEngine {
  readonly name: string;
  readonly stage: () => Promise<TestMirror>;
  /**
   * Opens a mirror with an inbox and a reader. Inbox tables are named as in `inbox.jobs`. On PostgreSQL, the database comes from `pool`,
   * or from the pool of all tests.
   */
  readonly library: (pool?: DatabasePool) => Promise<TestLibrary>;
  /** Opens an empty inbox. */
  readonly store: () => Promise<InboxStore>;
  /** Seeds of the random histories. PostgreSQL has fewer, because each statement is a round trip. */
  readonly seeds: readonly number[];
}

export interface TestLibrary {
  readonly stage: TestMirror;
  /** The settings with which commands find the mirror. */
  readonly env: { readonly DATA_DIR: string; readonly MIRROR_DATABASE_URL?: string };
  readonly tables: Tables;
  readonly reader: Reader;
  readonly inbox: InboxPort;
  /** Records the freshness facts, as a worker does every 15 seconds. */
  readonly writeFreshnessFacts: (at: number) => Promise<void>;
}

/** Both engines, for tests that compare them. */
export const BOTH_ENGINES: readonly TestEngine[] = [
  {
    name: 'SQLite',
    stage: openMirrorInFiles,
    library: openLibraryInFiles,
    store: async () => openSqliteInbox(),
    seeds: listSeeds(8, 0),
  },
  {
    name: 'PostgreSQL',
    stage: async () => openMirrorOnPostgres((await takeEmptyDatabase()).postgres),
    library: openLibraryInPostgres,
    store: async () => openInboxOnPostgres((await takeEmptyDatabase()).postgres),
    seeds: listSeeds(2, 0),
  },
];

/** The engine of this run: SQLite, or PostgreSQL in the project that repeats these tests there. */
export const ENGINES = BOTH_ENGINES.filter(({ name }) => name === (inject('keptIn') ?? 'SQLite'));

/** A mirror with an inbox and a reader. */
type FilledMirror = TestMirror & Omit<TestLibrary, 'stage'>;

/**
 * Opens a mirror on the engine of this run, with organizations that were read a minute ago. Organization n is named
 * "Organization n", and has n credits of 100 t in its warehouse and n retirements of 12.5 t, all of the project "Peat bog".
 * The view of freshness uses the clock of the database. A test that needs fresh data may move the clock by less than a minute;
 * all others may also set `at`.
 */
export async function openFilledMirror({
  organizations = 2,
  at = Date.now() - MINUTE,
} = {}): Promise<FilledMirror> {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('this run has no engine');
  const { stage, ...library } = await engine.library();
  stage.clock.at = at;
  await stage.mirror.checkOrigin({ baseUrl: 'http://registry', appId: 'app-1', scheduleSeconds: 86_400 });
  await fillOrganizations(stage, organizations);
  for (let n = 1; n <= organizations; n++) {
    const organizationId = `organization-${n}`;
    const named = organization(organizationId, { fullName: `Organization ${n}` });
    await stage.read('organization', [named], { organizationId });
    const items = Array.from({ length: n }, (_, index) => retirement(`r-${n}-${index}`, { organizationId }));
    await stage.read('retirements', items, { organizationId });
  }
  return { ...stage, ...library };
}

async function openLibraryInFiles(): Promise<TestLibrary> {
  const stage = await openMirrorInFiles();
  const { folder } = stage;
  const inbox = createInboxPort(temporaryInbox(folder), () => stage.clock.at);
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => reader.close());
  return {
    stage,
    env: { DATA_DIR: folder },
    tables: openTablesIn(folder),
    reader,
    inbox,
    writeFreshnessFacts: createFactsWriter(stage, inbox),
  };
}

async function openLibraryInPostgres(pool?: DatabasePool): Promise<TestLibrary> {
  const database = await takeEmptyDatabase(pool);
  const stage = await openMirrorOnPostgres(database.postgres);
  const reader = askPostgres(await openWithRole(database.postgres, database, 'read'));
  const { url: readingUrl } = await createRole(database.postgres, database, 'read');
  const env = {
    MIRROR_DATABASE_URL: database.url,
    QUERY_DATABASE_URL: readingUrl,
    DATA_DIR: join(stage.folder, 'none'),
  };
  const inbox = createInboxInSchemas(database.postgres, () => stage.clock.at);
  return {
    stage,
    env,
    tables: stage.db,
    reader,
    inbox,
    writeFreshnessFacts: createFactsWriter(stage, inbox),
  };
}

function createFactsWriter({ mirror }: TestMirror, inbox: InboxPort): TestLibrary['writeFreshnessFacts'] {
  return at => recordUnreadDeliveries({ inbox, mirror, mirrorMembers: true }, at);
}

function openSqliteInbox(folder = temporaryFolder()): InboxStore {
  const db = temporaryInbox(folder);
  return {
    db: createTables(db),
    open: now => createInboxPort(db, now),
    openSecondConnection: () => openSqliteInbox(folder),
  };
}

async function openMirrorInFiles(): Promise<TestMirror> {
  const scene = await openMirror();
  return {
    ...scene,
    tampering: tamperWithFiles(join(scene.folder, 'certificates')),
    snapshot: async file => writeCopy(scene.handle, file),
    findConsistencyFaults: async () => {
      const files = {
        mirrorFile: join(scene.folder, 'mirror.db'),
        inboxFile: join(scene.folder, 'inbox.db'),
      };
      return findBrokenInFiles(files, scene.clock.at);
    },
  };
}

export async function openMirrorOnPostgres(postgres: Postgres): Promise<TestMirror> {
  const folder = temporaryFolder();
  const port = createMirrorInSchemas(postgres);
  const clock: TestClock = { at: NOON };
  const mirror = createMirror(port, () => clock.at);
  await writeInstallation({ mirror, clock }, 1);
  return {
    folder,
    db: tablesInSchemas(postgres),
    port,
    mirror,
    clock,
    read: createListRead(mirror, clock),
    pdfs: maxBytes => createCertificateTable(postgres, { now: () => clock.at, maxBytes }),
    tampering: tamperWithTable(postgres),
    snapshot: file => snapshot(postgres, file, new Date(clock.at).toISOString()),
    findConsistencyFaults: () => findConsistencyFaults(postgres, clock.at),
  };
}

/** Creates a sync of the first organization that has not written anything yet. */
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
    followsCompleteRead: false,
    previousLatestInstant: knownAt,
    latestInstant: knownAt,
    counts: { added: 0, changed: 0, removed: 0, unchanged: 0 },
    countsAsDrift: false,
  };
}
