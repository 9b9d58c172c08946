import { given, known } from './perform.js';

/**
 * Takes the row of the fence before anything else is looked at: a statement that only read it could wait for another lock
 * with what it read, and write past a newer claim.
 */
const HOLD = `
  INSERT INTO mirror.fences AS f (organization_id, part, claim)
  VALUES (${given('organization_id')}, ${given('part')}, ${given('claim', 'bigint')})
  ON CONFLICT (organization_id, part) DO UPDATE SET claim = excluded.claim WHERE f.claim <= excluded.claim
  RETURNING jsonb_build_object('held', claim)`;

const DEMAND_HELD = `
  SELECT jsonb_build_object('refused', 'fenced', 'message',
    format('claim %s was taken over by claim %s', ${given('claim')}, claim))
  FROM mirror.fences
  WHERE NOT $2 ? 'held' AND organization_id = ${given('organization_id')} AND part = ${given('part')}`;

/** Refuses older claims from now on, and this one where it is older. */
export const FENCE: readonly string[] = [HOLD, DEMAND_HELD];

/** No installation changes its state until the transaction has ended. */
const DEMAND_ACTIVE = `
  WITH theirs AS (
    SELECT state FROM mirror.installations WHERE organization_id = ${given('organization_id')} FOR SHARE
  )
  SELECT jsonb_build_object('refused', 'not_active', 'message',
    'the organization has no active installation any more')
  FROM theirs HAVING NOT bool_or(state = 'active')`;

const DEMAND_NEWEST = `
  SELECT jsonb_build_object('refused', 'stale_read', 'message',
    'a newer read of the same resource has already written')
  FROM mirror.resource_states
  WHERE organization_id = ${given('organization_id')} AND resource = ${given('resource')}
    AND read_claim = ${given('claim', 'bigint')} AND read_at > ${given('started_at', 'timestamptz')}`;

/** What every commit of a sync must pass. */
export const GUARD: readonly string[] = [...FENCE, DEMAND_ACTIVE, DEMAND_NEWEST];

const WHOSE = `coalesce(${known('organization_id')}, ${given('organization_id')})`;

export const PREPARE_STATES = `
  INSERT INTO mirror.resource_states (organization_id, resource)
  SELECT ${WHOSE}, resource
  FROM jsonb_array_elements_text($1 -> 'resources') AS wanted (resource)
  WHERE ${WHOSE} IS NOT NULL
  ON CONFLICT DO NOTHING
  RETURNING '{}'::jsonb`;

/** Reserves version numbers, under the lock of all who write versions: theirs are seen in the order of the numbers. */
export const NUMBER = `
  UPDATE mirror.version_counter SET last = last + ${given('wanted', 'bigint')}
  RETURNING jsonb_build_object('first', last - ${given('wanted', 'bigint')} + 1)`;
