import { createHash } from 'node:crypto';
import type { LastRead as KnownRead } from '../mirror/port.js';
import { LIST_RESOURCES, type Resource as Mirrored } from '../resources/lists.js';
import { ENTRY_OF } from '../resources/resources.js';
import { type Permissions, hasPermission } from '../registry/model.js';

const JOB_KINDS = ['installation', 'retry', 'reservations', 'certificates', 'discover', 'tick'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export function isJobKind(kind: string): kind is JobKind {
  return JOB_KINDS.some(known => known === kind);
}

/** What a sync of an installation reads, in the order in which it is read. Certificates have jobs of their own. */
export type Resource = Exclude<Mirrored, 'certificates'>;
export const RESOURCES: readonly Resource[] = [...LIST_RESOURCES, 'projects'];

/** What a job asks for. `{}` asks for everything, as every delivery does: the event decides nothing else. */
export interface Wish {
  /** Null asks for all of them. */
  readonly resources: readonly Resource[] | null;
  /** Read even what was read a moment ago, and look at every certificate again. */
  readonly full: boolean;
}

/** Written as an object, so that the wishes of two jobs that are merged add up. */
export function writeWish(wish: Wish): Record<string, unknown> {
  return {
    ...(wish.resources === null
      ? {}
      : { resources: Object.fromEntries(wish.resources.map(name => [name, true])) }),
    ...(wish.full ? { full: true } : {}),
  };
}

export function readWish(payload: Readonly<Record<string, unknown>>): Wish {
  const named = payload['resources'];
  const asked = typeof named === 'object' && named !== null ? Object.keys(named) : null;
  return {
    resources: asked === null ? null : RESOURCES.filter(name => asked.includes(name)),
    full: payload['full'] === true,
  };
}

export interface Situation {
  readonly organizationId: string;
  readonly wish: Wish;
  /** A scheduled sync spares what takes long, and only a person is never made to wait. */
  readonly trigger: string;
  /** Null where the registry does not say them: then everything is asked for, and a refusal believed. */
  readonly permissions: Permissions | null;
  readonly permissionsChanged: boolean;
  readonly mirrorMembers: boolean;
  readonly now: number;
  readonly last: ReadonlyMap<string, LastRead>;
  /** Of what was declined: for which the organization has accepted new permissions since it was asked for. */
  readonly reaccepted: ReadonlySet<string>;
  /** Of what is read seldom: for which a delivery has come that no read has answered. */
  readonly announced: ReadonlySet<string>;
}

/** What a plan goes by. */
export type LastRead = Omit<KnownRead, 'isStrange' | 'pageSize'>;

export interface Plan {
  readonly read: readonly Resource[];
  /** Nothing is asked for these: the permission is missing. */
  readonly unpermitted: readonly Resource[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A resource that takes a minute to read is read on the schedule every ten minutes at most. */
const REST_FACTOR = 10;

export function plan(situation: Situation): Plan {
  const wanted = RESOURCES.filter(
    resource =>
      (situation.wish.resources?.includes(resource) ?? true) &&
      (resource !== 'members' || situation.mirrorMembers),
  );
  const unpermitted = wanted.filter(resource => !isPermitted(situation.permissions, resource));
  return {
    read: wanted.filter(resource => !unpermitted.includes(resource) && isDue(situation, resource)),
    unpermitted,
  };
}

export function isPermitted(permissions: Permissions | null, resource: Resource): boolean {
  const needed = ENTRY_OF[resource].permission;
  return needed === null || permissions === null || hasPermission(permissions, needed, 'VIEW');
}

function isDue(situation: Situation, resource: Resource): boolean {
  const { wish, trigger, permissionsChanged, now, last, reaccepted } = situation;
  const before = last.get(resource);
  if (before === undefined || permissionsChanged || trigger === 'person') return true;
  if (before.declined !== null) return reaccepted.has(resource) || isDoubted(situation, before);
  if (wish.full || wish.resources !== null) return true;
  if (trigger !== 'schedule') return true;
  const restMs = since(before.dataAsOf, now) - before.durationMs;
  if (restMs < before.durationMs * REST_FACTOR) return false;
  return situation.announced.has(resource) || isItsTurn(before, situation);
}

/**
 * What is read seldom has its place in that time, other for each organization: those that were read together the first
 * time are not always. A read that failed since is made up for.
 */
function isItsTurn(
  { dataAsOf, attemptedAt, everyMs }: LastRead,
  { now, organizationId }: Situation,
): boolean {
  if (everyMs === null || dataAsOf === null || (attemptedAt ?? 0) > dataAsOf) return true;
  const ageMs = since(dataAsOf, now);
  if (ageMs < everyMs / 2 || ageMs >= everyMs) return ageMs >= everyMs;
  const turnOf = (at: number) => Math.floor((at - offsetInInterval(organizationId, everyMs)) / everyMs);
  return turnOf(now) > turnOf(dataAsOf);
}

/** Reads end before the next time comes: they are spread over this part of the interval. */
const PART = 0.8;

/** Where in the interval an organization has its place: always the same, and evenly over all of them. */
export function offsetInInterval(organizationId: string, intervalMs: number): number {
  const hash = createHash('sha256').update(organizationId).digest().readUInt32BE(0);
  return Math.floor((hash / 2 ** 32) * intervalMs * PART);
}

/** Whether to ask once more for what was declined. */
function isDoubted(situation: Situation, before: LastRead): boolean {
  return since(before.attemptedAt, situation.now) >= believedMs(before, situation);
}

/** What was never offered is looked at daily, and again where that broke. A refusal is believed ever longer, by a delivery for a minute only. */
function believedMs({ declined, refusals, dataAsOf }: LastRead, { trigger, wish }: Situation): number {
  if (declined === 'not_offered' && dataAsOf === null) return wish.resources === null ? DAY_MS : 0;
  if (trigger === 'delivery') return MINUTE_MS;
  return Math.min(MINUTE_MS * 2 ** Math.max(0, refusals - 1), DAY_MS);
}

/** An instant in the future was told by a clock that has been put right since: nobody knows how long ago that was. */
function since(instant: number | null, now: number): number {
  return instant === null || instant > now ? Infinity : now - instant;
}
