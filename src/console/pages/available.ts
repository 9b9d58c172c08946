import type { Available, LeftOut, Warehouse } from '../../query/available.js';
import { compareStandings, sentenceOf } from '../../query/freshness.js';
import { withThousands } from '../../text/thousands.js';
import { tonnesOf, typeName } from '../../text/tonnes.js';
import { type Bar, bars } from '../components/bars.js';
import type { Ask } from '../page.js';
import { microOf, textIn } from '../components/cell.js';
import { standing } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { firstOf } from '../components/table.js';
import { counted } from '../../text/counted.js';
import { ago } from '../components/words.js';

type Row = Available['rows'][number];

interface Kind {
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

/** What is available, by project, vintage and type as lengths and as numbers; and the same by organization. */
export function availableNow(available: Available, ask: Ask): Html | false {
  if (available.rows.length === 0) return false;
  const kinds = kindsOf(available);
  return html`<h2>Available to sell now</h2>${bars(sentence(kinds), lengths(kinds), byKind(kinds, ask))}
<details><summary>The same by organization</summary>${byOrganization(kinds, ask)}</details>`;
}

/** The largest first. */
function kindsOf({ rows, warehouses: all }: Available): Kind[] {
  const warehouses = new Map<unknown, Warehouse>(all.map(each => [each.organizationId, each]));
  const kinds = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify([row['project_id'], row['project_name'], row['vintage'], row['type']]);
    const kind = kinds.get(key);
    if (kind === undefined) kinds.set(key, [row]);
    else kind.push(row);
  }
  return [...kinds.values()].map(kind => kindOf(kind, warehouses)).toSorted(largestFirst);
}

function kindOf(rows: readonly Row[], warehouses: ReadonlyMap<unknown, Warehouse>): Kind {
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

function largestFirst(one: Pick<Kind, 'micro'>, other: Pick<Kind, 'micro'>): number {
  return Number(other.micro - one.micro);
}

function nameOf({ project, vintage, type }: Kind): string {
  return [project, vintage, type === 'exPost' ? null : typeName(type)]
    .filter(part => part !== null)
    .join(' ');
}

function sentence(kinds: readonly Kind[]): string {
  const [most] = kinds;
  if (most === undefined) return 'Nothing.';
  const all = kinds.filter(({ type }) => type === most.type).reduce((sum, { micro }) => sum + micro, 0n);
  const drawn = kinds.length > MOST_BARS ? ` The ${MOST_BARS} largest are drawn.` : '';
  return `${nameOf(most)} is the most of ${counted(kinds.length, 'kind of credits', 'kinds of credits')}: ${tonnesOf(most.micro)} of ${tonnesOf(all)} t ${typeName(most.type)}.${drawn}`;
}

function lengths(kinds: readonly Kind[]): Bar[] {
  return kinds.slice(0, MOST_BARS).map(kind => ({
    name: nameOf(kind),
    says: `${tonnesOf(kind.micro)} t`,
    value: Number(kind.micro) / MICRO,
  }));
}

function byKind(kinds: readonly Kind[], { now, query }: Ask): Html {
  return firstOf(
    'By project, vintage and type',
    [
      {
        name: 'Project',
        cell: kind =>
          kind.projectId === null ? kind.project : html`<a href="${hrefOf(kind)}">${kind.project}</a>`,
      },
      { name: 'Vintage', cell: ({ vintage }) => vintage },
      { name: 'Type', cell: ({ type }) => type },
      { name: 'Tonnes', cell: ({ micro }) => tonnesOf(micro), numeric: true },
      { name: 'Organizations', cell: ({ shares }) => shares.length, numeric: true },
      { name: 'Oldest read', cell: ({ shares }) => ago(oldestOf(shares), now) },
    ],
    kinds,
    query,
  );
}

function hrefOf({ projectId, vintage, type }: Kind): string {
  const query = new URLSearchParams();
  if (projectId !== null) query.set('project_id', projectId);
  if (vintage !== null) query.set('vintage', vintage);
  if (type !== null) query.set('type', type);
  return `/warehouse?${query.toString()}`;
}

function oldestOf(shares: readonly Share[]): string | null {
  const [oldest = null] = shares.flatMap(({ warehouse }) => warehouse?.asOf ?? []).toSorted();
  return oldest;
}

function byOrganization(kinds: readonly Kind[], { now, query }: Ask): Html {
  return firstOf(
    'By organization, project and vintage',
    [
      { name: 'Organization', cell: ({ owner }) => owner?.organizationName ?? owner?.organizationId },
      { name: 'Project', cell: ({ kind }) => kind.project },
      { name: 'Vintage', cell: ({ kind }) => kind.vintage },
      { name: 'Type', cell: ({ kind }) => kind.type },
      { name: 'Tonnes', cell: ({ micro }) => tonnesOf(micro), numeric: true },
      { name: 'Read', cell: ({ owner }) => ago(owner?.asOf ?? null, now) },
    ],
    kinds
      .flatMap(kind => kind.shares.map(({ warehouse: owner, micro }) => ({ kind, owner, micro })))
      .toSorted(largestFirst),
    query,
  );
}

/** What is worst first, and of the same that with the most rows. */
function byTrouble(one: LeftOut, other: LeftOut): number {
  return compareStandings(one, other) || other.rows - one.rows;
}

export function leftOut(all: readonly LeftOut[], { now, query }: Ask): Html | false {
  if (all.length === 0) return false;
  return firstOf(
    'What is known and is not available now',
    [
      {
        name: 'Organization',
        cell: ({ organizationName: name, organizationId, installationId }) =>
          name ?? organizationId ?? installationId,
      },
      { name: 'State', cell: standing },
      { name: 'Known', cell: ({ asOf }) => ago(asOf, now) },
      { name: 'Rows', cell: ({ rows }) => withThousands(rows), numeric: true },
      { name: 'Why', cell: sentenceOf },
    ],
    all.toSorted(byTrouble),
    query,
  );
}
