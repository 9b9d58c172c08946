import type { NewDeliveryRow } from '../../contract/inbox-tables.js';
import { type Sqlite, write } from '../open.js';
import { parameter, statement } from '../statement.js';
import type { NewDelivery, StoredDelivery, Verdict } from '../../../inbox/delivery.js';
import { createEnqueue } from './enqueue.js';
import { installationJob } from '../../../inbox/job.js';
import { queries, toInstant } from './queries.js';
import { createRepeats } from './repeats.js';
import { createSignedTexts } from './signed-texts.js';

type NewRow = Required<Omit<NewDeliveryRow, 'id' | 'repeats' | 'last_received_at' | 'unread_at'>>;

export type AcceptDeliveries = (deliveries: readonly NewDelivery[], now: number) => StoredDelivery[];

/**
 * Store deliveries in one transaction that is flushed to disk before it returns,
 * and make sure that for each accepted one a job of its installation starts after it arrived.
 */
export function createAcceptDeliveries(db: Sqlite): AcceptDeliveries {
  const enqueue = createEnqueue(db);
  const texts = createSignedTexts(db);
  const repeats = createRepeats(db);
  const insertDelivery = statement<NewRow, { id: number }>(
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
  function insert(delivery: NewDelivery, jobId: number | null): number {
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
    const { digest, secretIndex, receivedAt } = delivery;
    repeats.remember(digest, { id: row.id, jobId, secretIndex, since: receivedAt });
    return row.id;
  }

  function store(delivery: NewDelivery, jobId: number | null): StoredDelivery {
    const folded = repeats.fold({ ...delivery, jobId });
    if (folded === null) return { id: insert(delivery, jobId), jobId, repeated: false };
    texts.seen(delivery);
    return { id: folded, jobId, repeated: true };
  }

  function storeAll(deliveries: readonly NewDelivery[], now: number): StoredDelivery[] {
    const asked = new Map<string, AskedFor>();
    return deliveries.map(delivery => {
      const { verdict, installationId, organizationId } = delivery;
      if (verdict !== 'accepted' || installationId === null) return store(delivery, null);
      const repeatsOnly = texts.isRepeat(delivery);
      const before = asked.get(installationId);
      if (before !== undefined && (repeatsOnly || !before.repeatsOnly)) return store(delivery, before.jobId);
      const job = { ...installationJob(installationId, organizationId, 'delivery'), repeatsOnly };
      const jobId = enqueue(job, now);
      asked.set(installationId, { jobId, repeatsOnly });
      return store(delivery, jobId);
    });
  }

  return (deliveries, now) => {
    try {
      const stored = write(db, () => storeAll(deliveries, now));
      for (const memory of [texts, repeats]) memory.committed();
      return stored;
    } catch (error) {
      for (const memory of [texts, repeats]) memory.rolledBack();
      throw error;
    }
  };
}

/** What this transaction has asked for already. */
interface AskedFor {
  readonly jobId: number;
  readonly repeatsOnly: boolean;
}
