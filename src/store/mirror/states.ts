import type { Mark, MirrorPort } from '../../mirror/port.js';
import { formatInstant } from '../../resources/columns.js';
import type { Resource } from '../../resources/lists.js';
import { OPENING, type OpeningRow, openingOf } from '../resource-state.js';
import { statement, type Database } from '../statement.js';
import { demandHeld, fence } from './fence.js';

const STATES = statement<{ organizationId: string }, OpeningRow & { readonly resource: Resource }>(
  `SELECT ${OPENING} FROM mirror.resource_states WHERE organization_id = @organizationId`,
);
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
export function prepareStates(organizationId: string, resources: readonly string[]) {
  return PREPARE({ organizationId, resources: listOf(resources) });
}

function listOf(resources: readonly string[]): string {
  return JSON.stringify(resources.map(resource => [resource]));
}

/** Where it was not even asked for, what went wrong before is no matter any more. */
const MARKS: Readonly<Record<Mark, ReturnType<typeof markBy>>> = {
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
}: Database): Pick<MirrorPort, 'states' | 'raiseFence' | 'mark'> {
  return {
    states: async organizationId => {
      const [rows] = await look(STATES({ organizationId }));
      return new Map(rows.map(row => [row.resource, openingOf(row)] as const));
    },
    raiseFence: ({ organizationId, part, claim }, at) =>
      transact(async batch => {
        const task = { organizationId, part, claim };
        const [, seen] = await batch(...fence(task), INTERRUPT({ ...task, at: formatInstant(at) }));
        demandHeld(seen, task);
      }),
    mark: (how, task, resources, at) =>
      transact(async batch => {
        const { organizationId } = task;
        const marked = MARKS[how]({ organizationId, resources: listOf(resources), at: formatInstant(at) });
        const [, seen] = await batch(...fence(task), prepareStates(organizationId, resources), marked);
        demandHeld(seen, task);
      }),
  };
}
