import { setImmediate as waitForEventLoop } from 'node:timers/promises';
import type { AcceptedDelivery, DeliveryRange } from '../../inbox/delivery.js';
import type { InboxPort } from '../../inbox/port.js';
import { type ProcessIdentity, HEARTBEAT_INTERVAL_MS } from '../../inbox/process.js';
import type { FreshnessFact, KnownResource } from '../../mirror/port.js';
import { formatInstant } from '../../resources/columns.js';
import type { SyncContext } from '../context.js';
import { describeFailure } from '../outcome.js';
import type { WorkerLog } from '../worker/log.js';
import { createRepeatingTask, type RepeatingTask } from './repeating-task.js';

type FreshnessContext = Pick<SyncContext, 'inbox' | 'mirror' | 'mirrorMembers'>;

/** Deliveries younger than this are ignored: they are probably being read now, and older ones are surely stored. */
const MIN_DELIVERY_AGE_MS = 15_000;

/**
 * Writes to the mirror, for an instant of the inbox's clock, that a worker is running, and for each resource the oldest
 * delivery that no complete read has answered.
 * Only deliveries since the previous call are searched, and, where a resource was read since, deliveries after that read.
 */
export async function writeFreshnessFacts(
  { inbox, mirror, mirrorMembers }: FreshnessContext,
  at: number,
): Promise<void> {
  const pendingInstallations = await inbox.listPendingInstallations();
  const until = formatInstant(at - MIN_DELIVERY_AGE_MS);
  const { workerSeenAt, oldestCompleteReadAt, waitingResources } = await mirror.readFreshnessFacts();
  const searchedUntil = findSearchedUntil(workerSeenAt, at);
  const isMirrored = ({ resource }: KnownResource) => mirrorMembers || resource !== 'members';
  const mirroredWaiting = waitingResources.filter(isMirrored);
  const facts = mirroredWaiting.flatMap(toKnownFact);
  const finder = createUnreadFinder(resources =>
    resources
      .filter(isMirrored)
      .flatMap(resource => toUnansweredRead(resource, searchedUntil))
      .filter(({ since }) => since <= until),
  );
  const searchStarts = mirroredWaiting
    .flatMap(resource => toUnansweredRead(resource, searchedUntil))
    .map(({ since }) => since);
  const [since = until] = [searchedUntil ?? oldestCompleteReadAt ?? until, ...searchStarts].toSorted();
  for await (const deliveries of readDeliveryBatches(inbox, { since, until, afterId: 0 })) {
    const unknownIds = deliveries.map(({ installationId }) => installationId).filter(finder.isUnknown);
    if (unknownIds.length > 0) finder.addResources(await mirror.listKnownResources([...new Set(unknownIds)]));
    for (const { installationId, receivedAt } of deliveries)
      facts.push(...finder.takeAnnounced(installationId, receivedAt));
    await waitForEventLoop();
  }
  await mirror.report({
    at: formatInstant(at),
    awaitedInstallations: pendingInstallations,
    unreadDeliveries: facts,
  });
}

/** Reads the accepted deliveries of a range, oldest first, in batches. */
async function* readDeliveryBatches(
  inbox: FreshnessContext['inbox'],
  range: DeliveryRange,
): AsyncGenerator<readonly AcceptedDelivery[]> {
  for (let rest: DeliveryRange | null = range; rest !== null; ) {
    const slice: Awaited<ReturnType<InboxPort['listAcceptedDeliveries']>> =
      await inbox.listAcceptedDeliveries(rest);
    yield slice.deliveries;
    rest = slice.next;
  }
}

/** A resource for which no unread delivery is known yet. Its oldest unread delivery is the first one at or after `since`. */
interface UnansweredRead {
  readonly organizationId: string;
  readonly resource: string;
  readonly since: string;
}

/**
 * Finds the oldest unread delivery of each resource. Deliveries must be passed oldest first, so that a resource is
 * finished with the first delivery that announces it.
 */
function createUnreadFinder(
  toUnansweredReads: (resources: readonly KnownResource[]) => readonly UnansweredRead[],
) {
  const openByInstallation = new Map<string, { open: readonly UnansweredRead[] }>();
  // Installations of one organization share its list of open resources.
  const openByOrganization = new Map<string, { open: readonly UnansweredRead[] }>();

  /** Adds an installation. It shares the open resources of its organization with the other installations. */
  function addInstallation(installationId: string, resources: readonly KnownResource[]): void {
    const open = toUnansweredReads(resources);
    const organizationId = open[0]?.organizationId ?? '';
    const shared = openByOrganization.get(organizationId) ?? { open };
    openByInstallation.set(installationId, shared);
    openByOrganization.set(organizationId, shared);
  }

  return {
    isUnknown: (installationId: string) => !openByInstallation.has(installationId),

    /** Adds installations with their resources, so that their deliveries can be matched. */
    addResources(resourcesByInstallation: ReadonlyMap<string, readonly KnownResource[]>): void {
      for (const [installationId, resources] of resourcesByInstallation)
        addInstallation(installationId, resources);
    },

    /** Returns a fact for each open resource that was last read before this delivery, and closes those resources. */
    takeAnnounced(installationId: string, receivedAt: string): FreshnessFact[] {
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

/** Whether the delivery that was found earlier is still unread. */
function hasKnownUnread({ dataAsOf, oldestUnreadAt }: KnownResource): boolean {
  return oldestUnreadAt !== null && oldestUnreadAt >= dataAsOf;
}

/** Returns the fact of an earlier call if it still holds, else nothing. */
function toKnownFact(known: KnownResource): FreshnessFact[] {
  const { organizationId, resource, oldestUnreadAt } = known;
  if (oldestUnreadAt === null || !hasKnownUnread(known)) return [];
  return [{ organizationId, resource, oldestUnreadAt }];
}

/** Returns from when to search deliveries for a resource; nothing if its oldest unread delivery is known already. */
function toUnansweredRead(known: KnownResource, searchedUntil: string | null): UnansweredRead[] {
  if (hasKnownUnread(known)) return [];
  const { organizationId, resource, dataAsOf, oldestUnreadAt } = known;
  const isSearched = oldestUnreadAt === null && searchedUntil !== null && searchedUntil > dataAsOf;
  return [{ organizationId, resource, since: isSearched ? searchedUntil : dataAsOf }];
}

/** Returns until when earlier calls have searched deliveries; null if there was none, or if its clock was ahead. */
function findSearchedUntil(workerSeenAt: string | null, now: number): string | null {
  if (workerSeenAt === null || Date.parse(workerSeenAt) > now) return null;
  return formatInstant(Date.parse(workerSeenAt) - MIN_DELIVERY_AGE_MS);
}

export interface FreshnessFactsOptions extends FreshnessContext {
  readonly self: ProcessIdentity;
  readonly log: WorkerLog;
  readonly intervalMs?: number;
}

/** Creates the task that writes a heartbeat and the freshness facts, at once and then every 15 seconds. */
export function createFreshnessFacts(options: FreshnessFactsOptions): RepeatingTask {
  const { inbox, self, log, intervalMs = HEARTBEAT_INTERVAL_MS } = options;
  return createRepeatingTask(async () => {
    try {
      const { at } = await inbox.heartbeat(self);
      await writeFreshnessFacts(options, at);
    } catch (error) {
      log.warn({ error: describeFailure(error) }, 'heartbeat failed');
    }
    return intervalMs;
  });
}
