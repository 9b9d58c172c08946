import { type Change, describeChange } from '../../text/change.js';
import { renderDetailLink } from './cell.js';
import { html, type Html, type HtmlContent } from './html.js';
import { formatCount } from '../../text/numbers.js';
import { renderAge } from './formats.js';

/** Names a row of each resource, the section of its detail page, and its plural if that is irregular. */
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

/** Changes of one kind that one read found in one list. */
export interface ChangeGroup {
  readonly changes: readonly Change[];
  readonly first: Change;
}

export function groupChanges(changes: readonly Change[]): ChangeGroup[] {
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

interface FeedOptions {
  readonly now: number;
  /** The organization of the page; its own changes are shown without its name. */
  readonly owner?: string;
  readonly captionExtra?: HtmlContent;
  readonly more?: HtmlContent;
}

/** Renders groups of changes that open on a click, each with its organization and the cause of the read. */
export function renderChangeFeed(
  caption: string,
  groups: readonly ChangeGroup[],
  { now, owner, captionExtra, more }: FeedOptions,
): Html | false {
  if (groups.length === 0) return false;
  return html`<div class="wide"><h2>${caption}${captionExtra}</h2><ul class="feed">${groups.map(
    ({ first, changes }) =>
      html`<li><span>${changes.length === 1 ? renderChange(first) : html`<strong>${describeChangeCount(first.resource, first.change, changes.length)}</strong>`}</span>${renderAge(first.observed_at, now)}<small>${owner === undefined && renderOwner(first)} ${renderCause(first)}</small>${changes.length > 1 && html`<details><summary>Show each</summary><ul class="feed">${changes.map(renderChange).map(each => html`<li>${each}</li>`)}</ul></details>`}</li>`,
  )}</ul>${more}</div>`;
}

/** Describes a number of changes, such as `2 retirements added`. */
export function describeChangeCount(resource: string, change: string, count: number): string {
  const [one, , several] = ROWS[resource] ?? [resource.replaceAll('_', ' ')];
  const did = resource === 'certificates' && change === 'added' ? 'stored' : change;
  return `${formatCount(count, one, several)} ${did}`;
}

function renderOwner({ organization_id: id, organization_name: name }: Change): HtmlContent {
  return renderDetailLink('organization_id', id, html`${name ?? id}`, null);
}

function renderChange(change: Change): Html {
  return html`<span class="change">${renderChangeLink(change)}</span>`;
}

function renderChangeLink(change: Change): HtmlContent {
  const [, page] = ROWS[change.resource] ?? [];
  const words = describeChange(change).replace(LONG_ID, '$1');
  if (page === undefined) return words;
  return html`<a href="/${page}/${encodeURIComponent(change.row_id)}">${words}</a>`;
}

/** UUIDs, which pages shorten to their first eight digits. */
const LONG_ID = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f-]{22}\b/g;

function renderCause({ newest_delivery_id: delivery, trigger, sync_id: sync }: Change): Html {
  if (delivery !== null)
    return renderDetailLink('newest_delivery_id', delivery, html`delivery ${delivery}`, null);
  return html`<a href="/syncs?id=${sync}">sync ${sync}</a>${trigger !== null && ` (${trigger === 'person' ? 'manual' : trigger})`}`;
}
