import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { IN_PART } from '../../inbox/job.js';
import { columns, first, largest, only, plain, sql } from '../sql.js';

/** The signed text of a delivery as it was sent; null once it is older than the retention, or was removed for a person's sake. */
export async function readSignedText(
  reader: Reader,
  { stored_text_id: id, signed_text_sha256: sha256 }: Row,
): Promise<string | null> {
  const asked = sql`SELECT ${columns('inbox.signed_texts', ['signed_data'])} FROM inbox.signed_texts
    WHERE id = ${Number(id)} AND sha256 = ${String(sha256)}`;
  return (await first(reader, asked))?.signed_data || null;
}

const TOLD = columns('inbox.deliveries', [
  'id',
  'received_at',
  'event',
  'installation_id',
  'signed_text_sha256',
]);

/** The newest deliveries that had asked for some syncs, without their texts. */
export async function readDeliveriesOf({ all }: Reader, syncs: readonly number[]) {
  return await all(sql`SELECT ${TOLD} FROM inbox.deliveries
    WHERE id IN (SELECT newest_delivery_id FROM mirror.syncs WHERE id IN ${syncs}) ORDER BY id`);
}

const MINUTE_MS = 60_000;

/** When the newest came: a row is counted on for a minute at most. */
export async function readNewestDelivery(reader: Reader): Promise<string | null> {
  const at = await largest(reader, 'received_at', plain('inbox.deliveries'));
  if (at === null) return null;
  const since = new Date(Date.parse(at) - MINUTE_MS).toISOString();
  const again = await largest(
    reader,
    'last_duplicate_at',
    sql`inbox.deliveries WHERE received_at >= ${since}`,
  );
  return again !== null && again > at ? again : at;
}

/** The text that came most often since an instant; null where none came more than once. */
export async function findMostDuplicated(reader: Reader, since: string) {
  const most = sql<{ newest_id: number; times: number }>`SELECT max(id) AS newest_id,
      count(*) + sum(duplicates) AS times
    FROM inbox.deliveries WHERE received_at >= ${since} GROUP BY signed_text_sha256
    HAVING count(*) + sum(duplicates) > 1 ORDER BY times DESC, newest_id DESC LIMIT 1`;
  return await first(reader, most);
}

/** Every signed text that is still there. */
export function readSignedTexts({ stream }: Reader) {
  const wanted = columns('inbox.signed_texts', ['id', 'sha256', 'signed_data']);
  return stream(sql`SELECT ${wanted} FROM inbox.signed_texts WHERE signed_data <> '' ORDER BY id`);
}

export interface JobSums {
  /** Due jobs may start now; planned ones later. */
  readonly due: number;
  readonly planned: number;
  readonly running: number;
  readonly paused: number;
  /** And nothing has read the same since. */
  readonly failed: number;
  /** Failed while the registry did not answer; they come before all that is merely due. */
  readonly tried_first: number;
  /** Failed more than once, and due again by themselves. */
  readonly retrying: number;
  /** Of the newest of them, and which it is. */
  readonly retrying_error: string | null;
  readonly retrying_job: number | null;
}

const NUMBER = plain('SELECT count(*) FROM inbox.jobs AS j WHERE j.state =');
const RETRYING = plain(`FROM inbox.jobs WHERE state = 'waiting' AND attempts > 1 AND last_error IS NOT NULL`);
const READ_SINCE = sql`SELECT 1 FROM inbox.jobs AS d
  WHERE d.installation_id = j.installation_id AND d.part = j.part AND d.started_at > j.started_at
    AND d.state = 'done' AND d.kind IN ('installation', j.kind)
    AND d.outcome NOT IN ('merged', 'overtaken') AND d.outcome NOT LIKE ${`${IN_PART}%`}`;

/** Each state by an index of its own. Done ones are not counted: there may be a million. */
export async function readJobSums(reader: Reader, now: string) {
  return await only(
    reader,
    sql<JobSums>`SELECT (${NUMBER} 'waiting' AND run_at <= ${now}) AS due, (${NUMBER} 'waiting' AND run_at > ${now}) AS planned,
      (${NUMBER} 'running') AS running, (${NUMBER} 'paused') AS paused,
      (${NUMBER} 'failed' AND NOT EXISTS (${READ_SINCE})) AS failed,
      (${NUMBER} 'waiting' AND attempts > 0 AND run_at <= created_at) AS tried_first,
      (SELECT count(*) ${RETRYING}) AS retrying,
      (SELECT last_error ${RETRYING} ORDER BY id DESC LIMIT 1) AS retrying_error,
      (SELECT max(id) ${RETRYING}) AS retrying_job`,
  );
}
