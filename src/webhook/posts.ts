import {
  type NewDelivery,
  type StoreFailure,
  type StoreResult,
  type StoredDelivery,
  describeFailure,
} from '../inbox/delivery.js';
import { type Delivery, openDelivery, type OpenDeliveryOptions } from './delivery.js';

/** What came in one POST, before anything of it is believed. */
export interface WebhookPost {
  readonly body: Uint8Array;
  /** The signature header as it was sent; null when there was none. */
  readonly signature: string | null;
  /** Epoch ms at which the whole body had been read. */
  readonly receivedAt: number;
}

/** What logs and metrics tell of a delivery. */
export type DeliverySummary = Pick<
  Delivery,
  'event' | 'installationId' | 'verdict' | 'reason' | 'secretIndex'
>;

export type PostEnd =
  | { readonly kind: 'rejected'; readonly status: 400 | 401; readonly detail: string }
  | { readonly kind: 'stored'; readonly delivery: DeliverySummary; readonly stored: StoredDelivery }
  | { readonly kind: 'failed'; readonly delivery: DeliverySummary | null; readonly failure: StoreFailure };

interface AcceptPostsOptions extends Pick<OpenDeliveryOptions, 'secrets' | 'appId'> {
  /** One transaction for all of them, one result for each. */
  readonly store: (deliveries: readonly NewDelivery[]) => Promise<readonly StoreResult[]>;
}

/** Verify posts and store those that are genuine, all in one transaction. One outcome for each post. */
export function createPostHandler({ secrets, appId, store }: AcceptPostsOptions) {
  /** A post that we cannot cope with is our fault; it must not take the thread, and so the whole receiver, with it. */
  function open(post: WebhookPost, now: number): PostEnd | NewDelivery {
    try {
      const { body, signature, receivedAt } = post;
      const opened = openDelivery({ body, signature, secrets, appId });
      if (opened.verdict !== 'rejected') return { ...opened.delivery, receivedMsAgo: now - receivedAt };
      return { kind: 'rejected', status: opened.status, detail: opened.detail };
    } catch (error) {
      return failed(describeFailure(error));
    }
  }

  return async (posts: readonly WebhookPost[], now: number): Promise<PostEnd[]> => {
    const opened = posts.map(post => open(post, now));
    const deliveries = opened.flatMap(each => ('kind' in each ? [] : [each]));
    const results = (deliveries.length === 0 ? [] : await store(deliveries))[Symbol.iterator]();
    return opened.map(each => ('kind' in each ? each : endOf(each, results.next().value)));
  };
}

function endOf(
  { event, installationId, verdict, reason, secretIndex }: NewDelivery,
  result: StoreResult | undefined,
): PostEnd {
  const delivery = { event, installationId, verdict, reason, secretIndex };
  if (result === undefined) return failed(NO_RESULT, delivery);
  if ('failure' in result) return failed(result.failure, delivery);
  return { kind: 'stored', delivery, stored: result };
}

export function failed(failure: StoreFailure, delivery: DeliverySummary | null = null): PostEnd {
  return { kind: 'failed', delivery, failure };
}

export const NO_RESULT: StoreFailure = { code: 'no_result', message: 'expected one result for each post' };
