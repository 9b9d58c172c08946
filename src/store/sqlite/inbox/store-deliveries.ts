import {
  toStoreFailure,
  type NewDelivery,
  type StoredDelivery,
  type StoreResult,
} from '../../../inbox/delivery.js';
import { createInstallationJob } from '../../../inbox/job.js';
import { formatInstant } from '../../../resources/sql-values.js';
import type { Tables } from '../../contract/tables.js';
import { type Params, prepared } from '../../sql/prepared.js';
import { type Sqlite, runInTransaction } from '../open-database.js';
import { prepareOn } from '../database.js';
import { createEnqueue } from './enqueue.js';
import { createSignedTextCache, type ReceivedDelivery } from './signed-texts.js';

type NewRow = Omit<
  Tables['inbox.deliveries'],
  'id' | 'duplicates' | 'last_duplicate_at' | 'unread_duplicate_at'
>;

/** A job that this transaction has already requested. */
interface RequestedJob {
  readonly jobId: number;
  readonly onlyDuplicates: boolean;
}

/** Stores deliveries and returns one result for each. */
export type StoreDeliveries = (deliveries: readonly NewDelivery[], now: number) => StoreResult[];

/**
 * Creates a function that stores deliveries in one transaction. If that fails, it stores each delivery in a transaction of its
 * own, so that a bad row does not affect the others. If the database is locked, all deliveries fail at once, because each retry
 * would wait for the lock again.
 */
export function createStoreDeliveries(db: Sqlite): StoreDeliveries {
  const storeTogether = createStoreTogether(db);
  return function store(deliveries, now): StoreResult[] {
    try {
      return storeTogether(deliveries, now);
    } catch (error) {
      const failure = toStoreFailure(error);
      if (deliveries.length === 1 || failure.code.startsWith('SQLITE_BUSY')) {
        return deliveries.map(() => ({ failure }));
      }
      return deliveries.flatMap(delivery => store([delivery], now));
    }
  };
}

const INSERT = prepared(({ db }, params: Params<NewRow>) =>
  db
    .insertInto('inbox.deliveries')
    .values({
      received_at: params.received_at,
      event: params.event,
      installation_id: params.installation_id,
      signed_text_sha256: params.signed_text_sha256,
      stored_text_id: params.stored_text_id,
      contradicted_fields: params.contradicted_fields,
      verdict: params.verdict,
      ignored_reason: params.ignored_reason,
      secret_index: params.secret_index,
      job_id: params.job_id,
    })
    .returning('id'),
);

/** Creates a function that stores deliveries in one transaction. When the function returns, the transaction is flushed to disk. */
function createStoreTogether(
  db: Sqlite,
): (deliveries: readonly NewDelivery[], now: number) => StoredDelivery[] {
  const enqueue = createEnqueue(db);
  const texts = createSignedTextCache(db);
  const insertDelivery = prepareOn(db, INSERT);

  /**
   * Inserts the row of a delivery, and its signed text unless that is already stored. Returns the id of the row; `jobId` is null
   * if the delivery requests no job.
   */
  function insertRow(delivery: ReceivedDelivery, jobId: number | null): number {
    const textId = texts.storeText(delivery);
    const row = insertDelivery.get({
      received_at: formatInstant(delivery.receivedAt),
      event: delivery.event,
      installation_id: delivery.installationId,
      signed_text_sha256: delivery.sha256,
      stored_text_id: textId,
      contradicted_fields: delivery.contradictedFields,
      verdict: delivery.verdict,
      ignored_reason: delivery.reason,
      secret_index: delivery.secretIndex,
      job_id: jobId,
    });
    if (row === undefined) throw new Error('expected the id of a stored delivery, got none');
    texts.cacheDelivery(delivery, textId, row.id, jobId);
    return row.id;
  }

  /**
   * Stores one delivery. If the delivery is a duplicate that can be counted in the row of an earlier delivery, increases the count of that
   * row. Otherwise inserts a row. `jobId` is null if the delivery requests no job.
   */
  function storeOne(delivery: ReceivedDelivery, jobId: number | null): StoredDelivery {
    const countedId = texts.countDuplicate(delivery, jobId);
    return { id: countedId ?? insertRow(delivery, jobId), jobId, isDuplicate: countedId !== null };
  }

  /** Stores deliveries and enqueues the jobs that they request. Does not open a transaction: call it inside `runInTransaction`. */
  function storeAll(deliveries: readonly NewDelivery[], now: number): StoredDelivery[] {
    const requestedJobs = new Map<string, RequestedJob>();
    return deliveries.map(each => {
      const delivery = { ...each, receivedAt: now - each.receivedMsAgo };
      const { verdict, installationId, organizationId } = delivery;
      if (verdict !== 'accepted' || installationId === null) return storeOne(delivery, null);
      const onlyDuplicates = texts.isDuplicate(delivery);
      const requested = requestedJobs.get(installationId);
      if (requested !== undefined && (onlyDuplicates || !requested.onlyDuplicates))
        return storeOne(delivery, requested.jobId);
      const job = { ...createInstallationJob(installationId, organizationId, 'delivery'), onlyDuplicates };
      const jobId = enqueue(job, now);
      requestedJobs.set(installationId, { jobId, onlyDuplicates });
      return storeOne(delivery, jobId);
    });
  }

  return (deliveries, now) => {
    try {
      const stored = runInTransaction(db, () => storeAll(deliveries, now));
      texts.commit();
      return stored;
    } catch (error) {
      texts.rollBack();
      throw error;
    }
  };
}
