import type { NewDeliveryRow, Verdict } from '../database/inbox-tables.js';
import { type Sqlite, write } from '../database/open.js';
import { parameter, statement } from '../database/statement.js';
import { createEnqueue, installationJob } from './enqueue.js';
import { queries, toInstant } from './queries.js';

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
  const insertDelivery = statement<Required<Omit<NewDeliveryRow, 'id'>>, { id: number }>(
    db,
    queries
      .insertInto('deliveries')
      .values({
        received_at: parameter<string>('received_at'),
        event: parameter<string | null>('event'),
        installation_id: parameter<string | null>('installation_id'),
        digest: parameter<string>('digest'),
        outer_mismatch: parameter<string | null>('outer_mismatch'),
        verdict: parameter<Verdict>('verdict'),
        reason: parameter<string | null>('reason'),
        secret_index: parameter<number>('secret_index'),
        job_id: parameter<number | null>('job_id'),
      })
      .returning('id'),
  );
  const insertText = statement<{ digest: string; receivedAt: string; signedData: string }>(
    db,
    queries
      .insertInto('signed_texts')
      .values({
        digest: parameter<string>('digest'),
        last_received_at: parameter<string>('receivedAt'),
        signed_data: parameter<string>('signedData'),
      })
      .onConflict(conflict =>
        conflict.column('digest').doUpdateSet({ last_received_at: parameter<string>('receivedAt') }),
      ),
  );

  return (deliveries, now) =>
    write(db, () => {
      const jobs = new Map<string, number>();

      function jobOf({ verdict, installationId, organizationId }: NewDelivery): number | null {
        if (verdict !== 'accepted' || installationId === null) return null;
        const known = jobs.get(installationId);
        if (known !== undefined) return known;
        const id = enqueue(installationJob(installationId, organizationId, 'delivery'), now);
        jobs.set(installationId, id);
        return id;
      }

      return deliveries.map(delivery => {
        const receivedAt = toInstant(delivery.receivedAt);
        const jobId = jobOf(delivery);
        insertText.run({ digest: delivery.digest, receivedAt, signedData: delivery.signedData });
        const row = insertDelivery.get({
          received_at: receivedAt,
          event: delivery.event,
          installation_id: delivery.installationId,
          digest: delivery.digest,
          outer_mismatch: delivery.outerMismatch,
          verdict: delivery.verdict,
          reason: delivery.reason,
          secret_index: delivery.secretIndex,
          job_id: jobId,
        });
        if (row === undefined) throw new Error('expected the id of a stored delivery, got none');
        return { id: row.id, jobId };
      });
    });
}
