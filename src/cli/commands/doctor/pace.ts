import { type Finding, ok } from '../../../engines/contract/finding.js';
import { countAlive } from '../../../query/inbox/signs.js';
import { type Place, reading } from '../../place/place.js';

/** The bound of calls is a process's own: what a registry sees of a fleet is their sum. */
export async function checkPace(place: Place, requestsPerSecond: number, now: number): Promise<Finding[]> {
  const workers = await countWorkers(place, now);
  if (workers < 2) return [];
  const sum = Number((workers * requestsPerSecond).toFixed(3));
  return [
    ok(
      'pace',
      `REGISTRY_REQUESTS_PER_SECOND=${requestsPerSecond} is for each process: ${workers} workers live, which may ask ${sum} times a second together`,
    ),
  ];
}

/** Where there is no mirror to open, other checks say so. */
async function countWorkers(place: Place, now: number): Promise<number> {
  try {
    return await reading(place, reader => countAlive(reader, 'work', now));
  } catch {
    return 0;
  }
}
