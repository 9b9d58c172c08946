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
  /** Null where nobody has looked yet at what a webhook has named. */
  readonly organizationId: string | null;
  readonly installationId: string;
  readonly organizationName: string | null;
  readonly state: string;
  /** Start of its last complete read; null before the first. */
  readonly completeAt: string | null;
  readonly ageSeconds: number | null;
  readonly rows: number;
  /** Tonnes of each type, to look at. */
  readonly amounts: readonly { readonly type: string | null; readonly amount: number }[];
  readonly error: string | null;
}

export interface Available {
  /** Of how many organizations this is all that can be said; those that have removed the app are apart. */
  readonly known: number;
  readonly uninstalled: number;
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
      amounts: amounts.get(warehouse.organizationId ?? '') ?? [],
    }));
    const sold = warehouses.filter(warehouse => mayBeSold(warehouse, demand.maxAgeSeconds));
    const soldBy = new Set(sold.map(({ organizationId }) => organizationId));
    const uninstalled = warehouses.filter(({ state }) => state === 'uninstalled').length;
    return {
      known: warehouses.length - uninstalled,
      uninstalled,
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

/** The warehouse of each organization that is known. */
async function readWarehouses(
  { db }: Reader,
  organizationId: string | null,
): Promise<Omit<LeftOut, 'amounts'>[]> {
  const asked = db
    .selectFrom('coverage as c')
    .leftJoin('freshness as f', on =>
      on.onRef('f.organization_id', '=', 'c.organization_id').on('f.resource', '=', 'warehouse'),
    )
    .select(eb => [
      'c.organization_id as organizationId',
      'c.installation_id as installationId',
      'c.organization_name as organizationName',
      eb
        .case()
        .when('c.state', '=', 'active')
        .then(eb.fn.coalesce('f.state', eb.val('never_read')))
        .else(eb.ref('c.state'))
        .end()
        .$castTo<string>()
        .as('state'),
      'f.complete_at as completeAt',
      'f.age_seconds as ageSeconds',
      eb.fn.coalesce('f.rows', eb.lit(0)).as('rows'),
      'f.error',
    ])
    .orderBy('c.organization_name', NULLS_FIRST)
    .orderBy('c.organization_id', NULLS_FIRST)
    .orderBy('c.installation_id');
  return await (organizationId === null
    ? asked
    : asked.where('c.organization_id', '=', organizationId)
  ).execute();
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
    .orderBy('project_id', NULLS_FIRST)
    .orderBy('credit_id');
  return await (organizationId === null
    ? asked
    : asked.where('organization_id', '=', organizationId)
  ).execute();
}

/** Added here: engines add in orders of their own, and parts of a tonne come out otherwise. */
function amountsIn(sums: readonly Sum[]): ReadonlyMap<string, LeftOut['amounts']> {
  const amounts = new Map<string, { type: string | null; amount: number }[]>();
  for (const { organization_id: id, type, amount } of sums) {
    const own = amounts.get(id) ?? [];
    amounts.set(id, own);
    const known = own.find(each => each.type === type);
    if (known === undefined) own.push({ type, amount: amount ?? 0 });
    else known.amount += amount ?? 0;
  }
  return amounts;
}
