import { setImmediate as pause } from 'node:timers/promises';
import type { AcceptedDelivery, DeliveryRange } from '../../inbox/delivery.js';
import type { InboxPort } from '../../inbox/port.js';
import { type LivingProcess, HEARTBEAT_INTERVAL_MS } from '../../inbox/process.js';
import type { FreshnessFact, KnownResource } from '../../mirror/port.js';
import { formatInstant } from '../../resources/columns.js';
import type { SyncContext } from '../context.js';
import { describeFailure } from '../outcome.js';
import type { Log } from '../worker/worker.js';
import { type Again, again } from './schedule.js';

type Parts = Pick<SyncContext, 'inbox' | 'mirror' | 'mirrorMembers'>;

/** What is younger is most likely being read at this moment; and whatever came is stored by then. */
const TOLD_AFTER_MS = 15_000;

/**
 * One look, at an instant of the inbox's clock: writes down that somebody watches, and for each resource the oldest delivery that no read has answered.
 * At the look before this one nothing waited but what was announced then: only what came since is looked through,
 * and, where something that was announced has been read, what came after that read.
 */
export async function writeFreshnessFacts(
  { inbox, mirror, mirrorMembers }: Parts,
  at: number,
): Promise<void> {
  const named = await inbox.listPendingInstallations();
  const until = formatInstant(at - TOLD_AFTER_MS);
  const {
    workerSeenAt,
    oldestCompleteReadAt: oldestRead,
    waitingResources: announced,
  } = await mirror.readFreshnessFacts();
  const seen = seenUntil(workerSeenAt, at);
  const isRead = ({ resource }: KnownResource) => mirrorMembers || resource !== 'members';
  const known = announced.filter(isRead);
  const found = known.flatMap(stillWaiting);
  const open = createOpen(resources =>
    resources
      .filter(isRead)
      .flatMap(resource => openSince(resource, seen))
      .filter(({ from }) => from <= until),
  );
  const starts = known.flatMap(resource => openSince(resource, seen)).map(({ from }) => from);
  const [from = until] = [seen ?? oldestRead ?? until, ...starts].toSorted();
  for await (const slice of slicesOf(inbox, { since: from, until, afterId: 0 })) {
    const ids = slice.map(({ installationId }) => installationId).filter(open.isNew);
    if (ids.length > 0) open.learn(await mirror.listKnownResources([...new Set(ids)]));
    for (const { installationId, receivedAt } of slice) found.push(...open.take(installationId, receivedAt));
    await pause();
  }
  await mirror.report({ at: formatInstant(at), awaitedInstallations: named, unreadDeliveries: found });
}

/** Between two of them others may go on. */
async function* slicesOf(
  inbox: Parts['inbox'],
  whole: DeliveryRange,
): AsyncGenerator<readonly AcceptedDelivery[]> {
  for (let stretch: DeliveryRange | null = whole; stretch !== null; ) {
    const slice: Awaited<ReturnType<InboxPort['listAcceptedDeliveries']>> =
      await inbox.listAcceptedDeliveries(stretch);
    yield slice.deliveries;
    stretch = slice.next;
  }
}

interface Open {
  readonly organizationId: string;
  readonly resource: string;
  /** The first delivery at or after this instant is the oldest that is not read. */
  readonly from: string;
}

/** What waits for nothing yet. Deliveries come oldest first: what was found to wait is not looked for any more. */
function createOpen(openOf: (resources: readonly KnownResource[]) => readonly Open[]) {
  const lists = new Map<string, { open: readonly Open[] }>();
  const owners = new Map<string, { open: readonly Open[] }>();

  function learnOne(installationId: string, resources: readonly KnownResource[]): void {
    const open = openOf(resources);
    const organizationId = open[0]?.organizationId ?? '';
    const list = owners.get(organizationId) ?? { open };
    lists.set(installationId, list);
    owners.set(organizationId, list);
  }

  return {
    isNew: (installationId: string) => !lists.has(installationId),
    learn(found: ReadonlyMap<string, readonly KnownResource[]>): void {
      for (const [installationId, resources] of found) learnOne(installationId, resources);
    },
    /** One that arrived is the oldest for all that were read before it. */
    take(installationId: string, receivedAt: string): FreshnessFact[] {
      const list = lists.get(installationId);
      if (list === undefined || list.open.length === 0) return [];
      const announced = list.open.filter(({ from }) => from <= receivedAt);
      if (announced.length > 0) list.open = list.open.filter(({ from }) => from > receivedAt);
      return announced.map(({ organizationId, resource }) => ({
        organizationId,
        resource,
        oldestUnreadAt: receivedAt,
      }));
    },
  };
}

function stillWaiting({
  organizationId,
  resource,
  dataAsOf,
  oldestUnreadAt,
}: KnownResource): FreshnessFact[] {
  if (oldestUnreadAt === null || oldestUnreadAt < dataAsOf) return [];
  return [{ organizationId, resource, oldestUnreadAt }];
}

/** None where it is known what it waits for. */
function openSince(
  { organizationId, resource, dataAsOf, oldestUnreadAt }: KnownResource,
  seen: string | null,
): Open[] {
  if (oldestUnreadAt !== null && oldestUnreadAt >= dataAsOf) return [];
  const from = oldestUnreadAt === null && seen !== null && seen > dataAsOf ? seen : dataAsOf;
  return [{ organizationId, resource, from }];
}

/** Null where nobody has looked yet, or by a clock that was ahead. */
function seenUntil(workerSeenAt: string | null, now: number): string | null {
  if (workerSeenAt === null || Date.parse(workerSeenAt) > now) return null;
  return formatInstant(Date.parse(workerSeenAt) - TOLD_AFTER_MS);
}

export interface FreshnessFactsOptions extends Parts {
  readonly self: LivingProcess;
  readonly log: Log;
  readonly everyMs?: number;
}

/** A look at once, and then every 15 seconds until it is stopped. */
export function createFreshnessFacts(options: FreshnessFactsOptions): Again {
  const { inbox, self, log, everyMs = HEARTBEAT_INTERVAL_MS } = options;
  return again(async () => {
    try {
      const { at } = await inbox.heartbeat(self);
      await writeFreshnessFacts(options, at);
    } catch (error) {
      log.warn({ error: describeFailure(error) }, 'no heartbeat could be written this time');
    }
    return everyMs;
  });
}
