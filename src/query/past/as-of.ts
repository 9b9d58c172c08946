import { AT_ONCE, type Reader } from '../../engines/contract/reader.js';
import type { Row } from '../../engines/contract/tables.js';
import { NAME_OF_OWNER } from '../../resources/entry.js';
import { LISTS } from '../../resources/lists.js';
import { byName, NULLS_FIRST, stoodAt } from '../by-name.js';
import { count } from '../count.js';
import { UNREADABLE } from '../unreadable.js';

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

/** Until when a list is known that nobody can read any more: the start of its last complete read, or the end of its only one. */
export async function readKnownUntil(
  { db }: Reader,
  { organizationId, resource }: Omit<ReadAt, 'at'>,
): Promise<string | null> {
  const row = await ended({ db })
    .where('f.organization_id', '=', organizationId)
    .where('f.resource', '=', resource)
    .executeTakeFirst();
  return row?.until ?? null;
}

function ended({ db }: Pick<Reader, 'db'>) {
  return db
    .selectFrom('freshness as f')
    .innerJoin('resource_states as s', join =>
      join.onRef('s.organization_id', '=', 'f.organization_id').onRef('s.resource', '=', 'f.resource'),
    )
    .where('f.state', 'in', UNREADABLE)
    .select(eb => [
      'f.organization_id as organizationId',
      eb
        .case()
        .when('s.first_complete_at', '>', eb.ref('f.complete_at'))
        .then(eb.ref('s.first_complete_at'))
        .else(eb.ref('f.complete_at'))
        .end()
        .as('until'),
    ]);
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
  reader: Reader,
  { organizationId, resource, at }: ReadAt,
): Promise<ReadUnderWay | null> {
  const row = await underWay(reader, resource, at)
    .where('organization_id', '=', organizationId)
    .select(['started_at as from', 'finished_at as to'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** What cannot be known of a resource as it stood at an instant: of whom, and why. */
export interface Gap {
  /** Its installation's, where only a webhook has named that and nobody has looked yet. */
  readonly organizationId: string;
  readonly name: string | null;
  /** Null where it was known; else since when it is, where it ever was, and until when, where it had ended by then. */
  readonly unknown: { readonly since: string | null; readonly until: string | null } | null;
  /** Since when a read was under way. */
  readonly reading: string | null;
}

/** Of one organization, or of all of them. */
export async function readGaps(
  reader: Reader,
  resource: string,
  at: string,
  organizationId: string | null,
): Promise<Gap[]> {
  const { db } = reader;
  const reads = await underWay(reader, resource, at)
    .select(['organization_id as organizationId', 'started_at as from'])
    .orderBy('id', 'desc')
    .execute();
  const asked = db
    .selectFrom('resource_states as s')
    .leftJoin('organizations as o', 'o.id', 's.organization_id')
    .where('s.resource', '=', resource)
    .select(['s.organization_id as organizationId', 'o.full_name as name', 's.first_complete_at as since'])
    .orderBy('s.organization_id');
  const states = await (organizationId === null
    ? asked
    : asked.where('s.organization_id', '=', organizationId)
  ).execute();
  const unread = organizationId === null ? await readUnread(reader) : [];
  const ends = await ended(reader).where('f.resource', '=', resource).execute();
  return [...states, ...unread].flatMap(({ since, ...state }) => {
    const end = ends.find(each => each.organizationId === state.organizationId)?.until ?? null;
    const until = since !== null && end !== null && end < at ? end : null;
    const isKnown = since !== null && since <= at && until === null;
    const reading = reads.find(each => each.organizationId === state.organizationId)?.from ?? null;
    return isKnown && reading === null
      ? []
      : [{ ...state, unknown: isKnown ? null : { since, until }, reading }];
  });
}

/** Those that are known, and that nobody has looked at yet. */
async function readUnread({ db }: Reader) {
  return await db
    .selectFrom('coverage')
    .where('state', '=', 'never_read')
    .select(eb => [
      eb.fn.coalesce('organization_id', 'installation_id').as('organizationId'),
      'organization_name as name',
      eb.lit(null).$castTo<string | null>().as('since'),
    ])
    .orderBy('installation_id')
    .execute();
}

function underWay({ db }: Reader, resource: string, at: string) {
  return db
    .selectFrom('sync_runs')
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
    );
}

/** What stood in the warehouses at an instant, added up. */
export async function readStoodAt({ db }: Reader, at: string) {
  return await db
    .selectFrom('warehouse_credits_history as w')
    .leftJoin('organizations_history as o', join =>
      join.onRef('o.id', '=', 'w.organization_id').on(stoodAt(at, 'o')),
    )
    .where(stoodAt(at, 'w'))
    .groupBy(['w.organization_id', 'o.full_name', 'w.project_id', 'w.project_name', 'w.vintage', 'w.type'])
    .select(eb => [
      'w.organization_id',
      'o.full_name as organization_name',
      'w.project_id',
      'w.project_name',
      'w.vintage',
      'w.type',
      eb.fn.sum<number | null>('w.amount_micro').as('amount_micro'),
      eb(eb.fn.countAll<number>(), '-', eb.fn.count<number>('w.amount_micro')).as('rows_not_summed'),
    ])
    .orderBy('o.full_name', NULLS_FIRST)
    .orderBy('w.organization_id')
    .orderBy('w.project_name', NULLS_FIRST)
    .orderBy('w.vintage', NULLS_FIRST)
    .orderBy('w.type', NULLS_FIRST)
    .orderBy('w.project_id', NULLS_FIRST)
    .execute();
}

/** How many rows of an organization a table held at an instant. */
export async function countAt(
  reader: Reader,
  table: string,
  owner: string,
  { organizationId, at }: Omit<ReadAt, 'resource'>,
) {
  const asked = byName(reader)
    .selectFrom(`${table}_history`)
    .where(owner, '=', organizationId)
    .where(stoodAt(at));
  return await count(asked);
}

/** The rows that were true at the instant, as far as the mirror had been told by then. */
export function readAsOf(reader: Reader, { organizationId, resource, at }: AsOf): AsyncIterable<Row> {
  const { table, columns, order } = DATED[resource];
  let asked = byName(reader)
    .selectFrom(`${table}_history`)
    .select(eb => [
      ...columns.filter(name => name !== 'valid_to'),
      // By then nobody had been told when it ends.
      eb.lit(null).as('valid_to'),
      'amount_micro',
    ])
    .where('organization_id', '=', organizationId)
    .where(stoodAt(at));
  for (const column of order) asked = asked.orderBy(column, NULLS_FIRST);
  return asked.stream(AT_ONCE);
}

export async function readOrganizationIds({ db }: Reader): Promise<string[]> {
  const asked = db.selectFrom('resource_states').select('organization_id').distinct();
  const rows = await asked.orderBy('organization_id').execute();
  return rows.map(row => row.organization_id);
}
