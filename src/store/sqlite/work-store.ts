import { createCertificateFolder } from './certificates/folder.js';
import type { WorkOptions, WorkStore } from '../engine.js';
import type { Family } from '../migrations.js';
import { createInboxPort } from './inbox/inbox.js';
import { createHoldClock, readLogState } from './log-state.js';
import { startMirrorThread } from './mirror/thread.js';
import { openDatabase, type Sqlite } from './open.js';
import { readerOf } from './reader.js';
import type { AllFiles } from './stores.js';

/** A worker may wait for another writer; nobody waits for its answer. */
const BUSY_MS = 10_000;

/** The mirror is written in a thread of its own, and read in this one. */
export async function openWork(files: AllFiles, { now, failed }: WorkOptions): Promise<WorkStore> {
  const { inboxFile, mirrorFile, certificates } = files;
  const open: Sqlite[] = [];
  const closeAll = () =>
    open
      .splice(0)
      .toReversed()
      .forEach(db => db.close());
  try {
    const inboxDb = openDatabase(inboxFile, { busyTimeoutMs: BUSY_MS });
    open.push(inboxDb);
    const mirrorDb = openDatabase(mirrorFile, { busyTimeoutMs: BUSY_MS, readonly: true });
    open.push(mirrorDb);
    const thread = { file: mirrorFile, reader: mirrorDb, busyTimeoutMs: BUSY_MS, certificates, failed };
    const { mirror, close } = await startMirrorThread(thread);
    const logs = [watchLog('inbox', inboxDb), watchLog('mirror', mirrorDb)];
    return {
      inbox: createInboxPort(inboxDb, now),
      mirror,
      pdfs: createCertificateFolder(certificates, { now }),
      reader: readerOf(mirrorDb),
      logs: at => logs.map(look => look(at)),
      close: async () => {
        await close();
        closeAll();
      },
    };
  } catch (error) {
    closeAll();
    throw error;
  }
}

function watchLog(name: Family, db: Sqlite) {
  const measure = createHoldClock();
  return (now: number) => {
    const state = readLogState(db);
    return { name, unmovedBytes: state.unmovedBytes, heldMs: measure(state, now) };
  };
}
