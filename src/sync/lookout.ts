import { setImmediate as pause } from 'node:timers/promises';
import { type LivingProcess, SIGN_EVERY_MS } from '../inbox/signs.js';
import type { Announcement, WatchedResource } from '../mirror/announcements.js';
import type { Context } from './context.js';
import { describe } from './outcome.js';
import type { Log } from './worker.js';

type Parts = Pick<Context, 'inbox' | 'mirror' | 'mirrorMembers' | 'now'>;

/** What is younger is most likely being read at this moment; and whatever came is stored by then. */
const TOLD_AFTER_MS = 15_000;

/**
 * One look: writes down that somebody watches, and for each resource the oldest delivery that no read has answered.
 * At the look before this one nothing waited but what was announced then: only what came since is looked through,
 * and, where something that was announced has been read, what came after that read.
 */
export async function lookOut({ inbox, mirror, mirrorMembers, now }: Parts): Promise<void> {
  const { announcements } = mirror;
  const at = now();
  const until = instant(at - TOLD_AFTER_MS);
  const seen = seenUntil(announcements.watchedAt(), at);
  const isRead = ({ resource }: WatchedResource) => mirrorMembers || resource !== 'members';
  const known = announcements.announced().filter(isRead);
  const found = new Map(known.flatMap(stillWaiting).map(row => [keyOf(row), row]));
  const open = new Map<string, readonly Open[]>();

  function openOf(installationId: string): readonly Open[] {
    const before = open.get(installationId);
    if (before !== undefined) return before;
    const resources = announcements.resourcesOf(installationId).filter(isRead);
    const fresh = resources.map(resource => openSince(resource, seen)).filter(({ from }) => from <= until);
    open.set(installationId, fresh);
    return fresh;
  }

  const starts = known.map(resource => openSince(resource, seen).from);
  const [from = until] = [seen ?? announcements.oldestRead() ?? until, ...starts].toSorted();
  for (const slice of inbox.deliveriesBetween(from, until)) {
    for (const { installationId, receivedAt } of slice) {
      for (const { organizationId, resource, from: start } of openOf(installationId)) {
        const row = { organizationId, resource, announcedAt: receivedAt };
        if (start <= receivedAt && !found.has(keyOf(row))) found.set(keyOf(row), row);
      }
    }
    await pause();
  }
  announcements.announce([...found.values()], instant(at));
}

interface Open {
  readonly organizationId: string;
  readonly resource: string;
  /** The first delivery at or after this instant is the oldest that is not read. */
  readonly from: string;
}

function stillWaiting({
  organizationId,
  resource,
  completeAt,
  announcedAt,
}: WatchedResource): Announcement[] {
  if (announcedAt === null || announcedAt < completeAt) return [];
  return [{ organizationId, resource, announcedAt }];
}

function openSince(
  { organizationId, resource, completeAt, announcedAt }: WatchedResource,
  seen: string | null,
): Open {
  const from = announcedAt === null && seen !== null && seen > completeAt ? seen : completeAt;
  return { organizationId, resource, from };
}

/** Null where nobody has looked yet, or by a clock that was ahead. */
function seenUntil(watchedAt: string | null, now: number): string | null {
  if (watchedAt === null || Date.parse(watchedAt) > now) return null;
  return instant(Date.parse(watchedAt) - TOLD_AFTER_MS);
}

function keyOf({ organizationId, resource }: Announcement): string {
  return `${organizationId} ${resource}`;
}

function instant(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export interface Lookout {
  start(): void;
  stop(): Promise<void>;
}

export interface LookoutOptions extends Parts {
  readonly self: LivingProcess;
  readonly log: Log;
}

/** A look at once, and then every 15 seconds until it is stopped. */
export function createLookout(options: LookoutOptions): Lookout {
  const { inbox, self, now, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();
  let started = false;

  async function look(): Promise<void> {
    try {
      inbox.signOfLife(self, now());
      await lookOut(options);
    } catch (error) {
      log.warn({ error: describe(error) }, 'no sign of life could be given this time');
    }
    if (started) timer = setTimeout(begin, SIGN_EVERY_MS);
  }

  function begin(): void {
    looking = look();
  }

  return {
    start() {
      started = true;
      begin();
    },
    async stop() {
      started = false;
      clearTimeout(timer);
      await looking;
    },
  };
}
