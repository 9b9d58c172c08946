import type { AccessMark, MirrorPort, ListState } from '../../mirror/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { Resource } from '../../resources/lists.js';
import { statement, type Database } from '../statement.js';
import { assertNotFenced, raiseFence } from './fence.js';

type Flags = 'hasOpenSync' | 'isOwnerNamed' | 'isStrange';
type Instants = 'attemptedAt' | 'dataAsOf';
/** As engines answer it: one of them has no booleans. */
type Row = Omit<ListState, Flags | Instants> &
  Readonly<Record<Flags, boolean | number | null>> &
  Readonly<Record<Instants, string | null>> & { readonly resource: Resource };

const STATES = statement<{ organizationId: string }, Row>(
  `SELECT resource, rows, open_sync IS NOT NULL AS "hasOpenSync", doubted_at AS "doubtedAt", doubted, stamp_at AS "stampAt",
     owner_named = 1 AS "isOwnerNamed", outcome, page_digests AS "pageDigests",
     CASE WHEN not_offered_at IS NOT NULL THEN 'not_offered'
       WHEN no_permission_at IS NOT NULL AND refusals > 0 THEN 'refused' END AS declined,
     refusals, attempted_at AS "attemptedAt", as_of AS "dataAsOf", coalesce(duration_ms, 0) AS "durationMs",
     every_seconds * 1000 AS "everyMs", answer_text IS NOT NULL AS "isStrange", page_size AS "pageSize"
   FROM mirror.resource_states WHERE organization_id = @organizationId`,
);

function openingOf({
  resource: _,
  hasOpenSync,
  isOwnerNamed,
  isStrange,
  attemptedAt,
  dataAsOf,
  ...rest
}: Row): ListState {
  return {
    ...rest,
    hasOpenSync: Boolean(hasOpenSync),
    isOwnerNamed: Boolean(isOwnerNamed),
    isStrange: Boolean(isStrange),
    attemptedAt: toMilliseconds(attemptedAt),
    dataAsOf: toMilliseconds(dataAsOf),
  };
}

export function toMilliseconds(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}

const INTERRUPT = statement<{ organizationId: string; part: string; claim: number; at: string }>(
  `UPDATE mirror.syncs SET state = 'failed', finished_at = @at, error_code = 'interrupted',
     error = 'the work was interrupted before it ended'
   WHERE state = 'running' AND organization_id = @organizationId AND claim < @claim
     AND (resource = 'certificates') = (@part = 'certificates')`,
);

type Resources = { readonly organizationId: string; readonly resources: string };

const PREPARE = statement<Resources>(
  ({ rows }) =>
    `INSERT INTO mirror.resource_states (organization_id, resource)
     SELECT @organizationId, named.resource FROM ${rows('@resources', 'named', { resource: 'text' })} WHERE true
     ON CONFLICT DO NOTHING`,
);

/** So that each of them has a state from then on. */
export function ensureStates(organizationId: string, resources: readonly string[]) {
  return PREPARE({ organizationId, resources: listOf(resources) });
}

function listOf(resources: readonly string[]): string {
  return JSON.stringify(resources.map(resource => [resource]));
}

/** Where it was not even asked for, what went wrong before is no matter any more. */
const MARKS: Readonly<Record<AccessMark, ReturnType<typeof markBy>>> = {
  no_permission:
    markBy(`no_permission_at = coalesce(no_permission_at, @at), refusals = 0, not_offered_at = NULL,
    error_code = NULL, error = NULL, failing_since = NULL, webhook_failed = 0`),
  refused: markBy(
    `no_permission_at = coalesce(no_permission_at, @at), refusals = refusals + 1, not_offered_at = NULL`,
  ),
  not_offered: markBy(
    `not_offered_at = coalesce(not_offered_at, @at), refusals = refusals + 1, no_permission_at = NULL`,
  ),
};

function markBy(words: string) {
  return statement<Resources & { at: string }>(
    ({ rows }) =>
      `UPDATE mirror.resource_states SET ${words} WHERE organization_id = @organizationId
       AND resource IN (SELECT named.resource FROM ${rows('@resources', 'named', { resource: 'text' })})`,
  );
}

export function createStates({
  look,
  transact,
}: Database): Pick<MirrorPort, 'readListStates' | 'raiseFence' | 'markAccess'> {
  return {
    readListStates: async organizationId => {
      const [rows] = await look(STATES({ organizationId }));
      return new Map(rows.map(row => [row.resource, openingOf(row)] as const));
    },
    raiseFence: ({ organizationId, part, claim }, at) =>
      transact(async batch => {
        const task = { organizationId, part, claim };
        const [, seen] = await batch(...raiseFence(task), INTERRUPT({ ...task, at: formatInstant(at) }));
        assertNotFenced(seen, task);
      }),
    markAccess: (how, task, resources, at) =>
      transact(async batch => {
        const { organizationId } = task;
        const marked = MARKS[how]({ organizationId, resources: listOf(resources), at: formatInstant(at) });
        const [, seen] = await batch(...raiseFence(task), ensureStates(organizationId, resources), marked);
        assertNotFenced(seen, task);
      }),
  };
}
