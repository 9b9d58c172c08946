import { describeSchema } from '../contract/describe-schema.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../engine.js';
import type { StoreSettings } from '../settings.js';
import { DATABASE_NAMES, type DatabaseName } from '../migrations.js';
import { getPoolOptions } from '../postgres/pool-settings.js';
import { measureDisk, getWalSize } from './measure-disk.js';

/** Databases that are created at first use. */
const OPTIONAL: readonly DatabaseName[] = ['evidence', 'events'];

/** Creates the engine for SQLite files and certificates in a data folder. Modules are loaded at first use. */
export function createSqliteEngine({ dataDir, diskReserveMb }: StoreSettings): Engine {
  const inboxFile = join(dataDir, 'inbox.db');
  const mirrorFile = join(dataDir, 'mirror.db');
  const files = { mirrorFile, inboxFile, certificates: join(dataDir, 'certificates') };
  const evidenceFile = join(dataDir, 'evidence.db');
  const optionalFiles = { evidence: evidenceFile, events: join(dataDir, 'events.db') };
  const getFile = (database: DatabaseName) => join(dataDir, `${database}.db`);

  const migrate = async (databases: readonly DatabaseName[], now: number) => {
    const { migrateFile } = await import('./migrate.js');
    const at = new Date(now).toISOString();
    return databases.flatMap(database =>
      migrateFile(getFile(database), database, at).map(file => ({ database: `${database}.db`, file })),
    );
  };

  return {
    location: dataDir,
    files: { mirror: mirrorFile, inbox: inboxFile, certificates: files.certificates },
    findMissingFile: () => {
      const missing = [mirrorFile, inboxFile].find(file => !existsSync(file));
      return missing === undefined ? null : `the file ${missing}`;
    },
    findOlderCopies: async () => (await import('./backup-files.js')).findOlderCopies(dataDir),
    migrate: now =>
      migrate(
        DATABASE_NAMES.filter(database => !OPTIONAL.includes(database) || existsSync(getFile(database))),
        now,
      ),
    prepare: migrate,
    openReader: async () => (await import('./reader.js')).openReader(files),
    openPdfs: async now => (await import('./stores.js')).openPdfs(files, now),
    openInbox: async now => (await import('./stores.js')).openInbox(inboxFile, now),
    openWriterStores: async now => (await import('./stores.js')).openWriterStores(files, now),
    openEvidence: async () => (await import('./open-evidence.js')).openEvidence(evidenceFile, mirrorFile),
    openEvents: async now => (await import('./open-events.js')).openEvents(getFile('events'), now),
    openWorkerStores: async options => (await import('./stores.js')).openWorkerStores(files, options),
    runSqlQuery: async query =>
      (await import('./sql-query/run-sql-query.js')).runSqlQuery({ ...files, ...query }),
    snapshot: async file => (await import('./snapshot.js')).snapshot(files, file),
    backup: {
      copyTo: async folder => (await import('./backup-files.js')).copyDataFolder(dataDir, folder),
      assertNotOpen: async () => (await import('./backup-files.js')).assertNotOpen(dataDir),
      openStagingFolder: async () => (await import('./backup-files.js')).openStagingFolder(dataDir),
      replaceWith: async (newFolder, replacedFolder) =>
        (await import('./backup-files.js')).replaceDataFiles(dataDir, newFolder, replacedFolder),
      moveTo: async (database, now) => {
        const { pdfs } = (await import('./stores.js')).openPdfs(files, () => now);
        const existing = DATABASE_NAMES.filter(name => existsSync(getFile(name)));
        const from = { pdfs, files: existing.map(name => [name, getFile(name)] as const) };
        const { moveToPostgres } = await import('../move-to-postgres.js');
        const pool = getPoolOptions(database, 'command', () => undefined);
        return await moveToPostgres(from, pool, new Date(now).toISOString());
      },
    },
    findConsistencyFaults: async (now, onLaw) =>
      (await import('./find-consistency-faults.js')).findConsistencyFaults(files, now, optionalFiles, onLaw),
    checkedDescription: 'inbox.db and mirror.db are intact',
    examine: async function* () {
      const { examine } = await import('./examine-files.js');
      yield* examine(files, measureDisk(dataDir, diskReserveMb), optionalFiles);
    },
    describeSchema: () => describeSchema('sqlite'),
    measureDisk: () => measureDisk(dataDir, diskReserveMb),
    walBytes: database => getWalSize(getFile(database)),
  };
}
