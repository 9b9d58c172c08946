import type { EventsPort, Subscription } from '../../events/port.js';
import type { CommandContext } from '../context.js';
import { createNotFoundError, createUsageError } from '../command-error.js';
import { useAndClose } from '../mirror-location.js';

/** The part of the context that subscriptions need. */
export type SubscriptionsContext = Pick<CommandContext, 'io' | 'requireMirror'>;

/** Opens the store of subscriptions, passes it to `work` and closes it. Passes null if the mirror never had subscriptions. */
export async function withSubscriptions<T>(
  { io, requireMirror }: SubscriptionsContext,
  work: (port: EventsPort | null) => Promise<T>,
): Promise<T> {
  const port = await requireMirror().engine.openEvents(io.now);
  return port === null ? await work(null) : await useAndClose(port, work);
}

/**
 * Finds a subscription whose id or URL is `name`; if there is none, finds one whose id starts with `name`. Calls `work` with the
 * open store and the subscription, then closes the store and returns the result of `work`. Throws unless exactly one subscription
 * matches.
 */
export async function withSubscription<T>(
  context: SubscriptionsContext,
  name: string,
  work: (port: EventsPort, subscription: Subscription) => Promise<T>,
): Promise<T> {
  return await withSubscriptions(context, async port => {
    const subscriptions = (await port?.list()) ?? [];
    const exact = subscriptions.filter(({ id, url }) => id === name || url === name);
    const matching = exact.length > 0 ? exact : subscriptions.filter(({ id }) => id.startsWith(name));
    const [found, ...others] = matching;
    if (port === null || found === undefined)
      throw createNotFoundError(
        `There is no subscription "${name}".`,
        '"carbon-mirror subscriptions list" shows all.',
      );
    if (others.length > 0)
      throw createUsageError(
        `"${name}" names ${matching.length} subscriptions:`,
        matching.map(({ id, url }) => `  ${id} ${url}`),
      );
    return await work(port, found);
  });
}
