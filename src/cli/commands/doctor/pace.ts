import type { Reader } from '../../../engines/contract/reader.js';
import { type Finding, ok } from '../../../engines/contract/finding.js';
import { readDue } from '../../../query/inbox/backlog.js';
import { countAlive } from '../../../query/inbox/signs.js';
import { readRound } from '../../../query/reads/round.js';
import { describeRound, isTooLong, ON_LONG_ROUNDS } from '../../shown/round.js';
import { stretch } from '../../../text/stretch.js';
import { withThousands } from '../../../text/thousands.js';
import { type Place, reading } from '../../place/place.js';

const MINUTE_S = 60;

/** The bound of calls is a process's own: what a registry sees of a fleet is their sum. */
export async function checkPace(place: Place, requestsPerSecond: number, now: number): Promise<Finding[]> {
  const workers = await countWorkers(place, now);
  if (workers < 2) return [];
  const sum = together(workers, requestsPerSecond);
  return [
    ok(
      'pace',
      `REGISTRY_REQUESTS_PER_SECOND=${requestsPerSecond} is for each process: ${workers} workers live, which may ask ${sum} times a second together`,
    ),
  ];
}

/** How much is to be looked at now, and how long that takes at the pace that is set. */
export async function checkDue(
  place: Place,
  requestsPerSecond: number | null,
  now: number,
): Promise<Finding[]> {
  const due = await ask(place, reader => readDue(reader, now));
  if (due === null || due.installations === 0) return [];
  const toGo = `catching up: ${withThousands(due.installations)} of ${withThousands(due.known)} to go`;
  if (due.callsEach === null || requestsPerSecond === null) return [ok('due', toGo)];
  const rate = together(Math.max(1, await countWorkers(place, now)), requestsPerSecond);
  const seconds = (due.installations * due.callsEach) / rate;
  const found = `${toGo}, about ${stretch(seconds)} at ${rate} calls a second`;
  const todo =
    'It goes on by itself; a higher REGISTRY_REQUESTS_PER_SECOND or one more worker makes it faster.';
  return [{ check: 'due', state: seconds > MINUTE_S ? 'warn' : 'ok', found, todo }];
}

/** What one round of the schedule takes, and whether there is time for it. */
export async function checkRound(
  place: Place,
  requestsPerSecond: number | null,
  now: number,
): Promise<Finding[]> {
  const round = await ask(place, readRound);
  if (round === null) return [];
  const workers = Math.max(1, await countWorkers(place, now));
  const rate = requestsPerSecond === null ? null : together(workers, requestsPerSecond);
  const found = describeRound(round, rate);
  if (rate === null || !isTooLong(round, rate)) return [ok('round', found)];
  return [{ check: 'round', state: 'warn', found, todo: ON_LONG_ROUNDS }];
}

function together(workers: number, requestsPerSecond: number): number {
  return Number((workers * requestsPerSecond).toFixed(3));
}

async function countWorkers(place: Place, now: number): Promise<number> {
  return (await ask(place, reader => countAlive(reader, 'work', now))) ?? 0;
}

/** Where there is no mirror to open, other checks say so. */
async function ask<T>(place: Place, work: (reader: Reader) => Promise<T>): Promise<T | null> {
  try {
    return await reading(place, work);
  } catch {
    return null;
  }
}
