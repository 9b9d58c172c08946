import type { Reader } from '../engines/contract/reader.js';
import type { Row, Tables } from '../engines/contract/tables.js';
import { NULLS_FIRST } from './by-name.js';
import { inSnapshot } from './snapshot.js';

interface Demand {
  /** Null for all of them. */
  readonly organizationId: string | null;
  /** Whatever was read completely within so many seconds may be sold; null where only what is current may. */
  readonly maxAgeSeconds: number | null;
  readonly only?: Only;
}

/** What of a warehouse is looked for; a project by its id or what its name holds. */
export interface Only {
  readonly project?: string | undefined;
  readonly vintage?: string | undefined;
  readonly type?: string | undefined;
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
    const sums = await readSums(snapshot, demand.organizationId);
    const amounts = amountsIn(sums);
    const warehouses = (await readWarehouses(snapshot, demand.organizationId)).map(warehouse => ({
      ...warehouse,
      amount: amounts.get(warehouse.organizationId) ?? null,
    }));
    const sold = warehouses.filter(warehouse => mayBeSold(warehouse, demand.maxAgeSeconds));
    const soldBy = new Set(sold.map(({ organizationId }) => organizationId));
    return {
      warehouses: warehouses.length,
      rows: sums.filter(sum => soldBy.has(sum.organization_id) && isWanted(sum, demand.only ?? {})),
      leftOut: warehouses.filter(
        warehouse => !sold.includes(warehouse) && (warehouse.rows > 0 || !CLOSED.includes(warehouse.state)),
      ),
    };
  });
}

function isWanted(row: Row, { project, vintage, type }: Only): boolean {
  const name = String(row['project_name'] ?? '').toLowerCase();
  return (
    (project === undefined || row['project_id'] === project || name.includes(project.toLowerCase())) &&
    (vintage === undefined || row['vintage'] === vintage) &&
    (type === undefined || row['type'] === type)
  );
}

function mayBeSold({ state, ageSeconds }: LeftOut, maxAgeSeconds: number | null): boolean {
  if (maxAgeSeconds === null) return state === 'current';
  return KNOWN.includes(state) && ageSeconds !== null && ageSeconds >= 0 && ageSeconds <= maxAgeSeconds;
}

/** Each warehouse that is known, and those that should be: of an installation that is active. */
async function readWarehouses(
  reader: Reader,
  organizationId: string | null,
): Promise<Omit<LeftOut, 'amount'>[]> {
  const asked = reader.db
    .selectFrom(known(reader).as('k'))
    .leftJoin('organizations as o', 'o.id', 'k.organization_id')
    .select([
      'k.organization_id as organizationId',
      'o.full_name as organizationName',
      'k.state',
      'k.complete_at as completeAt',
      'k.age_seconds as ageSeconds',
      'k.rows',
      'k.error',
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
  const installed = db
    .selectFrom('installations')
    .where('state', '=', 'active')
    .where('organization_id', 'is not', null)
    .where('organization_id', 'not in', read)
    .select(eb => eb.ref('organization_id').$notNull().as('organization_id'))
    .distinct();
  const nothing = db
    .selectFrom(installed.as('i'))
    .select(eb => [
      'i.organization_id',
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

type Sum = Tables['warehouse_sums'];

async function readSums({ db }: Reader, organizationId: string | null): Promise<Sum[]> {
  const asked = db
    .selectFrom('warehouse_sums')
    .selectAll()
    .orderBy('organization_name', NULLS_FIRST)
    .orderBy('organization_id')
    .orderBy('project_name', NULLS_FIRST)
    .orderBy('vintage', NULLS_FIRST)
    .orderBy('type', NULLS_FIRST)
    .orderBy('project_id', NULLS_FIRST);
  return await (organizationId === null
    ? asked
    : asked.where('organization_id', '=', organizationId)
  ).execute();
}

/** Added here: engines add in orders of their own, and parts of a tonne come out otherwise. */
function amountsIn(sums: readonly Sum[]): ReadonlyMap<string, number> {
  const amounts = new Map<string, number>();
  for (const { organization_id: id, amount } of sums) amounts.set(id, (amounts.get(id) ?? 0) + (amount ?? 0));
  return amounts;
}
