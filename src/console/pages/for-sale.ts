import type { Available, LeftOut, Warehouse } from '../../query/available.js';
import { compareStates } from '../../query/reads/status.js';
import { withThousands } from '../../text/thousands.js';
import { tonnesOf, typeName } from '../../text/tonnes.js';
import { type Bar, bars } from '../components/bars.js';
import type { Ask } from '../page.js';
import { microOf, textIn } from '../components/cell.js';
import { html, type Html } from '../components/html.js';
import { firstOf } from '../components/table.js';
import { ago, badge, counted } from '../components/words.js';

type Row = Available['rows'][number];

interface Lot {
  readonly projectId: string | null;
  readonly project: string;
  readonly vintage: string | null;
  readonly type: string | null;
  readonly micro: bigint;
  /** What each organization has of it. */
  readonly shares: readonly Share[];
}

interface Share {
  readonly warehouse: Warehouse | undefined;
  readonly micro: bigint;
}

/** More bars say less. */
const MOST_BARS = 12;
const MICRO = 1e6;

/** What can be sold, by project, vintage and type as lengths and as numbers; and the same by organization. */
export function forSale(available: Available, ask: Ask): Html | false {
  if (available.rows.length === 0) return false;
  const lots = lotsOf(available);
  return html`<h2>For sale now</h2>${bars(sentence(lots), lengths(lots), byLot(lots, ask))}
<details><summary>The same by organization</summary>${byOrganization(lots, ask)}</details>`;
}

/** The largest first. */
function lotsOf({ rows, sold }: Available): Lot[] {
  const warehouses = new Map<unknown, Warehouse>(sold.map(each => [each.organizationId, each]));
  const lots = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify([row['project_id'], row['project_name'], row['vintage'], row['type']]);
    const lot = lots.get(key);
    if (lot === undefined) lots.set(key, [row]);
    else lot.push(row);
  }
  return [...lots.values()].map(lot => lotOf(lot, warehouses)).toSorted(largestFirst);
}

function lotOf(rows: readonly Row[], warehouses: ReadonlyMap<unknown, Warehouse>): Lot {
  const [first = {}] = rows;
  const shares = new Map<unknown, bigint>();
  for (const row of rows) {
    const owner = row['organization_id'];
    shares.set(owner, (shares.get(owner) ?? 0n) + microOf(row));
  }
  return {
    projectId: textIn(first, 'project_id'),
    project: textIn(first, 'project_name') ?? textIn(first, 'project_id') ?? 'of no project',
    vintage: textIn(first, 'vintage'),
    type: textIn(first, 'type'),
    micro: [...shares.values()].reduce((sum, micro) => sum + micro, 0n),
    shares: [...shares].map(([owner, micro]) => ({ warehouse: warehouses.get(owner), micro })),
  };
}

function largestFirst(one: Pick<Lot, 'micro'>, other: Pick<Lot, 'micro'>): number {
  return Number(other.micro - one.micro);
}

function nameOf({ project, vintage, type }: Lot): string {
  return [project, vintage, type === 'exPost' ? null : typeName(type)]
    .filter(part => part !== null)
    .join(' ');
}

function sentence(lots: readonly Lot[]): string {
  const [most] = lots;
  if (most === undefined) return 'Nothing.';
  const all = lots.filter(({ type }) => type === most.type).reduce((sum, { micro }) => sum + micro, 0n);
  const drawn = lots.length > MOST_BARS ? ` The ${MOST_BARS} largest are drawn.` : '';
  return `${nameOf(most)} is the most of ${counted(lots.length, 'lot')}: ${tonnesOf(most.micro)} of ${tonnesOf(all)} t ${typeName(most.type)}.${drawn}`;
}

function lengths(lots: readonly Lot[]): Bar[] {
  return lots.slice(0, MOST_BARS).map(lot => ({
    name: nameOf(lot),
    says: `${tonnesOf(lot.micro)} t`,
    value: Number(lot.micro) / MICRO,
  }));
}

function byLot(lots: readonly Lot[], { now, query }: Ask): Html {
  return firstOf(
    'By project, vintage and type',
    [
      {
        name: 'Project',
        cell: lot =>
          lot.projectId === null ? lot.project : html`<a href="${hrefOf(lot)}">${lot.project}</a>`,
      },
      { name: 'Vintage', cell: ({ vintage }) => vintage },
      { name: 'Type', cell: ({ type }) => type },
      { name: 'Tonnes', cell: ({ micro }) => tonnesOf(micro), numeric: true },
      { name: 'Organizations', cell: ({ shares }) => shares.length, numeric: true },
      { name: 'Oldest read', cell: ({ shares }) => ago(oldestOf(shares), now) },
    ],
    lots,
    query,
  );
}

function hrefOf({ projectId, vintage, type }: Lot): string {
  const query = new URLSearchParams();
  if (projectId !== null) query.set('project_id', projectId);
  if (vintage !== null) query.set('vintage', vintage);
  if (type !== null) query.set('type', type);
  return `/warehouse?${query.toString()}`;
}

function oldestOf(shares: readonly Share[]): string | null {
  const [oldest = null] = shares.flatMap(({ warehouse }) => warehouse?.completeAt ?? []).toSorted();
  return oldest;
}

function byOrganization(lots: readonly Lot[], { now, query }: Ask): Html {
  return firstOf(
    'By organization, project and vintage',
    [
      { name: 'Organization', cell: ({ owner }) => owner?.organizationName ?? owner?.organizationId },
      { name: 'Project', cell: ({ lot }) => lot.project },
      { name: 'Vintage', cell: ({ lot }) => lot.vintage },
      { name: 'Type', cell: ({ lot }) => lot.type },
      { name: 'Tonnes', cell: ({ micro }) => tonnesOf(micro), numeric: true },
      { name: 'Read', cell: ({ owner }) => ago(owner?.completeAt ?? null, now) },
    ],
    lots
      .flatMap(lot => lot.shares.map(({ warehouse: owner, micro }) => ({ lot, owner, micro })))
      .toSorted(largestFirst),
    query,
  );
}

/** What is worst first, and of the same that with the most rows. */
function byTrouble(one: LeftOut, other: LeftOut): number {
  return compareStates(one.state, other.state) || other.rows - one.rows;
}

export function leftOut(all: readonly LeftOut[], { now, query }: Ask): Html | false {
  if (all.length === 0) return false;
  return firstOf(
    'What is known and is not for sale now',
    [
      {
        name: 'Organization',
        cell: ({ organizationName: name, organizationId, installationId }) =>
          name ?? organizationId ?? installationId,
      },
      { name: 'State', cell: ({ state }) => badge(state) },
      { name: 'Known', cell: ({ completeAt }) => ago(completeAt, now) },
      { name: 'Rows', cell: ({ rows }) => withThousands(rows), numeric: true },
      { name: 'Why', cell: ({ error }) => error },
    ],
    all.toSorted(byTrouble),
    query,
  );
}
