import { describeSchema } from '../contract/relation.js';
import type { Engine, Lost } from '../engine.js';
import type { DatabaseSettings } from '../settings.js';
import { clockOf, locationOf, poolOf } from './settings.js';

type Stores = typeof import('./stores.js');

/** Three schemas of one database. The driver is loaded with the first thing that is asked. */
export function createPostgresEngine(database: DatabaseSettings, lost: Lost): Engine {
  const command = poolOf(database, 'command', lost);
  const forQuestions = database.queryUrl ? { ...command, url: database.queryUrl } : null;
  const stores = () => import('./stores.js');
  const pages = poolOf(database, 'console', lost);
  let shared: ReturnType<Stores['createShared']> | undefined;
  const share = ({ createShared }: Stores) => (shared ??= createShared());

  return {
    location: locationOf(database.url),
    files: {},
    findMissing: () => null,
    migrate: async now => (await import('./prepare.js')).migrateAll(command, now),
    prepare: async (families, _, waits) =>
      (await import('./prepare.js')).awaitSchema(command, families, waits),
    openReader: async () => (await stores()).openReader(command),
    openPages: async () => {
      const kept = await stores();
      return await kept.openReader(pages, share(kept));
    },
    sharesPages: true,
    watchChanges: async changed => (await stores()).watchChanges(command, changed),
    openPdfs: async now => (await stores()).openPdfs(command, now),
    openPagePdfs: async now => {
      const kept = await stores();
      return await kept.openPdfs(pages, now, share(kept));
    },
    openInbox: async now => (await stores()).openInbox(command, clockOf(database, now)),
    openWriters: async now => (await stores()).openWriters(command, now, clockOf(database, now)),
    openEvidence: async () => (await import('./evidence.js')).openEvidence(command),
    openWork: async ({ now, lost: lostAtWork }) =>
      (await stores()).openWork(poolOf(database, 'work', lostAtWork), now, clockOf(database, now)),
    ask: async question => (await import('./asker.js')).ask(forQuestions ?? command, question),
    snapshot: async (file, now) => (await stores()).writeSnapshot(command, file, now),
    keeping: null,
    findBroken: async now => (await stores()).findBrokenIn(command, now),
    checked: 'What was written fits together (whether the server keeps it whole is its own to check)',
    examine: async function* () {
      yield* (await import('./examine.js')).examine(command, forQuestions);
    },
    describeSchema: () => describeSchema('postgres'),
    lookAtDisk: () => null,
    logBytes: () => null,
  };
}
