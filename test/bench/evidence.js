// npm run bench -- evidence [--engine postgres]: measures sealing 1,000,000 changes (ROWS sets another number) at once, sealing one more row,
// verifying all of them, and the size of the log. The floor of sealing and verifying hashes, authenticates and stores as many documents.
// On SQLite it first compares a first sync during which a sealer runs with one during which a thread only computes, so that both use two
// cores. That sealer runs every second, sixty times as often as in a worker.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../dist/src/app/log.js';
import { startSealing } from '../../dist/src/app/sealing.js';
import { openLastSignedFile, createKeyFile } from '../../dist/src/evidence/key-file.js';
import { sealLog } from '../../dist/src/evidence/seal.js';
import { verifyLogAgainstMirror } from '../../dist/src/evidence/verify-log.js';
import { createMask } from '../../dist/src/text/mask.js';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { withFolder } from './parts/children.js';
import { startComputingThread } from './parts/computing-thread.js';
import { withConnection, freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { best, createFigures } from './parts/figures.js';
import { install, read, retirement, withWriters } from './parts/fill-mirror.js';
import { measureSealFloor } from './parts/seal-floor.js';
import { chooseSize } from './parts/size.js';

/** @import { Settings } from './parts/engine.js' */
/** @typedef {{ mirror: number, evidence: number }} Bytes */

const ROWS = chooseSize({ name: 'ROWS', usual: 1_000_000, smallest: 300 });
const FIRST = Math.min(ROWS, 100_000);
const ROUNDS = chooseSize({ usual: 3, smallest: 1 });
const ROUND_MS = 1000;
const OWNER = 'organization-1';
const SEALED = { atMost: 5 };
/** To verify, the mirror is read too. */
const VERIFIED = { atMost: 8 };
/**
 * A measured first sync: alone, beside a thread that only computes (the floor), or beside the sealer (ours).
 * @typedef {'alone' | 'floor' | 'ours'} Side
 * @type {readonly Side[]}
 */
const SIDES = ['alone', 'floor', 'ours'];
const { engine: name } = readArguments();
const { show, demand, compare, end } = createFigures();

if (name === 'sqlite')
  await withFolder(async folder => {
    await measureFirst(folder);
    await measure(folder, { dataDir: folder, database: null }, () => sizes(folder));
  });
else
  await withPostgres(async server =>
    withFolder(async folder => {
      const url = await freshDatabase(server);
      await measure(folder, { dataDir: folder, database: { url, queryUrl: null, pool: null } }, () =>
        schemas(url),
      );
    }),
  );
end();

/** @param {string} folder */
async function measureFirst(folder) {
  /** @type {Record<Side, number[]>} */
  const times = { alone: [], floor: [], ours: [] };
  /** @type {Record<Side, number[]>} */
  const processor = { alone: [], floor: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const side of SIDES) {
      const taken = await firstSync(mkdtempSync(join(folder, 'first-')), side);
      times[side].push(taken.seconds * 1000);
      processor[side].push(taken.processor);
    }
  compare(`first sync of ${FIRST} rows beside a sealer / beside a thread that only computes`, times, {
    atMost: 1.1,
  });
  show('the same alone', best(times.alone) / 1000, 's');
  show('processor time of it, alone', best(processor.alone), 's');
  show('processor time of it with all that was sealed meanwhile', best(processor.ours), 's');
}

/**
 * @param {string} dataDir
 * @param {Side} side
 */
async function firstSync(dataDir, side) {
  const store = { dataDir, database: null, diskReserveMb: null };
  const engine = openEngine(store);
  let taken = { seconds: NaN, processor: NaN };
  await withWriters(engine, 1, async stage => {
    await install(stage, OWNER);
    await engine.prepare(['evidence'], stage.clock.at, () => undefined);
    const keyFile = join(dataDir, 'evidence.key');
    createKeyFile(keyFile, 'mirror.example/log');
    const log = createLog({ level: 'error', mask: createMask([]), now: Date.now, pretty: false });
    const tools = { log, now: () => stage.clock.at };
    const settings = {
      store,
      keyFile,
      mirrorMembers: true,
      evidenceCheckpointFile: null,
      evidenceTimestampUrl: null,
      outboundAllow: [],
    };
    const start = {
      alone: () => async () => undefined,
      floor: startComputingThread,
      ours: () => startSealing(tools, settings, ROUND_MS),
    };
    const stop = await start[side]();
    taken = await timeWork(() => read(stage, OWNER, 'retirements', FIRST, retirement));
    await stop();
  });
  return taken;
}

/**
 * @param {string} folder
 * @param {Settings} settings
 * @param {() => Bytes | Promise<Bytes>} bytes
 */
async function measure(folder, settings, bytes) {
  const engine = openEngine({ ...settings, diskReserveMb: null });
  const keyFile = join(folder, 'evidence.key');
  const key = createKeyFile(keyFile, 'mirror.example/log');
  const lastSigned = openLastSignedFile(keyFile);
  await withWriters(engine, 1, async stage => {
    await install(stage, OWNER);
    await read(stage, OWNER, 'retirements', ROWS, retirement);
    await engine.prepare(['evidence'], stage.clock.at, () => undefined);
    const port = await engine.openEvidence();
    if (port === null) throw new Error('expected a log of evidence');
    const now = () => stage.clock.at;
    const { signal } = new AbortController();
    const sealing = { port, key: () => key, lastSigned, now, randomBytes, holder: 'bench', signal };
    try {
      const sealed = await timeWork(() => sealLog(sealing));
      show('leaves', sealed.value ?? 0, '');
      const floor = measureSealFloor(join(folder, 'floor.db'), ROWS, n => retirement(OWNER, n).document);
      show(`${ROWS} changes sealed`, sealed.seconds, 's');
      show('processor time of it', sealed.processor, 's');
      show('processor time of the floor', floor.seal, 's');
      const sealTimes = sealed.processor / floor.seal;
      demand(`processor time of sealing ${ROWS} changes / floor, ${name}`, sealTimes, 'times', SEALED);
      stage.clock.at += 60_000;
      await read(stage, OWNER, 'retirements', ROWS + 1, retirement);
      const more = await timeWork(() => sealLog(sealing));
      show('one row more sealed', more.seconds, 's');
      const verified = await timeWork(() => verifyLogAgainstMirror({ port, key, lastSigned }));
      if (verified.value.faults.length > 0)
        throw new Error(JSON.stringify(verified.value.faults.slice(0, 3)));
      show(`verify of ${ROWS} changes against the log`, verified.seconds, 's');
      show('processor time of it', verified.processor, 's');
      show('processor time of the floor', floor.verify, 's');
      const verifyTimes = verified.processor / floor.verify;
      demand(`processor time of verifying ${ROWS} changes / floor, ${name}`, verifyTimes, 'times', VERIFIED);
    } finally {
      await port.close();
    }
  });
  const { mirror, evidence } = await bytes();
  show('bytes of evidence for each of the mirror', evidence / mirror, '');
  show('bytes of evidence for each change', evidence / ROWS, '');
}

/**
 * Runs work, and returns its result with the elapsed time and the processor time of this process.
 * @template Result
 * @param {() => Promise<Result>} work
 */
async function timeWork(work) {
  const [before, from] = [process.cpuUsage(), performance.now()];
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return { value, seconds: (performance.now() - from) / 1000, processor: (user + system) / 1e6 };
}

/** @param {string} folder */
function sizes(folder) {
  /** @type {(file: string) => string[]} */
  const of = file => [file, `${file}-wal`].map(each => join(folder, each)).filter(existsSync);
  /** @type {(file: string) => number} */
  const sum = file => of(file).reduce((bytes, each) => bytes + statSync(each).size, 0);
  return { mirror: sum('mirror.db'), evidence: sum('evidence.db') };
}

/** @param {string} url */
async function schemas(url) {
  const { rows } = await withConnection(url, client =>
    client.query(
      `SELECT schemaname AS name, sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)))::bigint AS bytes
       FROM pg_tables WHERE schemaname IN ('mirror', 'evidence') GROUP BY 1`,
    ),
  );
  const bytesOf = new Map(rows.map(each => [each.name, Number(each.bytes)]));
  return { mirror: bytesOf.get('mirror') ?? NaN, evidence: bytesOf.get('evidence') ?? NaN };
}
