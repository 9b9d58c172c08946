import { type Finding, ok } from '../../../engines/contract/finding.js';
import { type Health, readHealth } from '../../../query/inbox/health.js';
import { describeDamage } from '../../faults/damage.js';
import { type Place, reading } from '../../place/place.js';
import { stretch } from '../../../text/stretch.js';
import { describeCounts, ON_FINDINGS } from '../../shown/findings.js';
import { commandFor, describeDelay } from '../../shown/delayed.js';
import { checkRefusals, checkRepeats } from './receiver.js';

/** What can be seen without asking anybody: what the engine looks at, and what stands in the databases. */
export async function checkStore(place: Place, now: number): Promise<Finding[]> {
  const missing = place.engine.findMissing();
  if (missing !== null) return [describeMissing(missing)];
  const found: Finding[] = [];
  try {
    for await (const finding of place.engine.examine()) found.push(finding);
    return [...found, ...(await checkRows(place, now))];
  } catch (error) {
    return [...found, describeUnreadable(error)];
  }
}

async function checkRows(place: Place, now: number): Promise<Finding[]> {
  return await reading(place, async reader => [
    ...describeHealth(await readHealth(reader, now), now),
    ...(await checkRefusals(reader, now)),
    await checkRepeats(reader, now),
  ]);
}

function describeMissing(missing: string): Finding {
  return {
    check: 'databases',
    state: 'fail',
    found: `${missing} is not there`,
    todo: 'Start "carbon-mirror up", or "carbon-mirror migrate" to make empty ones.',
  };
}

const TODO: Readonly<Record<string, string>> = {
  earlier: 'All but history and deliveries is read anew from the registry.',
  away: 'Is the server that MIRROR_DATABASE_URL names up, and does this machine reach it?',
  refused: 'See who is named in MIRROR_DATABASE_URL, with which password, and what they may do.',
  missing: 'Make that database, or name another in MIRROR_DATABASE_URL.',
};

function describeUnreadable(error: unknown): Finding {
  const words = error instanceof Error ? describeDamage(error) : null;
  const [found = String(error), ...advice] = words ?? [];
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const todo = advice.join(' ') || TODO[code] || 'See "carbon-mirror migrate", or restore a backup.';
  return { check: 'databases', state: 'fail', found, todo };
}

function describeHealth(health: Health, now: number): Finding[] {
  return [
    describeDeliveries(health, now),
    describeWorker(health, now),
    ...describeDelayed(health, now),
    describeJobs(health),
    describeFreshness(health),
    ...describeDrift(health),
    ...describeFindings(health),
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
  const found = `the newest came ${stretch((now - Date.parse(newestDeliveryAt)) / 1000)} ago`;
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
  const since = seenAt === null ? '' : `${stretch((now - Date.parse(seenAt)) / 1000)} ago`;
  if (state === 'alive') return ok('worker', `its last sign of life came ${since}`);
  const found =
    state === 'gone' ? `the last sign of life came ${since}` : 'none has ever given a sign of life';
  return { check: 'worker', state: 'fail', found, todo: 'Start "carbon-mirror work" (or "up").' };
}

/** One finding for each thing that waits for too long, and where to look. */
function describeDelayed({ delayed }: Health, now: number): Finding[] {
  return delayed.map(each => ({
    check: 'backlog',
    state: 'fail',
    found: describeDelay(each, now),
    todo: `See ${commandFor(each)}.`,
  }));
}

function describeJobs({ jobs: { buried, parked, retrying, retryingError, retryingJob } }: Health): Finding {
  const failing = retrying === 0 ? '' : `, ${retrying} failed more than once: ${retryingError}`;
  const found = `${buried} buried, ${parked} parked${failing}`;
  if (buried > 0) {
    const todo = 'See "carbon-mirror jobs list --state buried", then "carbon-mirror jobs retry ID".';
    return { check: 'jobs', state: 'fail', found, todo };
  }
  const todo =
    'See "carbon-mirror jobs list --state parked": each waits for something to change, and tries again by itself.';
  if (parked > 0) return { check: 'jobs', state: 'warn', found, todo };
  if (retrying === 0) return ok('jobs', found);
  const again = `It is tried again by itself, ever later: see "carbon-mirror jobs show ${retryingJob}".`;
  return { check: 'jobs', state: 'warn', found, todo: again };
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

/** What the registry restated is told and no fault. */
function describeFindings({ findings: { countedAt, counts } }: Health): Finding[] {
  const wrong = describeCounts(counts.filter(({ finding }) => finding !== 'restatements'));
  if (wrong !== null) return [{ check: 'findings', state: 'warn', found: wrong, todo: ON_FINDINGS }];
  if (countedAt === null) return [];
  return [ok('findings', describeCounts(counts) ?? 'all adds up, and nothing is seen that cannot be right')];
}

function describeDrift({ drift }: Health): Finding[] {
  if (drift === 0) return [];
  const found = `${drift} changes since yesterday were announced by no webhook`;
  const todo = 'See the view "drift": webhooks are lost, or the webhook URL is not the right one.';
  return [{ check: 'drift', state: 'warn', found, todo }];
}
