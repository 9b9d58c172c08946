/** Finds the subscriptions that have something to send, claims each and serves it. Subscriptions do not wait for each other. */
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
  /** Starts to serve all subscriptions that have work and are not served yet. */
  readonly poll: () => Promise<void>;
  /** Waits until no subscription is being served. */
  readonly drain: () => Promise<void>;
  /** Stops after the requests that are under way, which are ended. */
  readonly stop: () => Promise<void>;
}

export function createSender(context: SenderContext): Sender {
  const { port, changes, key, log, now } = context;
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  /** Subscriptions that had work while they were served. */
  const lookAgain = new Set<string>();
  const keyFaults = new Set<string>();

  async function poll(): Promise<void> {
    const subscriptions = await port.list();
    if (subscriptions.length === 0 || stopping.signal.aborted) return;
    const allHolds = await port.listHolds();
    const newestChange = await changes.readNewest();
    const epoch = await readEpoch(subscriptions, newestChange);
    const at = new Date(now()).toISOString();
    for (const subscription of subscriptions) {
      const { id } = subscription;
      const holds = allHolds.filter(hold => hold.subscription_id === id);
      if (!hasWork(subscription, holds, { epoch, newestChange }, at) || !hasRightKey(subscription)) continue;
      if (running.has(id)) lookAgain.add(id);
      else
        running.set(
          id,
          serve(subscription).finally(() => endServing(id)),
        );
    }
  }

  /** Polls again if something came while the subscription was served, so that it does not wait for the next poll. */
  function endServing(id: string): void {
    running.delete(id);
    if (!lookAgain.delete(id) || stopping.signal.aborted) return;
    poll().catch((error: unknown) => log.error({ error: describe(error) }, 'sending events failed'));
  }

  /** Returns the current epoch. A mirror that is older than a cursor was replaced by a backup, so a new epoch begins. */
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

  function hasRightKey({ id, key_check: check }: Subscription): boolean {
    if (deriveKeyCheck(key, id) === check) return true;
    if (!keyFaults.has(id))
      log.error({ subscription: id }, 'EVENTS_KEY_FILE is not the key of a subscription');
    keyFaults.add(id);
    return false;
  }

  async function serve({ id }: Subscription): Promise<void> {
    try {
      const claim = await port.claim(id, LEASE_MS);
      if (claim === null) return;
      const lost = new AbortController();
      const renewal = setInterval(() => {
        void port.renew(claim, LEASE_MS).then(
          isHeld => (isHeld ? undefined : lost.abort()),
          // The claim is valid until its lease expires. The next renewal may succeed.
          (error: unknown) => log.warn({ subscription: id, error: describe(error) }, 'lease renewal failed'),
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
      log.error({ subscription: id, error: describe(error) }, 'sending events failed');
    }
  }

  const drain = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running.values());
  };
  return {
    poll,
    drain,
    stop: async () => {
      stopping.abort();
      await drain();
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
