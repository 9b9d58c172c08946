import { parentPort, workerData } from 'node:worker_threads';
import type { Insert } from '../../../mirror/port.js';
import { serveThread } from '../../../thread.js';
import { createWorks, type Works } from '../database.js';
import { openDatabase } from '../open.js';
import { createCertificateFiles } from './files.js';
import { createMirrorOperations } from './mirror.js';
import type { MirrorOperations } from './operations.js';
import type { MirrorThreadData, Parts } from './thread.js';

/** One connection, one operation after the other. */
function open({ file, busyTimeoutMs, certificates }: MirrorThreadData): MirrorOperations & Parts & Works {
  const db = openDatabase(file, { busyTimeoutMs });
  const operations = createMirrorOperations(db, createCertificateFiles(certificates));
  const kept = new Map<number, Insert[]>();
  return {
    ...operations,
    ...createWorks(db),
    keep: (of, inserts) => {
      const before = kept.get(of);
      if (before === undefined) kept.set(of, [...inserts]);
      else before.push(...inserts);
    },
    commitKept: (of, sync, changes, ending) => {
      const inserts = kept.get(of) ?? [];
      kept.delete(of);
      return operations.commit(sync, { ...changes, inserts }, ending);
    },
  };
}

if (parentPort !== null) await serveThread(parentPort, () => open(workerData));
