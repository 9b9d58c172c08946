import { AT_ONCE, type Reader } from '../engines/contract/reader.js';
import type { Row } from '../engines/contract/tables.js';
import { NAME_OF_OWNER } from '../resources/entry.js';
import { LISTS } from '../resources/lists.js';
import { byName, NULLS_FIRST } from './by-name.js';

const DATES = ['valid_from', 'valid_to'] as const;

function credits(entry: (typeof LISTS)['warehouse']) {
  const shown = entry.shown.columns.filter(name => name !== entry.scope && name !== NAME_OF_OWNER);
  return { table: entry.table, columns: [...shown, ...DATES], order: ['credit_id', 'inventory_id'] };
}

export const DATED = {
  warehouse: credits(LISTS.warehouse),
  inventory: credits(LISTS.inventory),
  retirements: {
    table: LISTS.retirements.table,
    columns: [
      'created_at',
      'amount_exact',
      'beneficiary',
      'reason',
      'project_name',
      'vintage',
      'id',
      ...DATES,
    ],
    order: ['created_at', 'id'],
  },
} as const;
export type DatedResource = keyof typeof DATED;

export interface ReadAt {
  readonly organizationId: string;
  readonly resource: string;
  /** An instant in the form of the mirror's own. */
  readonly at: string;
}

export interface AsOf extends ReadAt {
  readonly resource: DatedResource;
}

/** End of the first complete read: what was before it is not known. Null where there was none. */
export async function readKnownSince(
  { db }: Reader,
  { organizationId, resource }: Omit<ReadAt, 'at'>,
): Promise<string | null> {
  const row = await db
    .selectFrom('resource_states')
    .select('first_complete_at')
    .where('organization_id', '=', organizationId)
    .where('resource', '=', resource)
    .executeTakeFirst();
  return row?.first_complete_at ?? null;
}

/** Start of the last complete read that had ended by the instant, as far back as sync runs are kept. */
export async function readLastReadBefore(
  { db }: Reader,
  { organizationId, resource, at }: ReadAt,
): Promise<string | null> {
  const { from } = await db
    .selectFrom('sync_runs')
    .select(eb => eb.fn.max<string | null>('started_at').as('from'))
    .where('organization_id', '=', organizationId)
    .where('resource', '=', resource)
    .where('state', '=', 'complete')
    .where('finished_at', '<=', at)
    .executeTakeFirstOrThrow();
  return from;
}

export interface ReadUnderWay {
  readonly from: string;
  /** Null where it still runs. */
  readonly to: string | null;
}

/** The read that was under way at the instant and changed something: what it had not told by then is not shown. */
export async function readReadAt(
  { db }: Reader,
  { organizationId, resource, at }: ReadAt,
): Promise<ReadUnderWay | null> {
  const row = await db
    .selectFrom('sync_runs')
    .select(['started_at as from', 'finished_at as to'])
    .where('organization_id', '=', organizationId)
    .where('resource', '=', resource)
    .where('started_at', '<=', at)
    .where(eb => eb.or([eb('finished_at', 'is', null), eb('finished_at', '>', at)]))
    .where(eb =>
      eb.or([
        eb('state', '=', 'running'),
        eb('rows_added', '>', 0),
        eb('rows_changed', '>', 0),
        eb('rows_removed', '>', 0),
      ]),
    )
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** The rows that were true at the instant, as far as the mirror had been told by then. */
export function readAsOf(reader: Reader, { organizationId, resource, at }: AsOf): AsyncIterable<Row> {
  const { table, columns, order } = DATED[resource];
  let asked = byName(reader)
    .selectFrom(`${table}_history`)
    .select([...columns, 'amount_micro'])
    .where('organization_id', '=', organizationId)
    .where('valid_from', '<=', at)
    .where(eb => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', at)]));
  for (const column of order) asked = asked.orderBy(column, NULLS_FIRST);
  return asked.stream(AT_ONCE);
}

export async function readOrganizationIds({ db }: Reader): Promise<string[]> {
  const asked = db.selectFrom('resource_states').select('organization_id').distinct();
  const rows = await asked.orderBy('organization_id').execute();
  return rows.map(row => row.organization_id);
}
