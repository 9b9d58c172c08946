import {
  toStoreFailure,
  type NewDelivery,
  type StoredDelivery,
  type StoreFailure,
  type StoreResult,
} from '../inbox/delivery.js';
import {
  type Delivery,
  openDelivery,
  type OpenDeliveryOptions,
  type VerificationFailure,
} from './open-delivery.js';

/** A webhook as it was posted, before it is verified. */
export interface WebhookPost {
  readonly body: Uint8Array;
  /** The signature header as it was sent; null if there was none. */
  readonly signature: string | null;
  /** When the whole body had been read, in epoch ms. */
  readonly receivedAt: number;
}

/** The fields of a delivery that logs and metrics report. */
export type DeliverySummary = Pick<
  Delivery,
  'event' | 'installationId' | 'verdict' | 'reason' | 'secretIndex'
>;

/** How a post ended: rejected by the verification, stored, or not stored because of a failure. */
export type PostResult =
  | ({ readonly kind: 'rejected' } & VerificationFailure)
  | { readonly kind: 'stored'; readonly delivery: DeliverySummary; readonly stored: StoredDelivery }
  | {
      readonly kind: 'failed';
      /** Null if the post failed before or during verification. */
      readonly delivery: DeliverySummary | null;
      readonly failure: StoreFailure;
    };

interface PostHandlerOptions extends Pick<OpenDeliveryOptions, 'secrets' | 'appId'> {
  /** Stores all deliveries in one transaction. Returns one result for each, in order. */
  readonly store: (deliveries: readonly NewDelivery[]) => Promise<readonly StoreResult[]>;
}

/** Creates a function that verifies a batch of webhook posts, stores the valid ones, and returns one result per post. */
export function createPostHandler({ secrets, appId, store }: PostHandlerOptions) {
  /**
   * Verifies one webhook post, and returns the delivery to store or the result of a rejected post. An exception makes only
   * this post fail.
   */
  function verifyPost(post: WebhookPost, now: number): PostResult | NewDelivery {
    try {
      const { body, signature, receivedAt } = post;
      const opened = openDelivery({ body, signature, secrets, appId });
      if (opened.verdict !== 'rejected') return { ...opened.delivery, receivedMsAgo: now - receivedAt };
      const { verdict: kind, reason, status, detail } = opened;
      return { kind, reason, status, detail };
    } catch (error) {
      return createFailedResult(toStoreFailure(error));
    }
  }

  // Returns one result per post, in the same order.
  return async (posts: readonly WebhookPost[], now: number): Promise<PostResult[]> => {
    const verified = posts.map(post => verifyPost(post, now));
    const deliveries = verified.filter(isVerifiedDelivery);
    const results = deliveries.length === 0 ? [] : await store(deliveries);
    let resultIndex = 0;
    return verified.map(item =>
      isVerifiedDelivery(item) ? toPostResult(item, results[resultIndex++]) : item,
    );
  };
}

/** Whether a post passed the verification and must now be stored. */
function isVerifiedDelivery(item: PostResult | NewDelivery): item is NewDelivery {
  return !('kind' in item);
}

/**
 * Converts the database's result for a delivery to the result of the HTTP post that brought it. Without a result, the post
 * has failed.
 */
function toPostResult(newDelivery: NewDelivery, result: StoreResult | undefined): PostResult {
  const { event, installationId, verdict, reason, secretIndex } = newDelivery;
  const delivery = { event, installationId, verdict, reason, secretIndex };
  if (result === undefined) return createFailedResult(MISSING_RESULT, delivery);
  if ('failure' in result) return createFailedResult(result.failure, delivery);
  return { kind: 'stored', delivery, stored: result };
}

/** Creates the result of a post that could not be stored. */
export function createFailedResult(
  failure: StoreFailure,
  delivery: DeliverySummary | null = null,
): PostResult {
  return { kind: 'failed', delivery, failure };
}

/** The failure of a post for which the store returned nothing. */
export const MISSING_RESULT: StoreFailure = {
  code: 'no_result',
  message: 'expected one result for each post',
};
