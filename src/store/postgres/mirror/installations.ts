import type { MirrorPort, Written } from '../../../mirror/port.js';
import { formatInstant } from '../../../resources/columns.js';
import { columnsOf } from '../../../resources/entry.js';
import { INSTALLATIONS } from '../../../resources/installations.js';
import { causeColumns } from '../../resource-state.js';
import { PREPARE_STATES } from './fence.js';
import { given, known, type Perform } from './perform.js';
import { archived, names } from './versions.js';

/** Whose it is, which decides about the fence. Nothing is held yet: who holds a fence looks at installations. */
const WHOSE = `
  SELECT jsonb_build_object('is_known', $1 ->> 'document' IS NOT NULL OR i.id IS NOT NULL,
    'organization_id', CASE WHEN $1 ->> 'document' IS NULL THEN i.organization_id ELSE ${given('organization_id')} END)
  FROM (SELECT 1) AS one LEFT JOIN mirror.installations AS i ON i.id = ${given('id')}`;

const HOLD = `
  WITH held AS (
    INSERT INTO mirror.fences AS f (organization_id, part, claim)
    SELECT ${known('organization_id')}, 'data', ${given('claim', 'bigint')}
    WHERE ${known('organization_id')} IS NOT NULL
    ON CONFLICT (organization_id, part) DO UPDATE SET claim = excluded.claim WHERE f.claim <= excluded.claim
    RETURNING claim
  )
  SELECT jsonb_build_object('held', EXISTS (SELECT 1 FROM held) OR ${known('organization_id')} IS NULL)`;

const DEMAND_HELD = `
  SELECT jsonb_build_object('refused', 'fenced', 'message',
    format('claim %s was taken over by claim %s', ${given('claim')}, claim))
  FROM mirror.fences
  WHERE NOT ${known('held', 'boolean')} AND organization_id = ${known('organization_id')} AND part = 'data'`;

/** Permissions may come from elsewhere than the document. */
const COMPARE = `
  SELECT jsonb_build_object('is_new', i.id IS NULL, 'is_changed', ${known('is_known', 'boolean')} AND (
    i.state IS DISTINCT FROM ${given('state')}
    OR ($1 ->> 'document' IS NOT NULL
      AND (i.permissions, i.document) IS DISTINCT FROM (${given('permissions')}, ${given('document')}))))
  FROM (SELECT 1) AS one LEFT JOIN mirror.installations AS i ON i.id = ${given('id')}`;

const IF_CHANGED = `WHERE ${known('is_changed', 'boolean')}`;

const NUMBER = `
  UPDATE mirror.version_counter SET last = last + 1 ${IF_CHANGED} RETURNING jsonb_build_object('first', last)`;

const ENTER_SYNC = `
  INSERT INTO mirror.syncs (organization_id, resource, trigger, claim, started_at, finished_at, state,
    rows_added, rows_changed, answered_at, job_id, delivery_id, last_number)
  SELECT ${known('organization_id')}, 'installation', ${given('trigger')}, ${given('claim', 'bigint')},
    ${given('started_at', 'timestamptz')}, ${given('ended_at', 'timestamptz')}, 'complete',
    ${known('is_new', 'boolean')}::int, (NOT ${known('is_new', 'boolean')})::int,
    ${given('arrived_at', 'timestamptz')}, ${given('job_id', 'bigint')}, ${given('delivery_id', 'bigint')},
    ${known('first', 'bigint')}
  ${IF_CHANGED} RETURNING jsonb_build_object('sync', id)`;

const TYPES: Readonly<Record<string, string>> = { created_at: 'timestamptz', updated_at: 'timestamptz' };
const VALUES: Readonly<Record<string, string>> = {
  version: known('first', 'bigint'),
  id: given('id'),
  organization_id: known('organization_id'),
  state: given('state'),
  sync_id: known('sync', 'bigint'),
  valid_from: 'd.at',
};
/** Where the registry does not show it any more, what is known of it stays. */
const NEW_ROW = columnsOf(INSTALLATIONS)
  .map(
    name =>
      VALUES[name] ??
      `CASE WHEN $1 ->> 'document' IS NULL THEN i.${name} ELSE ${given(name, TYPES[name] ?? 'text')} END`,
  )
  .join(', ');

const REPLACED = `FROM mirror.installations AS v CROSS JOIN dated ${IF_CHANGED} AND id = ${given('id')}`;

/** The row itself is changed, never replaced: who waits for it sees what it has become. */
const WRITE = `
  WITH dated AS (
    SELECT greatest(${given('arrived_at', 'timestamptz')}, interval '1 millisecond' + coalesce(
      (SELECT valid_from FROM mirror.installations WHERE id = ${given('id')}),
      (SELECT max(valid_to) FROM mirror.installations_history WHERE id = ${given('id')}))) AS at
  ),
  archived AS (
    ${archived(INSTALLATIONS, { at: 'at', number: known('first', 'bigint') }, REPLACED)}
  )
  INSERT INTO mirror.installations (${names(INSTALLATIONS)})
  SELECT ${NEW_ROW} FROM dated AS d LEFT JOIN mirror.installations AS i ON i.id = ${given('id')} ${IF_CHANGED}
  ON CONFLICT (id) DO UPDATE SET ${columnsOf(INSTALLATIONS)
    .map(name => `${name} = excluded.${name}`)
    .join(', ')}
  RETURNING '{}'::jsonb`;

const ANSWER = `
  DELETE FROM mirror.awaited_installations WHERE id = ${given('id')} RETURNING '{}'::jsonb`;

/** What is taken from the document alone. */
const OWN: Readonly<Record<string, string>> = {
  organization_id: `coalesce(${given('organization_id')}, i.organization_id)`,
  app_id: given('app_id'),
  created_at: given('created_at', 'timestamptz'),
  updated_at: given('updated_at', 'timestamptz'),
};

/** Where nothing is new, a column that is otherwise was changed by hand. */
const MEND = `
  UPDATE mirror.installations AS i SET ${Object.entries(OWN)
    .map(([name, told]) => `${name} = ${told}`)
    .join(', ')}
  WHERE NOT ${known('is_changed', 'boolean')} AND $1 ->> 'document' IS NOT NULL AND i.id = ${given('id')}
    AND (${Object.keys(OWN).join(', ')}) IS DISTINCT FROM (${Object.values(OWN).join(', ')})
  RETURNING '{}'::jsonb`;

const STEPS = [WHOSE, HOLD, DEMAND_HELD, PREPARE_STATES, COMPARE, NUMBER, ENTER_SYNC, WRITE, MEND, ANSWER];

/** An organization none of whose installations is active is frozen: reads are refused. */
export function createWriteInstallation(perform: Perform): MirrorPort['writeInstallation'] {
  return async (id, row, read): Promise<Written> => {
    const { state, claim, trigger, resources } = read;
    const { is_changed: isChanged, is_new: isNew } = await perform<{ is_changed: boolean; is_new: boolean }>(
      STEPS,
      {
        ...row,
        id,
        state,
        claim,
        trigger,
        resources,
        started_at: formatInstant(read.startedAt),
        arrived_at: formatInstant(read.arrivedAt),
        ended_at: formatInstant(read.endedAt),
        ...causeColumns(read.cause),
      },
    );
    if (!isChanged) return 'unchanged';
    return isNew ? 'added' : 'changed';
  };
}
