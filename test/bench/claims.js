// npm run bench -- claims [--engine postgres]: claims JOBS jobs (1,000) and settles them, one by one and four at a time, and prints
// the processor time of one job: that of this process, and that of the server of PostgreSQL.
import { readdirSync, readFileSync } from 'node:fs';
import { createInstallationJob } from '../../dist/src/inbox/job.js';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { withFolder } from './parts/children.js';
import { freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { createFigures } from './parts/figures.js';
import { chooseSize } from './parts/size.js';

/** @import { InboxPort } from '../../dist/src/inbox/port.js' */
/** @import { DatabaseSettings } from '../../dist/src/store/settings.js' */

const JOBS = chooseSize({ name: 'JOBS', usual: 1_000, smallest: 10 });
/** Jobs that are claimed before the measured ones, so that code is compiled and statements are planned. */
const WARM_UP_JOBS = chooseSize({ usual: 1_000, smallest: 10 });
const ENQUEUED_AT_ONCE = 500;
const LEASE_MS = 60_000;
const TICK_MS = 10;
const AT_MOST_MS = { sqlite: { atMost: 1 }, postgres: { atMost: 2.5 } };

const { engine: engineName } = readArguments();
const { show, demand, end } = createFigures();

if (engineName === 'sqlite') {
  await withFolder(folder => measure(folder, null, () => 0));
} else {
  await withPostgres(async server => {
    const url = await freshDatabase(server);
    const database = { url, queryUrl: null, pool: null };
    await withFolder(folder => measure(folder, database, () => serverMs(String(server.pid))));
  });
}
end();

/**
 * @param {string} dataDir
 * @param {DatabaseSettings | null} database
 * @param {() => number} readServerMs
 */
async function measure(dataDir, database, readServerMs) {
  const engine = openEngine({ dataDir, diskReserveMb: null, database });
  if (database === null) await engine.migrate(Date.now());
  const inbox = await engine.openInbox(Date.now);
  await enqueue(inbox, 'warm-up', WARM_UP_JOBS);
  await drain(inbox, 1);
  for (const slots of [1, 4]) {
    await enqueue(inbox, `slots-${slots}`, JOBS);
    const [before, serverBefore] = [process.cpuUsage(), readServerMs()];
    await drain(inbox, slots);
    const { user, system } = process.cpuUsage(before);
    const ms = ((user + system) / 1000 + readServerMs() - serverBefore) / JOBS;
    if (slots === 1)
      demand('a job claimed and settled alone: processor time', ms, 'ms', AT_MOST_MS[engineName]);
    else show(`a job, ${slots} at a time: processor time`, ms, 'ms');
  }
  await inbox.close();
}

/**
 * @param {InboxPort} inbox
 * @param {string} name
 * @param {number} count
 */
async function enqueue(inbox, name, count) {
  const jobs = Array.from({ length: count }, (_, n) =>
    createInstallationJob(`${name}-${n}`, `${name}-organization-${n}`, 'schedule'),
  );
  for (let first = 0; first < count; first += ENQUEUED_AT_ONCE)
    await inbox.enqueue(jobs.slice(first, first + ENQUEUED_AT_ONCE));
}

/**
 * Claims and settles jobs until none is left.
 * @param {InboxPort} inbox
 * @param {number} slots
 */
async function drain(inbox, slots) {
  for (;;) {
    const { jobs } = await inbox.claim({ parts: [{ part: 'data', slots }], leaseMs: LEASE_MS });
    if (jobs.length === 0) return;
    await inbox.settle(
      jobs.map(({ id, claim }) => ({ claim: { id, claim }, end: { act: 'done', outcome: 'read' } })),
    );
  }
}

/**
 * Returns the processor time of a server so far: of its first process, and of all processes that it has started.
 * @param {string} pid
 */
function serverMs(pid) {
  const own = readStat(pid);
  const children = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(readStat)
    .filter(stat => stat?.[1] === pid);
  const ticks = [...(own?.slice(11, 15) ?? []), ...children.flatMap(stat => stat?.slice(11, 13) ?? [])];
  return ticks.reduce((sum, each) => sum + Number(each), 0) * TICK_MS;
}

/**
 * Returns the fields of a process after its name; null if it has ended.
 * @param {string} pid
 */
function readStat(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? null;
  } catch {
    return null;
  }
}
