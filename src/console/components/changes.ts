import { type Change, describeChange } from '../../text/change.js';
import { leading } from './cell.js';
import { html, type Html, type Part } from './html.js';
import { formatCount } from '../../text/numbers.js';
import { ago } from './words.js';

/** What a row of a resource is called, and whose page it has; several where two resources have rows of one name. */
const ROWS: Readonly<Record<string, readonly [one: string, page?: string, several?: string]>> = {
  warehouse: ['credit in the warehouse', 'warehouse', 'credits in the warehouse'],
  inventory: ['credit in the inventory', 'inventory', 'credits in the inventory'],
  retirements: ['retirement', 'retirements'],
  certificates: ['certificate', 'retirements'],
  organization: ['organization', 'organizations'],
  addresses: ['address'],
  reservations: ['reservation'],
  inventory_requests: ['inventory request'],
  members: ['member'],
  projects: ['project', 'projects'],
};

/** Changes of one kind that one read found. */
export interface Group {
  readonly changes: readonly Change[];
  readonly first: Change;
}

export function groupsOf(changes: readonly Change[]): Group[] {
  const groups = new Map<string, { first: Change; changes: Change[] }>();
  for (const change of changes) {
    const { sync_id: sync, resource, change: kind, organization_id: owner } = change;
    const key = JSON.stringify([sync, resource, kind, owner]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: change, changes: [change] });
    else group.changes.push(change);
  }
  return [...groups.values()];
}

interface Around {
  readonly now: number;
  /** Whose page it is: there nobody need be told whose it was. */
  readonly owner?: string;
  readonly beside?: Part;
  readonly more?: Part;
}

/** Groups, each opened by a click, with whose it was and what had asked for the read that found it. */
export function feed(
  caption: string,
  groups: readonly Group[],
  { now, owner, beside, more }: Around,
): Html | false {
  if (groups.length === 0) return false;
  return html`<div class="wide"><h2>${caption}${beside}</h2><ul class="feed">${groups.map(
    ({ first, changes }) =>
      html`<li><span>${changes.length === 1 ? line(first) : html`<strong>${kindOf(first.resource, first.change, changes.length)}</strong>`}</span>${ago(first.observed_at, now)}<small>${owner === undefined && whose(first)} ${cause(first)}</small>${changes.length > 1 && html`<details><summary>Show each</summary><ul class="feed">${changes.map(line).map(each => html`<li>${each}</li>`)}</ul></details>`}</li>`,
  )}</ul>${more}</div>`;
}

/** So many rows of one kind, and what became of them. */
export function kindOf(resource: string, change: string, count: number): string {
  const [one, , several] = ROWS[resource] ?? [resource.replaceAll('_', ' ')];
  const did = resource === 'certificates' && change === 'added' ? 'stored' : change;
  return `${formatCount(count, one, several)} ${did}`;
}

function whose({ organization_id: id, organization_name: name }: Change): Part {
  return leading('organization_id', id, html`${name ?? id}`, null);
}

function line(change: Change): Html {
  return html`<span class="change">${linked(change)}</span>`;
}

function linked(change: Change): Part {
  const [, page] = ROWS[change.resource] ?? [];
  const words = describeChange(change).replace(LONG_ID, '$1');
  if (page === undefined) return words;
  return html`<a href="/${page}/${encodeURIComponent(change.row_id)}">${words}</a>`;
}

/** Its beginning tells it from the others of a page. */
const LONG_ID = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f-]{22}\b/g;

function cause({ newest_delivery_id: delivery, trigger, sync_id: sync }: Change): Html {
  if (delivery !== null) return leading('newest_delivery_id', delivery, html`delivery ${delivery}`, null);
  return html`<a href="/syncs?id=${sync}">sync ${sync}</a>${trigger !== null && ` (${trigger === 'person' ? 'manual' : trigger})`}`;
}
