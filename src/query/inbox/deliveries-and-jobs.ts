import { AT_ONCE, type Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { IN_PART } from './ends.js';
import { count, largest } from '../sql.js';

/** The signed text of a delivery as it was sent; null once it is older than the retention, or was removed for a person's sake. */
export async function readSignedText(
  { db }: Reader,
  { stored_text_id: id, signed_text_sha256: sha256 }: Row,
): Promise<string | null> {
  const text = await db
    .selectFrom('inbox.signed_texts')
    .select('signed_data')
    .where('id', '=', Number(id))
    .where('sha256', '=', String(sha256))
    .executeTakeFirst();
  return text?.signed_data || null;
}

/** The newest deliveries that had asked for some syncs, without their texts. */
export async function readDeliveriesOf({ db, say }: Reader, syncs: readonly number[]) {
  const newest = await db
    .selectFrom('syncs')
    .select('newest_delivery_id')
    .where('id', 'in', say.each(syncs))
    .where('newest_delivery_id', 'is not', null)
    .execute();
  const ids = newest.map(({ newest_delivery_id: id }) => Number(id));
  return await db
    .selectFrom('inbox.deliveries')
    .select(['id', 'received_at', 'event', 'installation_id', 'signed_text_sha256'])
    .where('id', 'in', say.each(ids))
    .orderBy('id')
    .execute();
}

const MINUTE_MS = 60_000;

/** When the newest came: a row is counted on for a minute at most. */
export async function readNewestDelivery({ db }: Reader): Promise<string | null> {
  const deliveries = db.selectFrom('inbox.deliveries');
  const at = await largest(deliveries, 'received_at');
  if (at === null) return null;
  const counted = deliveries.where('received_at', '>=', new Date(Date.parse(at) - MINUTE_MS).toISOString());
  const again = await largest(counted, 'last_duplicate_at');
  return again !== null && again > at ? again : at;
}

/** The text that came most often since an instant; null where none came more than once. */
export async function findMostDuplicated({ db }: Reader, since: string) {
  const most = await db
    .selectFrom('inbox.deliveries')
    .select(eb => [
      eb.fn.max('id').as('newestId'),
      eb(eb.fn.countAll<number>(), '+', eb.fn.sum<number>('duplicates')).as('times'),
    ])
    .where('received_at', '>=', since)
    .groupBy('signed_text_sha256')
    .orderBy('times', 'desc')
    .orderBy('newestId', 'desc')
    .limit(1)
    .executeTakeFirst();
  return most !== undefined && most.times > 1 ? most : null;
}

/** Every signed text that is still there. */
export function readSignedTexts({ db }: Reader) {
  const asked = db.selectFrom('inbox.signed_texts').select(['id', 'sha256', 'signed_data']);
  return asked.where('signed_data', '<>', '').orderBy('id').stream(AT_ONCE);
}

/** Each state by an index of its own. Done ones are not counted: there may be a million. */
export async function readJobSums({ db }: Reader, now: string) {
  const all = db.selectFrom('inbox.jobs');
  const waiting = all.where('state', '=', 'waiting');
  const retrying = waiting.where('attempts', '>', 1).where('last_error', 'is not', null);
  const newest = await retrying
    .select(['id', 'last_error'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return {
    /** Due jobs may start now; planned ones later. */
    due: await count(waiting.where('run_at', '<=', now)),
    planned: await count(waiting.where('run_at', '>', now)),
    running: await count(all.where('state', '=', 'running')),
    paused: await count(all.where('state', '=', 'paused')),
    failed: await count(givenUp(db)),
    /** Failed while the registry did not answer; they come before all that is merely due. */
    triedFirst: await count(waiting.where('attempts', '>', 0).whereRef('run_at', '<=', 'created_at')),
    /** Failed more than once, and due again by themselves. */
    retrying: await count(retrying),
    /** Of the newest of them, and which it is. */
    retryingError: newest?.last_error ?? null,
    retryingJob: newest?.id ?? null,
  };
}

/** Failed, and nothing has read the same since. */
function givenUp(db: Reader['db']) {
  return db
    .selectFrom('inbox.jobs as j')
    .where('j.state', '=', 'failed')
    .where(eb =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('inbox.jobs as d')
            .select('d.id')
            .whereRef('d.installation_id', '=', 'j.installation_id')
            .whereRef('d.part', '=', 'j.part')
            .whereRef('d.started_at', '>', 'j.started_at')
            .where('d.state', '=', 'done')
            .where(of => of.or([of('d.kind', '=', 'installation'), of('d.kind', '=', of.ref('j.kind'))]))
            .where('d.outcome', 'not in', ['merged', 'overtaken'])
            .where('d.outcome', 'not like', `${IN_PART}%`),
        ),
      ),
    );
}
