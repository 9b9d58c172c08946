import type { Reader } from '../store/contract/reader.js';
import type { Row } from '../store/contract/tables.js';
import { plainTonnes } from '../text/tonnes.js';
import { byOwner } from './reads/status.js';
import { BY_OWNER, sumWarehouses } from './sums.js';
import { NULLS_FIRST } from './sql.js';
import { readKnown } from './coverage.js';
import { TOLD, type Told, WAITING } from './freshness.js';
import { inSnapshot } from './sql.js';

interface Demand {
  /** Null for all of them. */
  readonly organizationId: string | null;
  readonly only?: Only;
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
export type Standing = Awaited<ReturnType<typeof readStanding>>;

/** Of these nothing is expected: they are shown only where something is known. */
const CLOSED = ['no_access', 'not_offered'];

/** What is available now, and what is known and is not. Each warehouse is in one of both or empty. */
export async function readAvailable(reader: Reader, demand: Demand) {
  return await inSnapshot(reader, async snapshot => {
    const standing = await readStanding(snapshot, demand.organizationId);
    const available = new Set(idsOf(standing.warehouses));
    const all: readonly Row[] = await readRows(snapshot, demand);
    const rows = all.filter(row => available.has(String(row['organization_id'])) && isWanted(row, demand));
    const left = await sumWarehouses(snapshot, idsOf(standing.leftOut), BY_OWNER);
    const amounts = byOwner(
      left.map(({ organization_id: organizationId, type, amount_micro: micro }) => {
        return { organizationId, type, amount: Number(plainTonnes(micro)) };
      }),
    );
    /** What is left out with tonnes of each type, to look at. */
    const leftOut = standing.leftOut.map(each => ({ ...each, amounts: amounts(each).toReversed() }));
    return { ...standing, rows, leftOut };
  });
}

/** Of which warehouses something is available, and of which not. */
export async function readStanding(reader: Reader, organizationId: string | null) {
  const all = await readWarehouses(reader, organizationId);
  const warehouses = all.filter(({ state }) => state === 'fresh');
  const available = new Set(warehouses);
  const uninstalled = all.filter(({ reason }) => reason === 'uninstalled').length;
  return {
    /** Of how many organizations this is all that can be said; those that have removed the app are apart. */
    known: all.length - uninstalled,
    uninstalled,
    /** Those of which something is available, the empty ones too. */
    warehouses,
    leftOut: all.filter(each => !available.has(each) && (each.rows > 0 || !CLOSED.includes(each.state))),
  };
}

export function idsOf(owners: readonly { readonly organizationId: string | null }[]): string[] {
  return owners.flatMap(({ organizationId: id }) => id ?? []);
}

function isWanted(row: Row, { only: { project, vintage, type } = {} }: Demand): boolean {
  const name = String(row['project_name'] ?? '').toLowerCase();
  return (
    (project === undefined || row['project_id'] === project || name.includes(project.toLowerCase())) &&
    (vintage === undefined || row['vintage'] === vintage) &&
    (type === undefined || row['type'] === type)
  );
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

async function readRows({ db }: Reader, { organizationId }: Demand) {
  return await db
    .selectFrom('warehouse_sums')
    .$if(organizationId !== null, all => all.where('organization_id', '=', organizationId))
    .orderBy('organization_name', NULLS_FIRST)
    .orderBy('organization_id')
    .orderBy('project_name', NULLS_FIRST)
    .orderBy('vintage', NULLS_FIRST)
    .orderBy('type', NULLS_FIRST)
    .orderBy('project_id', NULLS_FIRST)
    .orderBy('credit_id')
    .selectAll()
    .execute();
}
