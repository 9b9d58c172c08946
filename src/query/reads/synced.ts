import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import type { Asked } from './sync-progress.js';

export const SYNCED_COLUMNS = [
  'organization',
  'resource',
  'added',
  'changed',
  'removed',
  'unchanged',
  'state',
  'reason',
  'error',
] as const;

export type Synced = Awaited<ReturnType<typeof readSynced>>[number];

/** What became of each resource since the mark; an organization that is gone is left out unless it was named. */
export async function readSynced(reader: Reader, asked: Asked, resources: readonly string[]) {
  const rows = await readStates(reader, asked, resources);
  return rows.map(({ attempted_at: attemptedAt, error_code: code, ...row }) => ({
    ...row,
    /** As freshness has it, or `not_read` where it was not asked for this time and nothing else is wrong. */
    state: isReadWell(row) && (attemptedAt ?? asked.mark.at) < asked.mark.at ? 'not_read' : row.state,
    /** Whether the registry refused it although the installation permits it. */
    refused: row.reason === 'no_permission' && code === 'forbidden',
    /** Whether some of it was changed by hand, and is as the registry has it again: `error` says what. */
    mended: code === 'mended' && (attemptedAt ?? '') >= asked.mark.at,
  }));
}

/** Nothing is wrong: it is only to be read again. */
export const BEFORE_ITS_TURN: readonly (string | null)[] = [
  'unread_webhook',
  'worker_gone',
  'overdue',
  'clock_changed',
];

/** Whatever came since. */
function isReadWell({
  state,
  reason,
  failing_since: failingSince,
}: Pick<Tables['freshness'], 'state' | 'reason' | 'failing_since'>): boolean {
  return failingSince === null && (state === 'fresh' || BEFORE_ITS_TURN.includes(reason));
}

/** By the names of the organizations. */
async function readStates({ db }: Reader, { mark, organizationId: id }: Asked, resources: readonly string[]) {
  const syncs = db
    .selectFrom('syncs')
    .where('id', '>', mark.sync)
    .groupBy(['organization_id', 'resource'])
    .select(({ fn }) => [
      'organization_id',
      'resource',
      fn.sum<number>('rows_added').as('added'),
      fn.sum<number>('rows_changed').as('changed'),
      fn.sum<number>('rows_removed').as('removed'),
      fn.max('rows_unchanged').as('unchanged'),
    ]);
  return await db
    .selectFrom('freshness as f')
    .innerJoin('resource_states as r', on =>
      on.onRef('r.organization_id', '=', 'f.organization_id').onRef('r.resource', '=', 'f.resource'),
    )
    .leftJoin('organizations as o', 'o.id', 'f.organization_id')
    .leftJoin(syncs.as('s'), on =>
      on.onRef('s.organization_id', '=', 'f.organization_id').onRef('s.resource', '=', 'f.resource'),
    )
    .where('f.resource', 'in', resources)
    .where(eb =>
      id === null ? eb('f.reason', 'is distinct from', 'uninstalled') : eb('f.organization_id', '=', id),
    )
    .select(eb => [
      'r.organization_id',
      eb.fn.coalesce('o.full_name', 'r.organization_id').as('organization'),
      'f.resource',
      eb.fn.coalesce('s.added', eb.lit(0)).as('added'),
      eb.fn.coalesce('s.changed', eb.lit(0)).as('changed'),
      eb.fn.coalesce('s.removed', eb.lit(0)).as('removed'),
      eb.fn.coalesce('s.unchanged', eb.lit(0)).as('unchanged'),
      'f.state',
      'f.reason',
      'f.failing_since',
      'f.error',
      'f.attempted_at',
      'r.error_code',
    ])
    .orderBy('organization')
    .orderBy('r.organization_id')
    .orderBy('f.resource')
    .execute();
}
