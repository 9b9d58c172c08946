import { sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { queryBuilder } from '../../store/sql/builder.js';
import type { Caveat } from '../answer/caveat.js';
import { readOne } from '../read-one.js';
import { readNewestArrival } from './deliveries.js';

export type RejectedSum = Awaited<ReturnType<typeof sumRejected>>[number];

/** Adds up the webhooks that were rejected since an instant, by reason. The most frequent come first. */
export async function sumRejected({ all }: Reader, since: string) {
  const rejected = sql<number | bigint>`sum(rejected)`;
  const sums = await all(
    queryBuilder
      .selectFrom('inbox.rejected_webhooks')
      .select(eb => [
        'reason',
        'status',
        'header_prefix',
        rejected.as('rejected'),
        /** The minute of the first of them. */
        eb.fn.min('minute').as('since'),
        eb.fn.max('newest_at').as('newest_at'),
      ])
      .where('minute', '>=', since.slice(0, 'YYYY-MM-DDTHH:MM'.length))
      .groupBy(['reason', 'status', 'header_prefix'])
      .orderBy(rejected, 'desc')
      .orderBy('reason')
      .orderBy('header_prefix')
      .orderBy('status'),
  );
  return sums.map(sum => ({ ...sum, rejected: Number(sum.rejected) }));
}

const DAY_MS = 86_400_000;
const MAX_REJECTIONS = 5;

/** Webhooks that were rejected in the last 24 hours for one reason. */
export interface RejectionSummary extends RejectedSum {
  /** Whether the settings of this program are probably wrong: they were signed, and none has been accepted since. */
  readonly isFault: boolean;
}

/** Reads which webhooks were rejected in the last 24 hours. The most frequent come first. */
export async function readRejections(reader: Reader, now: number): Promise<RejectionSummary[]> {
  const sums = await sumRejected(reader, new Date(now - DAY_MS).toISOString());
  const { acceptedAt } = await readOne(
    reader,
    queryBuilder
      .selectFrom('inbox.deliveries')
      .select(eb => eb.fn.max<string | null>('received_at').as('acceptedAt'))
      .where('verdict', '=', 'accepted'),
  );
  return sums.slice(0, MAX_REJECTIONS).map(sum => ({
    ...sum,
    isFault: isSigned(sum) && (acceptedAt ?? '') < sum.since,
  }));
}

/**
 * Returns the caveat that webhooks were rejected after the newest delivery arrived, or an empty array if none were. Rejected webhooks
 * are counted by minute, so the number includes those that were rejected earlier in the minute of the delivery.
 */
export async function findNewerRejections(reader: Reader): Promise<Caveat[]> {
  const arrivedAt = await readNewestArrival(reader);
  const sums = await sumRejected(reader, arrivedAt ?? '');
  const newer = sums.filter(({ newest_at: at }) => arrivedAt === null || at > arrivedAt);
  if (newer.length === 0) return [];
  const webhooks = newer.reduce((count, { rejected }) => count + rejected, 0);
  const reasons = [...new Set(newer.map(({ reason }) => reason))].toSorted();
  return [{ code: 'newer_rejected', newestDeliveryAt: arrivedAt, webhooks, reasons }];
}

/** Whether the sender tried to sign its webhooks, so that it may be the registry. */
function isSigned({ status, header_prefix: prefix }: RejectedSum): boolean {
  return status === 401 && prefix !== '';
}

/** Returns what a person should check. The advice depends on the reason for which the webhooks were rejected. */
export function getRejectionAdvice({ reason, header_prefix: prefix }: Row | RejectedSum): string {
  if (reason === 'signature_not_valid')
    return 'Check that WEBHOOK_SECRETS matches the secret at the registry.';
  if (reason === 'not_stored') return "The receiver's log says why: disk space, a lock, or too many at once.";
  if (prefix === '') return 'The registry signs every delivery, so somebody else sent these.';
  if (reason === 'no_signature') return `Check REGISTRY_HEADER_PREFIX: the sender uses "${String(prefix)}".`;
  if (reason === 'wrong_content_type')
    return 'Check that no proxy changes the content type: it must be application/json.';
  return 'Check that no proxy changes the body. If none does, somebody else sent these.';
}
