import { setImmediate as waitForEventLoop } from 'node:timers/promises';
import type { AcceptedDelivery, DeliveryRange } from '../../inbox/delivery.js';
import type { InboxPort } from '../../inbox/port.js';
import { type ProcessIdentity, HEARTBEAT_INTERVAL_MS } from '../../inbox/process.js';
import type { UnreadDelivery, KnownResource } from '../../mirror/port/mirror-port.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { SyncContext } from '../sync-context.js';
import { describeFailure } from '../outcome.js';
import type { WorkerLog } from '../worker/worker-log.js';
import { createRepeatingTask, type RepeatingTask } from './repeating-task.js';

type UnreadDeliveryContext = Pick<SyncContext, 'inbox' | 'mirror' | 'mirrorMembers'>;

/** Younger deliveries are ignored, because they are probably being read now. All older ones are certainly stored. */
const MIN_DELIVERY_AGE_MS = 15_000;

/**
 * Stores in the mirror the oldest unread delivery of each resource, and the time of this check. A delivery is unread until a
 * read of its resource has followed.
 */
export async function recordUnreadDeliveries(
  { inbox, mirror, mirrorMembers }: UnreadDeliveryContext,
  now: number,
): Promise<void> {
  const pendingInstallations = await inbox.listPendingInstallations();
  const until = formatInstant(now - MIN_DELIVERY_AGE_MS);
  const { workerSeenAt, oldestCompleteReadAt, waitingResources } = await mirror.readFreshnessFacts();
  const searchedUntil = findSearchedUntil(workerSeenAt, now);
  const isMirrored = ({ resource }: KnownResource) => mirrorMembers || resource !== 'members';
  const mirroredWaiting = waitingResources.filter(isMirrored);
  const facts = mirroredWaiting.flatMap(findKnownUnreadDelivery);
  const finder = createUnreadDeliveryFinder(resources =>
    resources
      .filter(isMirrored)
      .flatMap(resource => toDeliverySearch(resource, searchedUntil))
      .filter(({ since }) => since <= until),
  );
  const searchStarts = mirroredWaiting
    .flatMap(resource => toDeliverySearch(resource, searchedUntil))
    .map(({ since }) => since);
  const [since = until] = [searchedUntil ?? oldestCompleteReadAt ?? until, ...searchStarts].toSorted();
  for await (const deliveries of readDeliveryBatches(inbox, { since, until, afterId: 0 })) {
    const unknownIds = deliveries.map(({ installationId }) => installationId).filter(finder.isUnknown);
    if (unknownIds.length > 0)
      finder.addInstallations(await mirror.listKnownResources([...new Set(unknownIds)]));
    for (const { installationId, receivedAt } of deliveries)
      facts.push(...finder.addDelivery(installationId, receivedAt));
    await waitForEventLoop();
  }
  await mirror.report({
    at: formatInstant(now),
    awaitedInstallations: pendingInstallations,
    unreadDeliveries: facts,
  });
}

/** Yields the accepted deliveries of a range in batches, oldest first. */
async function* readDeliveryBatches(
  inbox: UnreadDeliveryContext['inbox'],
  range: DeliveryRange,
): AsyncGenerator<readonly AcceptedDelivery[]> {
  for (let rest: DeliveryRange | null = range; rest !== null; ) {
    const slice: Awaited<ReturnType<InboxPort['listAcceptedDeliveries']>> =
      await inbox.listAcceptedDeliveries(rest);
    yield slice.deliveries;
    rest = slice.next;
  }
}

/** A search for the oldest unread delivery of a resource, which is the first delivery at or after `since`. */
interface DeliverySearch {
  readonly organizationId: string;
  readonly resource: string;
  readonly since: string;
}

/**
 * Creates a finder of the oldest unread delivery of each resource: the first one since the last complete read of that
 * resource. Pass all deliveries to `addDelivery`, oldest first.
 */
function createUnreadDeliveryFinder(
  toDeliverySearches: (resources: readonly KnownResource[]) => readonly DeliverySearch[],
) {
  const openByInstallation = new Map<string, { open: readonly DeliverySearch[] }>();
  // Installations of one organization share its list of open resources.
  const openByOrganization = new Map<string, { open: readonly DeliverySearch[] }>();

  /** Registers the resources of an installation, so that `addDelivery` finds their oldest unread webhooks. */
  function addInstallation(installationId: string, resources: readonly KnownResource[]): void {
    const open = toDeliverySearches(resources);
    const organizationId = open[0]?.organizationId ?? '';
    const shared = openByOrganization.get(organizationId) ?? { open };
    openByInstallation.set(installationId, shared);
    openByOrganization.set(organizationId, shared);
  }

  return {
    isUnknown: (installationId: string) => !openByInstallation.has(installationId),

    /** Registers the resources of several installations, so that `addDelivery` finds their oldest unread webhooks. */
    addInstallations(resourcesByInstallation: ReadonlyMap<string, readonly KnownResource[]>): void {
      for (const [installationId, resources] of resourcesByInstallation)
        addInstallation(installationId, resources);
    },

    /**
     * Processes one delivery. Call this for all deliveries in the order of `receivedAt`. Returns an `UnreadDelivery` for each resource of
     * which this is the oldest unread delivery, and `[]` if there is no such resource.
     */
    addDelivery(installationId: string, receivedAt: string): UnreadDelivery[] {
      const shared = openByInstallation.get(installationId);
      if (shared === undefined || shared.open.length === 0) return [];
      const announced = shared.open.filter(({ since }) => since <= receivedAt);
      if (announced.length > 0) shared.open = shared.open.filter(({ since }) => since > receivedAt);
      return announced.map(({ organizationId, resource }) => ({
        organizationId,
        resource,
        oldestUnreadAt: receivedAt,
      }));
    },
  };
}

/** Whether an earlier call already found a delivery for this resource that is still unread. */
function hasKnownUnreadDelivery({ dataAsOf, oldestUnreadAt }: KnownResource): boolean {
  return oldestUnreadAt !== null && oldestUnreadAt >= dataAsOf;
}

/**
 * Returns the oldest unread delivery that an earlier check found for a resource, as a list of one item. Returns `[]` if
 * there is none.
 */
function findKnownUnreadDelivery(known: KnownResource): UnreadDelivery[] {
  const { organizationId, resource, oldestUnreadAt } = known;
  if (oldestUnreadAt === null || !hasKnownUnreadDelivery(known)) return [];
  return [{ organizationId, resource, oldestUnreadAt }];
}

/**
 * Returns the search for the oldest unread delivery of a resource, as a list of one item. Returns `[]` if an earlier check has
 * already found that delivery. The search begins at the last complete read of the resource. If earlier checks have found nothing
 * since that read, the search begins at `searchedUntil`, where these checks stopped.
 */
function toDeliverySearch(known: KnownResource, searchedUntil: string | null): DeliverySearch[] {
  if (hasKnownUnreadDelivery(known)) return [];
  const { organizationId, resource, dataAsOf, oldestUnreadAt } = known;
  const isSearched = oldestUnreadAt === null && searchedUntil !== null && searchedUntil > dataAsOf;
  return [{ organizationId, resource, since: isSearched ? searchedUntil : dataAsOf }];
}

/**
 * Returns the instant up to which the previous check has searched the deliveries. `workerSeenAt` is the time of that check. Returns
 * null if the time is unknown or in the future.
 */
function findSearchedUntil(workerSeenAt: string | null, now: number): string | null {
  // A time in the future means that the clock was set back.
  if (workerSeenAt === null || Date.parse(workerSeenAt) > now) return null;
  return formatInstant(Date.parse(workerSeenAt) - MIN_DELIVERY_AGE_MS);
}

/** What the task needs besides the inbox and the mirror. */
export interface UnreadDeliveryTaskOptions extends UnreadDeliveryContext {
  readonly self: ProcessIdentity;
  readonly log: WorkerLog;
  readonly intervalMs?: number;
}

/** Creates a task that regularly sends a heartbeat of this process and records the oldest unread webhook of each resource. */
export function createUnreadDeliveryTask(options: UnreadDeliveryTaskOptions): RepeatingTask {
  const { inbox, self, log, intervalMs = HEARTBEAT_INTERVAL_MS } = options;
  return createRepeatingTask(async () => {
    try {
      const { at } = await inbox.heartbeat(self);
      await recordUnreadDeliveries(options, at);
    } catch (error) {
      log.warn({ error: describeFailure(error) }, 'heartbeat failed');
    }
    return intervalMs;
  });
}
