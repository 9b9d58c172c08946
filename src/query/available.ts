import type { Reader } from '../store/contract/reader.js';
import type { Row, Tables } from '../store/contract/tables.js';
import { NULLS_FIRST } from './by-name.js';
import { readKnown } from './coverage.js';
import { TOLD, type Told, WAITING } from './freshness.js';
import { inSnapshot } from './snapshot.js';

interface Demand {
  /** Null for all of them. */
  readonly organizationId: string | null;
  /** Whatever was read completely within so many seconds counts as available; null where only what is fresh does. */
  readonly maxAgeSeconds: number | null;
  readonly only?: Only;
  /** Whether rows say no more than what adding them up takes. */
  readonly isToAddUp?: boolean;
}

/** What of a warehouse is looked for; a project by its id or a part of its name. */
interface Only {
  readonly project?: string | undefined;
  readonly vintage?: string | undefined;
  readonly type?: string | undefined;
}

export interface Warehouse extends Told {
  /** Null where nobody has looked yet at what a webhook has named. */
  readonly organizationId: string | null;
  readonly installationId: string;
  readonly organizationName: string | null;
  /** Start of its last complete read; null before the first. */
  readonly asOf: string | null;
  readonly ageSeconds: number | null;
  readonly rows: number;
}

export type Available = Awaited<ReturnType<typeof readAvailable>>;
/** A warehouse of which nothing is available now, and why. */
export type LeftOut = Available['leftOut'][number];

/** Of these nothing is expected: they are shown only where something is known. */
const CLOSED = ['no_access', 'not_offered'];

/** What is available now, and what is known and is not. Each warehouse is in one of both or empty. */
export async function readAvailable(reader: Reader, demand: Demand) {
  return await inSnapshot(reader, async snapshot => {
    const sums = await readSums(snapshot, demand);
    const all = await readWarehouses(snapshot, demand.organizationId);
    const warehouses = all.filter(warehouse => isAvailable(warehouse, demand.maxAgeSeconds));
    const availableIn = new Set(warehouses.map(({ organizationId }) => organizationId));
    const uninstalled = all.filter(({ reason }) => reason === 'uninstalled').length;
    const amounts = amountsIn(sums.filter(sum => !availableIn.has(sum.organization_id)));
    const wanted: readonly Row[] = sums.filter(
      sum => availableIn.has(sum.organization_id) && isWanted(sum, demand.only ?? {}),
    );
    return {
      /** Of how many organizations this is all that can be said; those that have removed the app are apart. */
      known: all.length - uninstalled,
      uninstalled,
      /** Those of which something is available, the empty ones too. */
      warehouses,
      rows: wanted,
      leftOut: all
        .filter(
          ({ organizationId, state, rows }) =>
            !availableIn.has(organizationId) && (rows > 0 || !CLOSED.includes(state)),
        )
        /** With tonnes of each type, to look at. */
        .map(left => ({ ...left, amounts: amounts.get(left.organizationId ?? '') ?? [] })),
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

/** What was completely read counts for as long as it was asked for, whatever happened since; but not while most of it seems gone. */
function isAvailable({ state, reason, ageSeconds }: Warehouse, maxAgeSeconds: number | null): boolean {
  if (maxAgeSeconds === null) return state === 'fresh';
  const isKnown = state === 'fresh' || (state === 'stale' && reason !== 'removals_unconfirmed');
  return isKnown && ageSeconds !== null && ageSeconds >= 0 && ageSeconds <= maxAgeSeconds;
}

const UNREAD = {
  ...WAITING,
  asOf: null,
  ageSeconds: null,
  rows: 0,
  error: null,
  oldestUnreadAt: null,
  workerSeenAt: null,
};

/** The warehouse of each organization that is known. */
async function readWarehouses(reader: Reader, organizationId: string | null): Promise<Warehouse[]> {
  const reads = await reader.db
    .selectFrom('freshness')
    .where('resource', '=', 'warehouse')
    .select([
      'organization_id as organizationId',
      ...TOLD,
      'as_of as asOf',
      'age_seconds as ageSeconds',
      'rows',
    ])
    .execute();
  const readOf = new Map(reads.map(read => [read.organizationId, read]));
  const known = await readKnown(reader, organizationId);
  return known.map(({ organizationId: id, installationId, name, state }) => ({
    organizationId: id,
    installationId,
    organizationName: name,
    ...UNREAD,
    ...readOf.get(id),
    ...(state === 'never_read' && WAITING),
    ...((state === 'suspended' || state === 'uninstalled') && { state: 'no_access', reason: state }),
  }));
}

type Sum = Tables['warehouse_sums'];

/** Of what stands in a warehouse all that is needed to add it up. */
const TO_ADD_UP = [
  'organization_id',
  'project_id',
  'project_name',
  'vintage',
  'type',
  'amount',
  'amount_micro',
  'rows_without_amount',
] as const satisfies (keyof Sum)[];

async function readSums({ db }: Reader, { organizationId, isToAddUp = false }: Demand) {
  const all = db
    .selectFrom('warehouse_sums')
    .orderBy('organization_name', NULLS_FIRST)
    .orderBy('organization_id')
    .orderBy('project_name', NULLS_FIRST)
    .orderBy('vintage', NULLS_FIRST)
    .orderBy('type', NULLS_FIRST)
    .orderBy('project_id', NULLS_FIRST)
    .orderBy('credit_id');
  const asked = organizationId === null ? all : all.where('organization_id', '=', organizationId);
  return await (isToAddUp ? asked.select(TO_ADD_UP).execute() : asked.selectAll().execute());
}

/** Added here: engines add in orders of their own, and parts of a tonne come out otherwise. */
function amountsIn(sums: readonly Pick<Sum, (typeof TO_ADD_UP)[number]>[]) {
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
