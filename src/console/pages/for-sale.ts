import type { Available, LeftOut } from '../../query/available.js';
import { compareStates } from '../../query/reads/status.js';
import { withThousands } from '../../text/thousands.js';
import { tonnesOf, typeName } from '../../text/tonnes.js';
import { type Bar, bars } from '../parts/bars.js';
import type { Ask } from '../page.js';
import { byMicro, microOf, textIn } from '../parts/cell.js';
import { html, type Html } from '../parts/html.js';
import { firstOf } from '../parts/table.js';
import { ago, badge, counted, shown } from '../parts/words.js';

type Row = Available['rows'][number];

interface Lot {
  readonly projectId: string | null;
  readonly project: string;
  readonly vintage: string | null;
  readonly type: string | null;
  readonly micro: bigint;
  readonly organizations: ReadonlySet<string>;
  readonly readAt: string | null;
}

/** More bars say less. */
const MOST_BARS = 12;
const MICRO = 1e6;

/** What can be sold, by project, vintage and type as lengths and as numbers; and the same by organization. */
export function forSale({ rows }: Available, ask: Ask): Html | false {
  if (rows.length === 0) return false;
  const lots = lotsOf(rows);
  return html`<h2>For sale now</h2>${bars(sentence(lots), lengths(lots), byLot(lots, ask))}
<details><summary>The same by organization</summary>${byOrganization(rows, ask)}</details>`;
}

/** The largest first. */
function lotsOf(rows: readonly Row[]): Lot[] {
  const lots = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify([row['project_id'], row['project_name'], row['vintage'], row['type']]);
    const lot = lots.get(key);
    if (lot === undefined) lots.set(key, [row]);
    else lot.push(row);
  }
  return [...lots.values()].map(lotOf).toSorted((a, b) => (a.micro < b.micro ? 1 : -1));
}

function lotOf(rows: readonly Row[]): Lot {
  const first = rows[0] ?? {};
  const [oldest = null] = rows.flatMap(row => textIn(row, 'complete_at') ?? []).toSorted();
  return {
    projectId: textIn(first, 'project_id'),
    project: textIn(first, 'project_name') ?? textIn(first, 'project_id') ?? 'of no project',
    vintage: textIn(first, 'vintage'),
    type: textIn(first, 'type'),
    micro: rows.reduce((sum, row) => sum + microOf(row), 0n),
    organizations: new Set(rows.map(row => String(row['organization_id']))),
    readAt: oldest,
  };
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
      { name: 'Organizations', cell: ({ organizations }) => organizations.size, numeric: true },
      { name: 'Oldest read', cell: ({ readAt }) => ago(readAt, now) },
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

function byOrganization(rows: readonly Row[], { now, query }: Ask): Html {
  return firstOf(
    'By organization, project and vintage',
    [
      { name: 'Organization', cell: row => shown(row['organization_name'] ?? row['organization_id']) },
      { name: 'Project', cell: row => shown(row['project_name'] ?? row['project_id']) },
      { name: 'Vintage', cell: row => shown(row['vintage']) },
      { name: 'Type', cell: row => shown(row['type']) },
      { name: 'Tonnes', cell: row => tonnesOf(microOf(row)), numeric: true },
      { name: 'Read', cell: row => ago(textIn(row, 'complete_at'), now) },
    ],
    withoutCredits(rows).toSorted(byMicro),
    query,
  );
}

/** The credits of a project, vintage and type that stand in one warehouse are one row. */
function withoutCredits(rows: readonly Row[]): Row[] {
  const added = new Map<string, Row>();
  for (const row of rows) {
    const of = ['organization_id', 'project_id', 'project_name', 'vintage', 'type'].map(name => row[name]);
    const key = JSON.stringify(of);
    added.set(key, { ...row, amount_micro: microOf(added.get(key) ?? {}) + microOf(row) });
  }
  return [...added.values()];
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
