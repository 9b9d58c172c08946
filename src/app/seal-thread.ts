import { randomBytes, randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { lastSignedBeside, readKeyFile } from '../evidence/key-file.js';
import { seal } from '../evidence/seal.js';
import { openEngine } from '../store/open.js';
import { serveThread } from '../thread.js';
import type { SealThreadData, SealWorks } from './sealing.js';

async function open({ store, keyFile }: SealThreadData): Promise<SealWorks> {
  const key = readKeyFile(keyFile);
  const lastSigned = lastSignedBeside(keyFile);
  const port = await openEngine(store).openEvidence();
  const stopped = new AbortController();
  const sealer = { port, key, lastSigned, randomBytes, holder: randomUUID(), signal: stopped.signal };
  let underWay: Promise<unknown> = Promise.resolve();
  return {
    seal: at => {
      const from = performance.now();
      const round = seal({ ...sealer, now: () => at + (performance.now() - from) });
      underWay = round.catch(() => undefined);
      return round;
    },
    close: async () => {
      stopped.abort();
      await underWay;
      await port.close();
    },
  };
}

if (parentPort !== null) await serveThread(parentPort, () => open(workerData));
