import { describeSchema } from '../contract/describe-schema.js';
import type { Engine, OnConnectionLost } from '../engine.js';
import type { DatabaseSettings } from '../settings.js';
import type { Postgres } from './open-postgres.js';
import { getInboxClock, describeLocation, getPoolOptions } from './pool-settings.js';

interface EngineOptions {
  readonly onConnectionLost: OnConnectionLost;
  /** The SQLite files in DATA_DIR. They stay there after they were moved into the database. */
  readonly files: Pick<Engine, 'location' | 'findMissingFile' | 'findOlderCopies'>;
}

/** Creates the engine for a PostgreSQL database. Loads the driver at first use. Readers and writers of a command share one pool. */
export function createPostgresEngine(
  database: DatabaseSettings,
  { onConnectionLost, files }: EngineOptions,
): Engine {
  const pool = getPoolOptions(database, 'command', onConnectionLost);
  const queryPool = database.queryUrl ? { ...pool, url: database.queryUrl } : null;
  const open = shareConnections(async () => (await import('./await-schema.js')).openMigrated(pool));
  const withOwnConnections = async <T>(work: (postgres: Postgres) => Promise<T>): Promise<T> =>
    (await import('./await-schema.js')).withConnections(pool, work);
  const loadStores = () => import('./stores.js');

  return {
    location: describeLocation(database.url),
    files: {},
    findMissingFile: () => null,
    findOlderCopies: async () => {
      const moved = files.findMissingFile() === null ? [files.location] : [];
      return [...moved, ...(await files.findOlderCopies())];
    },
    migrate: now =>
      withOwnConnections(async postgres => (await import('./await-schema.js')).migrateSchemas(postgres, now)),
    prepare: (schemas, _, onWait) =>
      withOwnConnections(async postgres =>
        (await import('./await-schema.js')).awaitSchema(postgres, schemas, onWait),
      ),
    openReader: async () => (await loadStores()).createOpenReader(await open()),
    openPdfs: async now => (await loadStores()).createOpenPdfs(await open(), now),
    openInbox: async now =>
      (await import('./inbox/inbox-port.js')).createInboxPort(await open(), getInboxClock(database, now)),
    openWriterStores: async now =>
      (await loadStores()).createStores(await open(), now, getInboxClock(database, now)),
    openEvidence: async () => (await import('./open-evidence.js')).openEvidence(pool),
    openEvents: async now =>
      (await import('./open-events.js')).openEvents(pool, getInboxClock(database, now)),
    openWorkerStores: async ({ now, onConnectionLost: onWorkerConnectionLost }) => {
      const { openMigrated } = await import('./await-schema.js');
      const postgres = await openMigrated(getPoolOptions(database, 'work', onWorkerConnectionLost));
      return (await loadStores()).createStores(postgres, now, getInboxClock(database, now));
    },
    runSqlQuery: async query => {
      await (await open()).close();
      return await (await import('./run-sql-query.js')).runSqlQuery(queryPool ?? pool, query);
    },
    snapshot: (file, now) =>
      withOwnConnections(async postgres =>
        (await import('./snapshot.js')).snapshot(postgres, file, new Date(now).toISOString()),
      ),
    backup: null,
    findConsistencyFaults: (now, onLaw) =>
      withOwnConnections(async postgres =>
        (await import('./find-consistency-faults.js')).findConsistencyFaults(postgres, now, onLaw),
      ),
    checkedDescription: 'The rows in PostgreSQL were checked, but not the files of its server',
    examine: async function* () {
      yield* (await import('./examine-server.js')).examineServer(pool, queryPool);
    },
    describeSchema: () => describeSchema('postgres'),
    measureDisk: () => null,
    walBytes: () => null,
  };
}

/**
 * Returns a function that opens one pool for all its callers. The pool closes when the last caller closes it, and a later call
 * opens it again.
 */
function shareConnections(open: () => Promise<Postgres>): () => Promise<Postgres> {
  let opened: Promise<Postgres> | null = null;
  let users = 0;
  return async () => {
    users += 1;
    opened ??= open();
    try {
      const postgres = await opened;
      const close = async (): Promise<void> => {
        users -= 1;
        if (users > 0) return;
        opened = null;
        await postgres.close();
      };
      return { ...postgres, close };
    } catch (error) {
      users -= 1;
      opened = null;
      throw error;
    }
  };
}
