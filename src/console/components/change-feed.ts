import { type Change, describeChange } from '../../text/describe-change.js';
import { renderDetailLink } from './table-cell.js';
import { html, type Html, type HtmlContent } from './html.js';
import { formatCount } from '../../text/numbers.js';
import { renderAge } from './instants.js';

interface RowName {
  readonly singular: string;
  /** Only if it is irregular. */
  readonly plural?: string;
  /** The section of the detail pages, if there are any. */
  readonly detailSection?: string;
}

/** Names of the rows of each resource. */
const ROW_NAMES: Readonly<Record<string, RowName>> = {
  warehouse: {
    singular: 'credit in the warehouse',
    plural: 'credits in the warehouse',
    detailSection: 'warehouse',
  },
  inventory: {
    singular: 'credit in the inventory',
    plural: 'credits in the inventory',
    detailSection: 'inventory',
  },
  retirements: { singular: 'retirement', detailSection: 'retirements' },
  certificates: { singular: 'certificate', detailSection: 'retirements' },
  organization: { singular: 'organization', detailSection: 'organizations' },
  addresses: { singular: 'address' },
  reservations: { singular: 'reservation' },
  inventory_requests: { singular: 'inventory request' },
  members: { singular: 'member' },
  projects: { singular: 'project', detailSection: 'projects' },
};

/** Changes of one kind that one read found in one list. */
export interface ChangeGroup {
  readonly first: Change;
  readonly changes: readonly Change[];
}

/**
 * Groups changes by sync, resource, kind and organization. The groups are in the order in which their first changes appear in
 * `changes`.
 */
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

interface ChangeFeedOptions {
  readonly now: number;
  /** The organization of the page; its own changes are shown without its name. */
  readonly ownerId?: string;
  readonly captionExtra?: HtmlContent;
  readonly footer?: HtmlContent;
}

/** Renders groups of changes as a list that says what changed, when and why. Returns false if there are no changes. */
export function renderChangeFeed(
  caption: string,
  groups: readonly ChangeGroup[],
  { now, ownerId, captionExtra, footer }: ChangeFeedOptions,
): Html | false {
  if (groups.length === 0) return false;
  const renderGroup = ({ first, changes }: ChangeGroup) => {
    const title =
      changes.length === 1
        ? renderChange(first)
        : html`<strong>${describeChangeCount(first.resource, first.change, changes.length)}</strong>`;
    const details =
      changes.length > 1 &&
      html`<details><summary>Show each</summary><ul class="feed">${changes.map(change => html`<li>${renderChange(change)}</li>`)}</ul></details>`;
    return html`<li><span>${title}</span>${renderAge(first.observed_at, now)}<small>${ownerId === undefined && renderOwner(first)} ${renderCause(first)}</small>${details}</li>`;
  };
  return html`<div class="wide"><h2>${caption}${captionExtra}</h2><ul class="feed">${groups.map(renderGroup)}</ul>${footer}</div>`;
}

/** Describes a number of changes, such as `2 retirements added`. */
export function describeChangeCount(resource: string, change: string, count: number): string {
  const { singular, plural }: RowName = ROW_NAMES[resource] ?? { singular: resource.replaceAll('_', ' ') };
  const participle = resource === 'certificates' && change === 'added' ? 'stored' : change;
  return `${formatCount(count, singular, plural)} ${participle}`;
}

/** Renders a link to the organization that a change belongs to. */
function renderOwner({ organization_id: id, organization_name: name }: Change): HtmlContent {
  return renderDetailLink('organization_id', id, html`${name ?? id}`, null);
}

function renderChange(change: Change): Html {
  return html`<span class="change">${renderChangeLink(change)}</span>`;
}

/** Renders a sentence about a change, as a link to the detail page of the changed row. */
function renderChangeLink(change: Change): HtmlContent {
  const { detailSection } = ROW_NAMES[change.resource] ?? {};
  const sentence = describeChange(change).replace(UUID, '$1');
  if (detailSection === undefined) return sentence;
  return html`<a href="/${detailSection}/${encodeURIComponent(change.row_id)}">${sentence}</a>`;
}

/** Matches UUIDs, which pages shorten to their first eight digits. */
const UUID = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f-]{22}\b/g;

/** Renders a link to the delivery that announced a change, or to the sync that found it. */
function renderCause({ newest_delivery_id: deliveryId, trigger, sync_id: syncId }: Change): Html {
  if (deliveryId !== null)
    return renderDetailLink('newest_delivery_id', deliveryId, html`delivery ${deliveryId}`, null);
  return html`<a href="/syncs?id=${syncId}">sync ${syncId}</a>${trigger !== null && ` (${trigger === 'person' ? 'manual' : trigger})`}`;
}
