import { existsSync } from 'node:fs';
import { readDiskReserve } from '../../../config/config.js';
import { describeDisk, lookAtDisk } from '../../../engines/sqlite/disk.js';
import type { Sqlite } from '../../../engines/sqlite/open.js';
import { openBoth } from '../../../engines/sqlite/open-both.js';
import { readerOf } from '../../../engines/sqlite/reader.js';
import { type Health, readHealth } from '../../../query/health.js';
import { describeDamage } from '../../damage.js';
import { findOpenFile } from '../../exposures.js';
import { checkLogs } from './logs.js';
import { checkRefusals, checkRepeats } from './receiver.js';
import { type Finding, ok } from './finding.js';
import type { Place } from '../../place.js';
import { ago } from '../../words.js';

/** Of the reserve: with less above it, reads are soon to pause. */
const LITTLE_FREE = 2;

/** What can be seen without asking anybody: disk, databases and what stands in them. */
export async function checkFiles(place: Place, now: number): Promise<Finding[]> {
  if (!existsSync(place.mirrorFile) || !existsSync(place.inboxFile)) {
    return [
      {
        check: 'databases',
        state: 'fail',
        found: `${existsSync(place.mirrorFile) ? place.inboxFile : place.mirrorFile} is not there`,
        todo: 'Start "carbon-mirror up", or "carbon-mirror migrate" to make empty ones.',
      },
    ];
  }
  return [checkDisk(place), ...(await checkDatabases(place, now))];
}

function checkDisk({ folder, env }: Place): Finding {
  const disk = lookAtDisk(folder, readDiskReserve(env));
  const found = `${disk.paused ? 'reads and certificates pause: ' : ''}${describeDisk(disk)}`;
  const todo =
    'Free some, or move DATA_DIR. Below the reserve nothing is read, below a tenth of it /readyz fails; deliveries are stored.';
  if (disk.paused) return { check: 'disk', state: 'fail', found, todo };
  const isLittle = disk.freeBytes < disk.reserveBytes * LITTLE_FREE;
  return isLittle ? { check: 'disk', state: 'warn', found, todo } : ok('disk', found);
}

async function checkDatabases(place: Place, now: number): Promise<Finding[]> {
  try {
    const db = openBoth(place);
    try {
      const reader = readerOf(db);
      return [
        ...['main', 'inbox'].map(name => checkWhole(db, name)),
        ...checkLogs(db, place),
        ...[place.mirrorFile, place.inboxFile].flatMap(checkMode),
        ...describeHealth(await readHealth(reader, now), now),
        ...(await checkRefusals(reader, place.env, now)),
        await checkRepeats(reader, now),
      ];
    } finally {
      db.close();
    }
  } catch (error) {
    return [describeUnreadable(error)];
  }
}

function describeUnreadable(error: unknown): Finding {
  const words = error instanceof Error ? describeDamage(error) : null;
  const [found = String(error), ...advice] = words ?? [];
  const todo = advice.join(' ') || 'See "carbon-mirror migrate", or restore a backup.';
  return { check: 'databases', state: 'fail', found, todo };
}

function checkWhole(db: Sqlite, schema: string): Finding {
  const file = schema === 'main' ? 'mirror.db' : 'inbox.db';
  const answer = String(db.pragma(`${schema}.quick_check(1)`, { simple: true }));
  const version = String(db.pragma(`${schema}.user_version`, { simple: true }));
  if (answer === 'ok') return ok('databases', `${file}: whole, schema ${version}`);
  return {
    check: 'databases',
    state: 'fail',
    found: `${file}: ${answer}`,
    todo: 'The mirror can be read anew from the registry; the inbox and the history come from a backup.',
  };
}

function checkMode(file: string): Finding[] {
  return findOpenFile(file, file).map(open => ({ check: 'databases', state: 'warn', ...open }));
}

function describeHealth(health: Health, now: number): Finding[] {
  return [
    describeDeliveries(health, now),
    describeWorker(health, now),
    describeJobs(health),
    describeFreshness(health),
    ...describeDrift(health),
  ];
}

function describeDeliveries(
  { newestDeliveryAt, activeInstallations, setAside }: Health,
  now: number,
): Finding {
  if (newestDeliveryAt === null) {
    return {
      check: 'deliveries',
      state: activeInstallations > 0 ? 'warn' : 'ok',
      found: 'no webhook ever arrived',
      todo: 'Is the webhook URL of the app set at the registry, and does it reach "carbon-mirror receive"?',
    };
  }
  const found = `the newest came ${ago((now - Date.parse(newestDeliveryAt)) / 1000)} ago`;
  if (setAside === 0) return ok('deliveries', found);
  const todo = 'See "carbon-mirror deliveries list --set-aside" for the reasons.';
  return {
    check: 'deliveries',
    state: 'warn',
    found: `${found}; ${setAside} set aside since yesterday`,
    todo,
  };
}

function describeWorker({ worker: { state, seenAt } }: Health, now: number): Finding {
  const since = seenAt === null ? '' : `${ago((now - Date.parse(seenAt)) / 1000)} ago`;
  if (state === 'alive') return ok('worker', `its last sign of life came ${since}`);
  const found =
    state === 'gone' ? `the last sign of life came ${since}` : 'none has ever given a sign of life';
  return { check: 'worker', state: 'fail', found, todo: 'Start "carbon-mirror work" (or "up").' };
}

function describeJobs({ buried, parked }: Health): Finding {
  const found = `${buried} buried, ${parked} parked`;
  if (buried > 0) {
    const todo = 'See "carbon-mirror jobs list --state buried", then "carbon-mirror jobs retry ID".';
    return { check: 'jobs', state: 'fail', found, todo };
  }
  const todo =
    'See "carbon-mirror jobs list --state parked": each waits for something to change, and tries again by itself.';
  return parked > 0 ? { check: 'jobs', state: 'warn', found, todo } : ok('jobs', found);
}

/** What is behind was announced, and nobody has looked: that is a fault of ours. */
function describeFreshness({ troubled }: Health): Finding {
  const behind = troubled.filter(({ state }) => state === 'behind');
  const [first] = behind.length > 0 ? behind : troubled;
  if (first === undefined) return ok('freshness', 'every resource that may be read is current');
  const count = behind.length > 0 ? `${behind.length} behind` : `${troubled.length} not current`;
  const found = `resources: ${count}, such as ${first.name}, ${first.resource}: ${first.state}`;
  const state = behind.length > 0 ? 'fail' : 'warn';
  return { check: 'freshness', state, found, todo: 'See "carbon-mirror status" for the reasons.' };
}

function describeDrift({ drift }: Health): Finding[] {
  if (drift === 0) return [];
  const found = `${drift} changes since yesterday were announced by no webhook`;
  const todo = 'See the view "drift": webhooks are lost, or the webhook URL is not the right one.';
  return [{ check: 'drift', state: 'warn', found, todo }];
}
