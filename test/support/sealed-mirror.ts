import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readStoreSettings } from '../../src/app/config/read-settings.js';
import { openLastSignedFile, createKeyFile, readKeyFile } from '../../src/evidence/key-file.js';
import { openNote } from '../../src/evidence/signed-note.js';
import type { EvidencePort, Leaf } from '../../src/evidence/port.js';
import { sealLog } from '../../src/evidence/seal.js';
import { type Sealer } from '../../src/evidence/log-writer.js';
import { verifyLogAgainstMirror } from '../../src/evidence/verify-log.js';
import { openEngine } from '../../src/store/open-engine.js';
import { type TestEngine, MINUTE } from './mirror/open.js';
import { retirements } from './mirror/rows.js';
import { temporaryFolder } from './inbox.js';
import { openTablesOfFile, type Value } from './tables.js';

export const ALL = Number.MAX_SAFE_INTEGER;

/** Reads the leaves of a log between two positions; by default all of them. */
export async function readLeaves(
  port: Pick<EvidencePort, 'iterateLeaves'>,
  from = 0,
  to = ALL,
): Promise<Leaf[]> {
  const all: Leaf[] = [];
  for await (const batch of port.iterateLeaves(from, to)) all.push(...batch);
  return all;
}

export async function readCommitments(
  port: Pick<EvidencePort, 'iterateLeaves'>,
  to = ALL,
): Promise<Uint8Array[]> {
  return (await readLeaves(port, 0, to)).map(({ commitment }) => commitment);
}

/** Opens a mirror with three retirements and its evidence log, with functions to seal, verify and forge it. */
export async function openSealedMirror(engine: TestEngine) {
  const { stage, env } = await engine.library();
  const store = openEngine(readStoreSettings(env));
  await store.prepare(['inbox', 'mirror', 'evidence'], stage.clock.at, () => undefined);
  const port = await store.openEvidence();
  if (port === null) throw new Error('expected a log, got none');
  onTestFinished(() => port.close());
  const keyFile = join(temporaryFolder(), 'evidence.key');
  const key = createKeyFile(keyFile, 'mirror.example/log');
  const lastSigned = openLastSignedFile(keyFile);
  const sealer: Sealer = {
    port,
    key: () => readKeyFile(keyFile),
    lastSigned,
    now: () => stage.clock.at,
    randomBytes,
    holder: 'first',
    signal: new AbortController().signal,
  };
  const round = (overrides: Partial<Sealer> = {}) => {
    stage.clock.at += MINUTE;
    return sealLog({ ...sealer, ...overrides });
  };
  await stage.read('retirements', retirements(3));
  const newest = async () => openNote((await port.findCheckpoint(ALL))?.note ?? '', key);
  const verified = () => verifyLogAgainstMirror({ port, key: readKeyFile(keyFile), lastSigned });
  const isOnServer = env.MIRROR_DATABASE_URL !== undefined;
  const log = isOnServer ? stage.db : openTablesOfFile(join(env.DATA_DIR, 'evidence.db'));
  /** Changes the log as someone with write access could. `LEAVES` and `CHECKPOINTS` name its tables. */
  const forge = (sql: string, ...values: Value[]) =>
    log.change(
      sql.replace(/LEAVES|CHECKPOINTS/, name => `${isOnServer ? 'evidence.' : ''}${name.toLowerCase()}`),
      ...values,
    );
  return { stage, env, port, round, key, keyFile, lastSigned, newest, sealer, verified, forge };
}
