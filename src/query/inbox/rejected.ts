import type { Reader } from '../../store/contract/reader.js';

/** Webhooks that were turned away, added up over the minutes. */
export interface RejectedSum {
  readonly reason: string;
  readonly status: number;
  readonly headerPrefix: string;
  readonly rejected: number;
  /** The minute of the first of them. */
  readonly since: string;
  readonly newestAt: string;
}

/** What was turned away since an instant, what came most first. */
export async function sumRejected({ db }: Reader, since: string): Promise<RejectedSum[]> {
  const sums = await db
    .selectFrom('inbox.rejected_webhooks')
    .select(eb => [
      'reason',
      'status',
      'header_prefix as headerPrefix',
      eb.fn.sum<number | bigint>('rejected').as('rejected'),
      eb.fn.min('minute').as('since'),
      eb.fn.max('newest_at').as('newestAt'),
    ])
    .where('minute', '>=', since.slice(0, 'YYYY-MM-DDTHH:MM'.length))
    .groupBy(['reason', 'status', 'header_prefix'])
    .orderBy('rejected', 'desc')
    .orderBy('reason')
    .orderBy('header_prefix')
    .orderBy('status')
    .execute();
  return sums.map(sum => ({ ...sum, rejected: Number(sum.rejected) }));
}

/** When a delivery was accepted last. */
export async function readAcceptedAt({ db }: Reader): Promise<string | null> {
  const { at } = await db
    .selectFrom('inbox.deliveries')
    .select(eb => eb.fn.max<string | null>('received_at').as('at'))
    .where('verdict', '=', 'accepted')
    .executeTakeFirstOrThrow();
  return at;
}
