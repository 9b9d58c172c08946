/**
 * Decides which resources a sync of an installation reads. Everything that the decision depends on is in `PlanInput`;
 * this module makes no calls and reads no clock.
 * A resource is read if the job asks for it, the installation permits it and it is due. A person's job never waits;
 * a scheduled job spares resources that take long to read or that rarely change; a resource that the registry refused
 * to return is requested again at growing intervals.
 */
import { createHash } from 'node:crypto';
import { type Permissions, hasPermission } from '../registry/object-models.js';
import type { LastRead } from '../mirror/port/read.js';
import { JOB_KINDS, type JobKind } from '../inbox/job.js';
import { LIST_RESOURCES, type Resource } from '../resources/lists.js';
import { ENTRY_BY_RESOURCE } from '../resources/resources.js';

/** Whether a text is the name of a known job kind. */
export function isJobKind(kind: string): kind is JobKind {
  return JOB_KINDS.some(known => known === kind);
}

/** A resource that a sync of an installation reads. Certificates have jobs of their own. */
export type SyncedResource = Exclude<Resource, 'certificates'>;
/** The resources that a sync reads, in the order in which it reads them. */
export const RESOURCES: readonly SyncedResource[] = [...LIST_RESOURCES, 'projects'];

/**
 * The resources that a job must read. The job of a delivery has the payload `{}`, which means all resources, whatever the event
 * of the delivery.
 */
export interface ReadScope {
  /** Null means all resources. */
  readonly resources: readonly SyncedResource[] | null;
  /** Read resources that were read a moment ago too, and check every certificate again. */
  readonly full: boolean;
}

/** Converts a `ReadScope` to a job payload, such as `{ resources: { warehouse: true } }`. */
export function serializeScope(scope: ReadScope): Record<string, unknown> {
  // Resources become keys of an object, so that merging two payloads joins their resources.
  const payload: Record<string, unknown> = {};
  if (scope.resources !== null)
    payload['resources'] = Object.fromEntries(scope.resources.map(name => [name, true]));
  if (scope.full) payload['full'] = true;
  return payload;
}

/** Returns the resources that a job payload says to read. Ignores unknown resources. */
export function parseScope(payload: Readonly<Record<string, unknown>>): ReadScope {
  const { resources: listed, full } = payload;
  const names = typeof listed === 'object' && listed !== null ? Object.keys(listed) : null;
  return {
    resources: names === null ? null : RESOURCES.filter(resource => names.includes(resource)),
    full: full === true,
  };
}

/** How a resource was last read, as far as a plan depends on it. */
export type PreviousRead = Omit<LastRead, 'hadUnexpectedFormat' | 'pageSize'>;

/** Everything that `planReads` depends on. */
export interface PlanInput {
  readonly organizationId: string;
  readonly scope: ReadScope;
  /** Why the job runs: `delivery`, `schedule`, `worker` or `person`. */
  readonly trigger: string;
  /** What the installation permits; null if the registry does not show it. Then every resource is requested. */
  readonly permissions: Permissions | null;
  readonly permissionsChanged: boolean;
  readonly mirrorMembers: boolean;
  readonly now: number;
  readonly previousReads: ReadonlyMap<string, PreviousRead>;
  /** Resources that the registry refused to return, and whose organization has accepted new permissions since the last request. */
  readonly reaccepted: ReadonlySet<string>;
  /** Rarely read resources for which a delivery has arrived since their last complete read. */
  readonly announced: ReadonlySet<string>;
}

/** Which resources a job reads, in this order, and which it must not request. */
export interface ReadPlan {
  readonly read: readonly SyncedResource[];
  /** Resources that the job must read but does not request, because the installation lacks the permission. */
  readonly unpermitted: readonly SyncedResource[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A scheduled read waits ten times as long as the last read took. A read that takes a minute is due every ten minutes at most. */
const REST_FACTOR = 10;

/** Decides which resources a job reads now, and which ones the permissions forbid. */
export function planReads(input: PlanInput): ReadPlan {
  const inScope = RESOURCES.filter(
    resource =>
      (input.scope.resources?.includes(resource) ?? true) && (resource !== 'members' || input.mirrorMembers),
  );
  const unpermitted = inScope.filter(resource => !isPermitted(input.permissions, resource));
  const permitted = inScope.filter(resource => !unpermitted.includes(resource));
  return { read: permitted.filter(resource => isDue(input, resource)), unpermitted };
}

/** Whether the permissions allow reading a resource. Null permissions allow every resource. */
export function isPermitted(permissions: Permissions | null, resource: SyncedResource): boolean {
  const needed = ENTRY_BY_RESOURCE[resource].permission;
  return needed === null || permissions === null || hasPermission(permissions, needed, 'VIEW');
}

/** Whether a job must read this resource now. Call this only for a resource that the permissions allow. */
function isDue(input: PlanInput, resource: SyncedResource): boolean {
  const { scope, trigger, permissionsChanged, now, previousReads, reaccepted, announced } = input;
  const previous = previousReads.get(resource);
  if (previous === undefined || permissionsChanged || trigger === 'person') return true;
  if (previous.declined !== null) return reaccepted.has(resource) || mayRetryDeclined(previous, input);
  if (scope.full || scope.resources !== null || trigger !== 'schedule') return true;
  const restedMs = computeElapsedMs(previous.dataAsOf, now) - previous.durationMs;
  if (restedMs < previous.durationMs * REST_FACTOR) return false;
  return announced.has(resource) || isDueBySchedule(previous, input);
}

/** Whether a resource is due for its regular read. Offsets spread the reads of organizations over time. */
function isDueBySchedule(
  { dataAsOf, attemptedAt, everyMs }: PreviousRead,
  { now, organizationId }: PlanInput,
): boolean {
  // After a failed read the resource is due at once.
  if (everyMs === null || dataAsOf === null || (attemptedAt ?? 0) > dataAsOf) return true;
  const ageMs = computeElapsedMs(dataAsOf, now);
  if (ageMs >= everyMs) return true;
  if (ageMs < everyMs / 2) return false;
  const offsetMs = computeIntervalOffset(organizationId, everyMs);
  const intervalNumber = (instant: number) => Math.floor((instant - offsetMs) / everyMs);
  return intervalNumber(now) > intervalNumber(dataAsOf);
}

/** Reads are spread over this share of the interval, so that they end before the next interval begins. */
const USED_SHARE = 0.8;

/**
 * Returns how long after the start of each interval an organization is read, in milliseconds. A hash of the id spreads the reads of
 * organizations over the first 80 % of the interval (`USED_SHARE`).
 */
export function computeIntervalOffset(organizationId: string, intervalMs: number): number {
  const hash = createHash('sha256').update(organizationId).digest().readUInt32BE(0);
  return Math.floor((hash / 2 ** 32) * intervalMs * USED_SHARE);
}

/** Whether to request a resource again now, after the registry refused to return it. */
function mayRetryDeclined(previous: PreviousRead, input: PlanInput): boolean {
  return computeElapsedMs(previous.attemptedAt, input.now) >= computeRefusedRetryDelay(previous, input);
}

/**
 * Returns how long to wait before the next request of a resource that the registry refused to return. The wait is in milliseconds,
 * and at most a day.
 */
function computeRefusedRetryDelay(
  { declined, refusals, dataAsOf }: PreviousRead,
  { trigger, scope }: PlanInput,
): number {
  // A job that names the resource retries a failed read, so it need not wait.
  if (declined === 'not_offered' && dataAsOf === null) return scope.resources === null ? DAY_MS : 0;
  if (trigger === 'delivery') return MINUTE_MS;
  return Math.min(MINUTE_MS * 2 ** Math.max(0, refusals - 1), DAY_MS);
}

/** Returns the milliseconds since an instant. Returns Infinity for null and for a future instant. */
function computeElapsedMs(instant: number | null, now: number): number {
  return instant === null || instant > now ? Infinity : now - instant;
}
