/** Finds the subscriptions with due events, claims each one and sends its events. Subscriptions do not wait for each other. */
import { createEpochName } from '../epoch-name.js';
import type { Epoch, Hold, Subscription } from '../port.js';
import { deriveKeyCheck } from '../signing.js';
import type { SenderContext } from './sender-types.js';
import { serveSubscription } from './serve-subscription.js';
import { hasWork } from './subscriber-state.js';

/** How long a claim is valid without a renewal. */
const LEASE_MS = 60_000;
const RENEWAL_INTERVAL_MS = 15_000;

export interface Sender {
  /** Starts to send the due events of every subscription that is not being served yet. */
  readonly poll: () => Promise<void>;
  /** Waits until no subscription is being served. */
  readonly drain: () => Promise<void>;
  /** Aborts the requests in flight and waits until no subscription is being served. */
  readonly stop: () => Promise<void>;
}

/** Creates the sender, which posts the due events of all subscriptions. */
export function createSender(context: SenderContext): Sender {
  const { port, changes, key, log, now } = context;
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  /** Subscriptions that got more events while they were served. */
  const pollAgain = new Set<string>();
  const keyFaults = new Set<string>();

  /**
   * Starts to send the due events of every subscription, and returns before they are sent. A subscription that is being served
   * is polled again afterwards.
   */
  async function pollSubscriptions(): Promise<void> {
    const subscriptions = await port.list();
    if (subscriptions.length === 0 || stopping.signal.aborted) return;
    const allHolds = await port.listHolds();
    const newestChange = await changes.readNewest();
    const epoch = await readEpoch(subscriptions, newestChange);
    const at = new Date(now()).toISOString();
    for (const subscription of subscriptions) {
      const { id } = subscription;
      const holds = allHolds.filter(hold => hold.subscription_id === id);
      if (!hasWork(subscription, holds, { epoch, newestChange }, at) || !hasCurrentKey(subscription))
        continue;
      if (running.has(id)) pollAgain.add(id);
      else
        running.set(
          id,
          claimAndSendEvents(subscription).finally(() => finishSending(id)),
        );
    }
  }

  /**
   * Marks a subscription as no longer being served. Polls all subscriptions again at once if this one had more due events in the
   * meantime.
   */
  function finishSending(id: string): void {
    running.delete(id);
    if (!pollAgain.delete(id) || stopping.signal.aborted) return;
    pollSubscriptions().catch((error: unknown) =>
      log.error({ error: describeError(error) }, 'sending events failed'),
    );
  }

  /**
   * Returns the current epoch, whose name is the first part of event ids. Begins the first epoch if there is none. If a cursor of a
   * subscription is greater than `newestChange`, the mirror was replaced by an older backup; then begins a new epoch and returns that one.
   */
  async function readEpoch(subscriptions: readonly Subscription[], newestChange: number): Promise<Epoch> {
    const next = {
      epoch: createEpochName(context.randomBytes),
      at: new Date(now()).toISOString(),
      newestChange,
    };
    const isReplaced = subscriptions.some(({ change_cursor: cursor }) => cursor > newestChange);
    if (isReplaced) {
      await port.beginEpoch({ ...next, reason: 'mirror_replaced' });
      log.warn({ epoch: next.epoch, newestChange }, 'mirror is older than what was sent; a new epoch began');
    }
    return await port.ensureEpoch({ ...next, reason: 'created' });
  }

  /** Whether a subscription was created with the key in EVENTS_KEY_FILE. Logs an error once if it was created with another key. */
  function hasCurrentKey({ id, key_check: check }: Subscription): boolean {
    if (deriveKeyCheck(key, id) === check) return true;
    if (!keyFaults.has(id))
      log.error({ subscription: id }, 'EVENTS_KEY_FILE is not the key of a subscription');
    keyFaults.add(id);
    return false;
  }

  /**
   * Claims a subscription and sends its due events; does nothing if another sender has claimed it. Renews the claim while it
   * sends, and logs errors instead of throwing them.
   */
  async function claimAndSendEvents({ id }: Subscription): Promise<void> {
    try {
      const claim = await port.claim(id, LEASE_MS);
      if (claim === null) return;
      const lost = new AbortController();
      const renewal = setInterval(() => {
        void port.renew(claim, LEASE_MS).then(
          isHeld => (isHeld ? undefined : lost.abort()),
          // The claim is valid until its lease expires. The next renewal may succeed.
          (error: unknown) =>
            log.warn({ subscription: id, error: describeError(error) }, 'lease renewal failed'),
        );
      }, RENEWAL_INTERVAL_MS);
      try {
        // Another sender may have moved the cursors before the claim.
        const subscription = (await port.list()).find(each => each.id === id);
        const holds: readonly Hold[] = (await port.listHolds()).filter(hold => hold.subscription_id === id);
        const signal = AbortSignal.any([lost.signal, stopping.signal]);
        if (subscription !== undefined)
          await serveSubscription(context, { subscription, holds, claim, signal });
      } finally {
        clearInterval(renewal);
      }
    } catch (error) {
      log.error({ subscription: id, error: describeError(error) }, 'sending events failed');
    }
  }

  const drain = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running.values());
  };
  return {
    poll: pollSubscriptions,
    drain,
    stop: async () => {
      stopping.abort();
      await drain();
    },
  };
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
