// npm run torture -- events [--engine postgres] [CHANGES] [KILLS] | smallest: kills workers and the subscriber while changes are written
// and one organization is purged. Every event must arrive at least once, in order for each organization, and repeated only with the
// same body. Events that were purged while they waited need not arrive.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { MAIN } from '../bench/parts/children.js';
import { freshDatabase, readArguments, withPostgres } from '../bench/parts/engine.js';
import { credit, install, read, withWriters } from '../bench/parts/fill-mirror.js';
import { keyPair } from '../bench/parts/registry.js';
import { countFaults, countMissing, listExpected, readReceived } from './events-received.js';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Engine } from '../../dist/src/store/engine.js' */
/** @import { Credit } from '../../dist/src/registry/object-models.js' */
/** @import { Received } from './events-received.js' */

const { engine: engineName, rest } = readArguments();
const [CHANGES = 10_000, KILLS = 30] = process.argv.includes('smallest') ? [400, 3] : rest.map(Number);
const ORGANIZATIONS = 8;
const PURGED = `organization-${ORGANIZATIONS}`;
const WORKERS = 2;
const ROUNDS = 20;
const HANGS_AFTER_MS = 900_000;
const RECEIVER = fileURLToPath(new URL('events-receiver.js', import.meta.url));
const NO_REGISTRY = 'http://127.0.0.1:9';

const folder = mkdtempSync(join(tmpdir(), 'torture-events-'));
try {
  if (engineName === 'sqlite') await torture({ DATA_DIR: join(folder, 'data') });
  else
    await withPostgres(async server => {
      await torture({ DATA_DIR: join(folder, 'data'), MIRROR_DATABASE_URL: await freshDatabase(server) });
    });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {Record<string, string>} place */
async function torture(place) {
  const url = place['MIRROR_DATABASE_URL'];
  const engine = openEngine({
    dataDir: place['DATA_DIR'] ?? '',
    diskReserveMb: 0,
    database: url === undefined ? null : { url, queryUrl: null, pool: null },
  });
  const keyFile = join(folder, 'app.pem');
  writeFileSync(keyFile, keyPair().privateKey);
  const env = {
    PATH: process.env['PATH'],
    ...place,
    REGISTRY_BASE_URL: NO_REGISTRY,
    REGISTRY_APP_ID: 'app-1',
    REGISTRY_PRIVATE_KEY_FILE: keyFile,
    OPERATIONS_PORT: '0',
    EVENTS_KEY_FILE: join(folder, 'events.key'),
    OUTBOUND_ALLOW: 'loopback',
    SYNC_SCHEDULE: '0 0 1 1 *',
    LOG_LEVEL: 'fatal',
  };
  const file = join(folder, 'received');
  const first = await startReceiver('0', file);
  let receiver = first.child;
  await engine.migrate(Date.now());
  run(env, [
    'subscriptions',
    'add',
    `http://127.0.0.1:${first.port}/`,
    '--events',
    'all',
    '--from',
    'beginning',
  ]);
  const workers = Array.from({ length: WORKERS }, () => startWorker(env));
  let isWritten = false;
  const writing = write(engine, env).finally(() => {
    isWritten = true;
  });
  let kills = 0;
  for (let turn = 0; kills < KILLS; turn += 1) {
    await sleep(200 + Math.random() * 1_500);
    const victim = turn % (WORKERS + 1);
    if (victim === WORKERS) {
      await kill(receiver);
      receiver = (await startReceiver(first.port, file)).child;
    } else {
      const worker = workers[victim];
      if (worker !== undefined) await kill(worker);
      workers[victim] = startWorker(env);
    }
    kills += 1;
  }
  await writing;
  if (!isWritten) throw new Error('expected all changes to be written');
  const expected = await listExpected(engine);
  const startedAt = performance.now();
  while (countMissing(expected, readReceived(file)) > 0) {
    if (performance.now() - startedAt > HANGS_AFTER_MS) break;
    await sleep(500);
  }
  await Promise.all([...workers.map(kill), kill(receiver)]);
  report(expected, readReceived(file), kills);
}

/**
 * Changes the credits of all organizations until CHANGES changes were written. Purges one organization halfway.
 * @param {Engine} engine
 * @param {Record<string, string | undefined>} env
 */
async function write(engine, env) {
  // Changes of the purged organization are not counted.
  const rows = Math.ceil(CHANGES / (ORGANIZATIONS - 1) / ROUNDS);
  await withWriters(engine, 1, async stage => {
    for (let n = 1; n <= ORGANIZATIONS; n += 1) await install(stage, `organization-${n}`);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let n = 1; n <= ORGANIZATIONS; n += 1) {
        if (round > ROUNDS / 2 && n === ORGANIZATIONS) continue;
        stage.clock.at += 1_000;
        await read(stage, `organization-${n}`, 'warehouse', rows, (owner, each) =>
          creditOf(owner, each, round),
        );
      }
      if (round === ROUNDS / 2)
        run(env, ['purge', '--organization', PURGED, '--confirm', PURGED, '--force', '--no-vacuum']);
      await sleep(Math.random() * 1_000);
    }
  });
}

/**
 * @param {string} owner
 * @param {number} n
 * @param {number} round
 * @returns {Credit}
 */
function creditOf(owner, n, round) {
  const item = credit(owner, n);
  const value = round + 1;
  const amount = { exact: String(value), value, micro: BigInt(value) * 1_000_000n, fault: null };
  return { ...item, amount, document: JSON.stringify({ ...item, amount: value, supply: null }) };
}

/**
 * @param {ReadonlySet<number>} expected
 * @param {readonly Received[]} received
 * @param {number} kills
 */
function report(expected, received, kills) {
  const { missing, late, twoBodies, repeated, erased } = countFaults(expected, received);
  const hasPurgeEvent = received.some(({ type }) => type === 'organization.purged');
  process.stdout.write(
    `${engineName}: ${expected.size} changes with events remain, ${received.length} requests, ${kills} kills: ${missing} missing, ` +
      `${late} out of order, ${twoBodies} with two bodies, ${repeated} repeated, ${erased} erased, event of the purge ${hasPurgeEvent ? 'received' : 'MISSING'}\n`,
  );
  const passed = missing === 0 && late === 0 && twoBodies === 0 && hasPurgeEvent && expected.size >= CHANGES;
  process.stdout.write(passed ? 'passed\n' : 'FAILED\n');
  process.exitCode = passed ? 0 : 1;
}

/** @param {Record<string, string | undefined>} env */
function startWorker(env) {
  return spawn(process.execPath, [MAIN, 'work'], { env, stdio: ['ignore', 'inherit', 'inherit'] });
}

/**
 * @param {string} port
 * @param {string} file
 */
async function startReceiver(port, file) {
  const child = spawn(process.execPath, [RECEIVER, port, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return { child, port: String(line).trim() };
}

/** @param {ChildProcess} child */
async function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null)
    throw new Error(`a process ended with ${child.exitCode}`);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/**
 * @param {Record<string, string | undefined>} env
 * @param {readonly string[]} argv
 */
function run(env, argv) {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...argv], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`);
}
