import { sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import type { Row, Tables } from '../../store/contract/tables.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { readFirst, readOne } from '../read-one.js';
import { instantBefore, MINUTE_MS } from './instant-before.js';

/** Shown in place of a signed text that is no longer stored. */
export const SIGNED_TEXT_REMOVED =
  'The signed text was removed: it is older than RETENTION_DAYS, or it named a person who was forgotten.';

/** Reads the signed text of a delivery as it was sent. Returns null if it was removed. */
export async function readSignedText(
  reader: Reader,
  { stored_text_id: id, signed_text_sha256: sha256 }: Row,
): Promise<string | null> {
  const text = await readFirst(
    reader,
    queryBuilder
      .selectFrom('inbox.signed_texts')
      .select('signed_data')
      .where('id', '=', Number(id))
      .where('sha256', '=', String(sha256)),
  );
  return text?.signed_data || null;
}

/** Decodes the base64 data of a delivery. Returns the base64 data if the bytes are not text. */
export function decodeSignedText(signedData: string): string {
  const text = Buffer.from(signedData, 'base64').toString();
  return text.includes('\uFFFD') || text === '' ? signedData : text;
}

/** How many deliveries one query reads while they are followed. */
const FOLLOWED_AT_ONCE = 100;

export type ArrivedDelivery = Awaited<ReturnType<typeof readDeliveriesAfter>>[number];

/** Reads the oldest deliveries with a number above `afterId`, with the names of their organizations and the signed texts. */
export async function readDeliveriesAfter({ all }: Reader, afterId: number) {
  return await all(
    queryBuilder
      .selectFrom('inbox.deliveries as delivery')
      .leftJoin('mirror.installations as installation', 'installation.id', 'delivery.installation_id')
      .leftJoin('mirror.organizations as owner', 'owner.id', 'installation.organization_id')
      .leftJoin('inbox.signed_texts as signed', join =>
        join
          .onRef('signed.id', '=', 'delivery.stored_text_id')
          .onRef('signed.sha256', '=', 'delivery.signed_text_sha256'),
      )
      .select([
        'delivery.id',
        'delivery.received_at',
        'delivery.event',
        'delivery.installation_id',
        'installation.organization_id',
        'owner.full_name as organization_name',
        'delivery.verdict',
        'delivery.ignored_reason',
        'signed.signed_data',
      ])
      .where('delivery.id', '>', afterId)
      .orderBy('delivery.id')
      .limit(FOLLOWED_AT_ONCE),
  );
}

/** Returns the number of the newest delivery, or 0 if there is none. */
export async function readNewestDeliveryId(reader: Reader): Promise<number> {
  const newest = queryBuilder.selectFrom('inbox.deliveries').select('id').orderBy('id', 'desc');
  return (await readFirst(reader, newest))?.id ?? 0;
}

/**
 * Reads when the newest delivery or duplicate arrived; null before the first. A delivery counts its duplicates for at most a
 * minute, so that only the last minute of deliveries is searched.
 */
export async function readNewestArrival(reader: Reader): Promise<string | null> {
  const deliveries = queryBuilder.selectFrom('inbox.deliveries');
  const { receivedAt } = await readOne(
    reader,
    deliveries.select(eb => eb.fn.max<string | null>('received_at').as('receivedAt')),
  );
  if (receivedAt === null) return null;
  const { duplicateAt } = await readOne(
    reader,
    deliveries
      .select(eb => eb.fn.max<string | null>('last_duplicate_at').as('duplicateAt'))
      .where('received_at', '>=', instantBefore(Date.parse(receivedAt), MINUTE_MS)),
  );
  return duplicateAt !== null && duplicateAt > receivedAt ? duplicateAt : receivedAt;
}

/** Finds the signed text that arrived most often since an instant, with the newest delivery of it. Null if none arrived twice. */
export async function findMostDuplicated(reader: Reader, since: string) {
  const arrivals = sql<number>`count(*) + sum(duplicates)`;
  return await readFirst(
    reader,
    queryBuilder
      .selectFrom('inbox.deliveries')
      .select(eb => [eb.fn.max('id').as('newest_id'), arrivals.as('times')])
      .where('received_at', '>=', since)
      .groupBy('signed_text_sha256')
      .having(arrivals, '>', 1)
      .orderBy('times', 'desc')
      .orderBy('newest_id', 'desc'),
  );
}

/** Reads every signed text that is still stored. */
export function readSignedTexts({ stream }: Reader) {
  return stream(
    queryBuilder
      .selectFrom('inbox.signed_texts')
      .select(['id', 'sha256', 'signed_data'])
      .where('signed_data', '<>', '')
      .orderBy('id'),
  );
}

const MAX_SYNCS = 200;

/**
 * Reads the syncs of a job: for each list the last sync, with the changes of the earlier ones added. Appends the organization's
 * next sync of certificates, which another job makes.
 */
export async function readSyncsOfJob({ all }: Reader, organizationId: string, jobId: number) {
  const syncs = queryBuilder
    .selectFrom('mirror.syncs')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id');
  const ownSyncs = await all(syncs.where('job_id', '=', jobId).limit(MAX_SYNCS));
  const last = ownSyncs.at(-1);
  if (last === undefined) return [];
  const byResource = new Map<string, Tables['syncs']>();
  for (const sync of ownSyncs)
    byResource.set(sync.resource, addEarlierChanges(sync, byResource.get(sync.resource)));
  const certificates = syncs.where('resource', '=', 'certificates').where('id', '>', last.id).limit(1);
  return [...byResource.values(), ...(await all(certificates))];
}

/**
 * Adds the counts of changed rows of `earlier`, a previous sync of the same list, to those of `sync`. Returns `sync` unchanged if there is
 * no previous one.
 */
function addEarlierChanges(sync: Tables['syncs'], earlier: Tables['syncs'] | undefined): Tables['syncs'] {
  if (earlier === undefined) return sync;
  return {
    ...sync,
    rows_added: sync.rows_added + earlier.rows_added,
    rows_changed: sync.rows_changed + earlier.rows_changed,
    rows_removed: sync.rows_removed + earlier.rows_removed,
  };
}

/** The number of records in a table that only grows, and the newest of them. */
interface RecordCount {
  readonly count: number;
  readonly id: number;
  readonly at: string | null;
}

/** Counts of records that no later read of the registry would bring back. */
export interface StoredRecordCounts {
  readonly deliveries: RecordCount;
  readonly syncs: RecordCount;
}

/** Counts the stored deliveries and syncs. With earlier counts in `after`, counts only the records that were added since. */
export async function countStoredRecords(
  reader: Reader,
  after: StoredRecordCounts | null = null,
): Promise<StoredRecordCounts> {
  const afterDelivery = after?.deliveries.id ?? 0;
  const afterSync = after?.syncs.id ?? 0;
  return {
    deliveries: await readOne(
      reader,
      queryBuilder
        .selectFrom('inbox.deliveries')
        .select(eb => [
          eb.fn.countAll<number>().as('count'),
          sql<number>`coalesce(max(id), ${afterDelivery})`.as('id'),
          eb.fn.max<string | null>('received_at').as('at'),
        ])
        .where('id', '>', afterDelivery),
    ),
    syncs: await readOne(
      reader,
      queryBuilder
        .selectFrom('mirror.syncs')
        .select(eb => [
          eb.fn.countAll<number>().as('count'),
          sql<number>`coalesce(max(id), ${afterSync})`.as('id'),
          eb.fn.max<string | null>('started_at').as('at'),
        ])
        .where('id', '>', afterSync),
    ),
  };
}
