import type { Reader } from '../../store/contract/reader.js';
import { readLife } from '../inbox/heartbeats.js';
import { only, plain } from '../sql.js';

const NEWEST = plain<
  Record<string, string | number | null>
>(`SELECT (SELECT max(last) FROM mirror.version_counter) AS a, (SELECT max(id) FROM mirror.syncs) AS b,
  (SELECT max(finished_at) FROM mirror.syncs) AS c, (SELECT max(id) FROM inbox.deliveries) AS d,
  (SELECT max(id) FROM inbox.jobs) AS e, (SELECT max(finished_at) FROM inbox.jobs WHERE state = 'done') AS f,
  (SELECT max(finished_at) FROM inbox.jobs WHERE state = 'failed') AS g,
  (SELECT max(started_at) FROM inbox.jobs WHERE state = 'running') AS h`);

/** Says something else once a row, a read, a delivery or a job has changed, or nobody works any more; not with each heartbeat. */
export async function readPulse(reader: Reader, now: number): Promise<string> {
  const newest = Object.values(await only(reader, NEWEST));
  const lives = [await readLife(reader, 'work', now), await readLife(reader, 'receive', now)];
  return [...newest.map(each => each ?? ''), ...lives.map(({ state }) => state)].join(' ');
}
