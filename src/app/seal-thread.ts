/** The thread of the worker that appends new data of the mirror to the evidence log and signs checkpoints. */
import { randomBytes, randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { createCheckpointWriter, openLastSignedFile, readKeyFile } from '../evidence/key-file.js';
import { publishCheckpoint } from '../evidence/publish-checkpoint.js';
import { sealLog } from '../evidence/seal.js';
import { eraseLeaves } from '../evidence/erase-leaves.js';
import { openEngine } from '../store/open-engine.js';
import { serveThread } from '../thread.js';
import type { SealThreadApi, SealThreadData } from './sealing.js';
import { createTimestampPost } from './timestamp-authority.js';

/**
 * Opens the evidence log in the sealing thread. Returns the functions that the main thread calls: `seal` appends new data of the
 * mirror to the log and signs a checkpoint, `publish` publishes the newest checkpoint, and `close` closes the log.
 */
async function openSealApi({
  store,
  keyFile,
  mirrorMembers,
  evidenceCheckpointFile,
  evidenceTimestampUrl,
  outboundAllow,
}: SealThreadData): Promise<SealThreadApi> {
  readKeyFile(keyFile);
  const lastSigned = openLastSignedFile(keyFile);
  const port = await openEngine(store).openEvidence();
  if (port === null) throw new Error('expected an evidence.db that has been migrated, got none');
  const stopping = new AbortController();
  /** Reads the key at each use, because "evidence renew" may replace the file. */
  const key = () => readKeyFile(keyFile);
  const sealer = { port, key, lastSigned, randomBytes, holder: randomUUID(), signal: stopping.signal };
  const writeFile = evidenceCheckpointFile === null ? null : createCheckpointWriter(evidenceCheckpointFile);
  const post =
    evidenceTimestampUrl === null ? null : createTimestampPost(evidenceTimestampUrl, outboundAllow);
  let lastRun: Promise<unknown> = Promise.resolve();

  /** Erases the leaves about members of organizations from the evidence log, if members are no longer mirrored. */
  const eraseMembers = async (now: () => number): Promise<void> => {
    const members = { resource: 'members' };
    if (mirrorMembers || (await port.listUnerasedLeaves(members)).length === 0) return;
    await eraseLeaves(
      { ...sealer, now },
      'forget',
      async () => members,
      async () => undefined,
    );
  };

  return {
    seal: startedAt => {
      const startedMs = performance.now();
      const now = () => startedAt + (performance.now() - startedMs);
      const run = eraseMembers(now).then(() => sealLog({ ...sealer, now }));
      lastRun = run.catch(() => undefined);
      return run;
    },
    publish: async startedAt => {
      await publishCheckpoint({ port, now: () => startedAt, randomBytes, writeFile, post });
    },
    close: async () => {
      stopping.abort();
      await lastRun;
      await port.close();
    },
  };
}

if (parentPort !== null) await serveThread(parentPort, () => openSealApi(workerData));
