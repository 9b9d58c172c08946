import {
  type NewDelivery,
  type StoreFailure,
  type StoreResult,
  type StoredDelivery,
  describeFailure,
} from '../inbox/delivery.js';
import { type Delivery, type Opened, openDelivery } from './delivery.js';

/** What came in one POST, before anything of it is believed. */
export interface Post {
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

interface Unopened {
  readonly verdict: 'unopened';
  readonly failure: StoreFailure;
}

export interface AcceptPostsOptions {
  /** Newest first; all are tried. */
  readonly secrets: readonly string[];
  readonly appId: string;
  /** One transaction for all of them, one result for each. */
  readonly store: (deliveries: readonly NewDelivery[]) => Promise<readonly StoreResult[]>;
}

/** Verify posts and store those that are genuine, all in one transaction. One outcome for each post. */
export function createAcceptPosts({ secrets, appId, store }: AcceptPostsOptions) {
  /** A post that we cannot cope with is our fault; it must not take the thread, and so the whole receiver, with it. */
  function open(post: Post): Opened | Unopened {
    try {
      return openDelivery({ body: post.body, signature: post.signature, secrets, appId });
    } catch (error) {
      return { verdict: 'unopened', failure: describeFailure(error) };
    }
  }

  return async (posts: readonly Post[], now: number): Promise<PostEnd[]> => {
    const opened = posts.map(open);
    const deliveries = opened.flatMap((each, index) =>
      each.verdict === 'rejected' || each.verdict === 'unopened'
        ? []
        : [{ ...each.delivery, receivedMsAgo: now - (posts[index]?.receivedAt ?? now) }],
    );
    const results = (deliveries.length === 0 ? [] : await store(deliveries))[Symbol.iterator]();
    return opened.map(each => {
      if (each.verdict === 'rejected') return { kind: 'rejected', status: each.status, detail: each.detail };
      if (each.verdict === 'unopened') return { kind: 'failed', delivery: null, failure: each.failure };
      const { event, installationId, verdict, reason, secretIndex } = each.delivery;
      const delivery = { event, installationId, verdict, reason, secretIndex };
      const { value } = results.next();
      if (value === undefined) return { kind: 'failed', delivery, failure: NO_RESULT };
      if ('failure' in value) return { kind: 'failed', delivery, failure: value.failure };
      return { kind: 'stored', delivery, stored: value };
    });
  };
}

const NO_RESULT: StoreFailure = { code: 'no_result', message: 'expected one result for each delivery' };
