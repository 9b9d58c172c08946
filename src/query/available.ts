import type { Reader } from '../engines/contract/reader.js';
import type { Row } from '../engines/contract/tables.js';
import { NULLS_FIRST } from './by-name.js';
import { inSnapshot } from './snapshot.js';

export interface Demand {
  /** Null for all of them. */
  readonly organizationId: string | null;
  /** Whatever was read completely within so many seconds may be sold; null where only what is current may. */
  readonly maxAgeSeconds: number | null;
}

/** A warehouse from which nothing is to be sold now, and why. */
export interface LeftOut {
  readonly organizationId: string;
  readonly organizationName: string | null;
  readonly state: string;
  /** Start of its last complete read; null before the first. */
  readonly completeAt: string | null;
  readonly ageSeconds: number | null;
  readonly rows: number;
  /** Tonnes, to look at. */
  readonly amount: number | null;
  readonly error: string | null;
}

export interface Available {
  /** How many warehouses are known at all. */
  readonly warehouses: number;
  readonly rows: readonly Row[];
  readonly leftOut: readonly LeftOut[];
}

/** Of these nothing is expected: they are told of only where something is known. */
const CLOSED = ['suspended', 'uninstalled', 'forbidden', 'not_offered'];
/** What was completely read counts for as long as it was asked for, whatever happened since. */
const KNOWN = ['current', 'late', 'behind', 'failing', 'partial'];

/** What can be sold now, and what is known and is not to be sold. Each warehouse is in one of both or empty. */
export async function readAvailable(reader: Reader, demand: Demand): Promise<Available> {
  return await inSnapshot(reader, async snapshot => {
    const warehouses = await readWarehouses(snapshot, demand.organizationId);
    const sold = warehouses.filter(warehouse => mayBeSold(warehouse, demand.maxAgeSeconds));
    return {
      warehouses: warehouses.length,
      rows: await readRows(
        snapshot,
        sold.map(({ organizationId }) => organizationId),
      ),
      leftOut: warehouses.filter(
        warehouse => !sold.includes(warehouse) && (warehouse.rows > 0 || !CLOSED.includes(warehouse.state)),
      ),
    };
  });
}

function mayBeSold({ state, ageSeconds }: LeftOut, maxAgeSeconds: number | null): boolean {
  if (maxAgeSeconds === null) return state === 'current';
  return KNOWN.includes(state) && ageSeconds !== null && ageSeconds >= 0 && ageSeconds <= maxAgeSeconds;
}

/** Each warehouse that is known, and those that should be: of an installation that is active. */
async function readWarehouses(reader: Reader, organizationId: string | null): Promise<LeftOut[]> {
  const asked = reader.db
    .selectFrom(known(reader).as('k'))
    .leftJoin('organizations as o', 'o.id', 'k.organization_id')
    .select(eb => [
      'k.organization_id as organizationId',
      'o.full_name as organizationName',
      'k.state',
      'k.complete_at as completeAt',
      'k.age_seconds as ageSeconds',
      'k.rows',
      'k.error',
      eb
        .selectFrom('warehouse_sums as s')
        .select(sums => sums.fn.sum<number>('s.amount').as('amount'))
        .whereRef('s.organization_id', '=', 'k.organization_id')
        .as('amount'),
    ])
    .orderBy('o.full_name', NULLS_FIRST)
    .orderBy('k.organization_id');
  return await (organizationId === null
    ? asked
    : asked.where('k.organization_id', '=', organizationId)
  ).execute();
}

function known({ db }: Reader) {
  const read = db.selectFrom('resource_states').select('organization_id').where('resource', '=', 'warehouse');
  const nothing = db
    .selectFrom('installations')
    .where('state', '=', 'active')
    .where('organization_id', 'is not', null)
    .where('organization_id', 'not in', read)
    .distinct()
    .select(eb => [
      eb.ref('organization_id').$notNull().as('organization_id'),
      eb.val('never_read').as('state'),
      eb.lit(null).$castTo<string | null>().as('complete_at'),
      eb.lit(null).$castTo<number | null>().as('age_seconds'),
      eb.lit(0).$castTo<number>().as('rows'),
      eb.lit(null).$castTo<string | null>().as('error'),
    ]);
  return db
    .selectFrom('freshness')
    .where('resource', '=', 'warehouse')
    .select(eb => [
      'organization_id',
      eb.ref('state').$castTo<string>().as('state'),
      'complete_at',
      'age_seconds',
      'rows',
      'error',
    ])
    .unionAll(nothing);
}

async function readRows({ db, say }: Reader, organizationIds: readonly string[]): Promise<Row[]> {
  return await db
    .selectFrom('warehouse_sums')
    .selectAll()
    .where('organization_id', 'in', say.each(organizationIds))
    .orderBy('organization_name', NULLS_FIRST)
    .orderBy('organization_id')
    .orderBy('project_name', NULLS_FIRST)
    .orderBy('vintage', NULLS_FIRST)
    .orderBy('type', NULLS_FIRST)
    .orderBy('project_id', NULLS_FIRST)
    .execute();
}
