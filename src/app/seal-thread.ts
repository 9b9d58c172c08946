import { randomBytes, randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { lastSignedBeside, readKeyFile } from '../evidence/key-file.js';
import { seal } from '../evidence/seal.js';
import { erase } from '../evidence/write.js';
import { openEngine } from '../store/open.js';
import { serveThread } from '../thread.js';
import type { SealThreadData, SealThreadApi } from './sealing.js';

async function open({ store, keyFile, mirrorMembers }: SealThreadData): Promise<SealThreadApi> {
  readKeyFile(keyFile);
  const lastSigned = lastSignedBeside(keyFile);
  const port = await openEngine(store).openEvidence();
  if (port === null) throw new Error('expected an evidence.db that has been migrated, got none');
  const stopped = new AbortController();
  const sealer = { port, lastSigned, randomBytes, holder: randomUUID(), signal: stopped.signal };
  let underWay: Promise<unknown> = Promise.resolve();
  /** Where none are held any more their rows are gone before anything is sealed. */
  const forgetMembers = async (now: () => number): Promise<void> => {
    const members = { resource: 'members' };
    if (mirrorMembers || (await port.salted(members)) === 0) return;
    await erase(
      { ...sealer, now },
      'forget',
      async () => members,
      async () => undefined,
    );
  };
  return {
    seal: at => {
      const from = performance.now();
      const now = () => at + (performance.now() - from);
      /** Read once the round has begun: until then "evidence renew" may put another in its place. */
      const sealing = { ...sealer, now, key: () => readKeyFile(keyFile) };
      const round = forgetMembers(now).then(() => seal(sealing));
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
