import type { NewDeliveryRow, Verdict } from '../database/inbox-tables.js';
import { type Sqlite, write } from '../database/open.js';
import { parameter, statement } from '../database/statement.js';
import { createEnqueue, installationJob } from './enqueue.js';
import { queries, toInstant } from './queries.js';
import { createSignedTexts } from './signed-texts.js';

/** A POST whose signature was good. Everything here was signed, but for `outerMismatch`. */
export interface NewDelivery {
  /** Epoch ms at which the whole body had been read. */
  readonly receivedAt: number;
  readonly event: string | null;
  readonly installationId: string | null;
  readonly organizationId: string | null;
  /** The signed text as it was sent, and its SHA-256 in hex. */
  readonly signedData: string;
  readonly digest: string;
  /** Names of unsigned fields that contradicted the signed ones. */
  readonly outerMismatch: string | null;
  readonly verdict: Verdict;
  /** Null exactly where it was accepted. */
  readonly reason: string | null;
  readonly secretIndex: number;
}

export interface StoredDelivery {
  readonly id: number;
  /** The job that will start after the delivery arrived; null where it was set aside. */
  readonly jobId: number | null;
}

export type AcceptDeliveries = (deliveries: readonly NewDelivery[], now: number) => StoredDelivery[];

/**
 * Store deliveries in one transaction that is flushed to disk before it returns,
 * and make sure that for each accepted one a job of its installation starts after it arrived.
 */
export function createAcceptDeliveries(db: Sqlite): AcceptDeliveries {
  const enqueue = createEnqueue(db);
  const texts = createSignedTexts(db);
  const insertDelivery = statement<Required<Omit<NewDeliveryRow, 'id'>>, { id: number }>(
    db,
    queries
      .insertInto('deliveries')
      .values({
        received_at: parameter<string>('received_at'),
        event: parameter<string | null>('event'),
        installation_id: parameter<string | null>('installation_id'),
        digest: parameter<string>('digest'),
        text_id: parameter<number>('text_id'),
        outer_mismatch: parameter<string | null>('outer_mismatch'),
        verdict: parameter<Verdict>('verdict'),
        reason: parameter<string | null>('reason'),
        secret_index: parameter<number>('secret_index'),
        job_id: parameter<number | null>('job_id'),
      })
      .returning('id'),
  );
  function store(delivery: NewDelivery, jobId: number | null): StoredDelivery {
    const row = insertDelivery.get({
      received_at: toInstant(delivery.receivedAt),
      event: delivery.event,
      installation_id: delivery.installationId,
      digest: delivery.digest,
      text_id: texts.keep(delivery),
      outer_mismatch: delivery.outerMismatch,
      verdict: delivery.verdict,
      reason: delivery.reason,
      secret_index: delivery.secretIndex,
      job_id: jobId,
    });
    if (row === undefined) throw new Error('expected the id of a stored delivery, got none');
    return { id: row.id, jobId };
  }

  function storeAll(deliveries: readonly NewDelivery[], now: number): StoredDelivery[] {
    const jobs = new Map<string, number>();
    return deliveries.map(delivery => {
      const { verdict, installationId, organizationId } = delivery;
      if (verdict !== 'accepted' || installationId === null) return store(delivery, null);
      const job =
        jobs.get(installationId) ?? enqueue(installationJob(installationId, organizationId, 'delivery'), now);
      jobs.set(installationId, job);
      return store(delivery, job);
    });
  }

  return (deliveries, now) => {
    try {
      const stored = write(db, () => storeAll(deliveries, now));
      texts.remember();
      return stored;
    } catch (error) {
      texts.forget();
      throw error;
    }
  };
}
