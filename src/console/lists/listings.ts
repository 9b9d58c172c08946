import { columnsOf, type Entry, nameOf } from '../../resources/entry.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { INSTALLATIONS } from '../../resources/installations.js';
import { LISTS } from '../../resources/lists.js';
import { readsAbove, refusedAbove } from './above.js';
import type { Listing } from './listing.js';

/** By these people look for rows, where a table has them. */
const FILTERS = [
  'id',
  'credit_id',
  'organization_id',
  'project_id',
  'vintage',
  'type',
  'state',
  'beneficiary',
];

/** Computed at the moment at which it is asked for: there is no such thing of a past one. */
const OF_NOW: Readonly<Record<string, readonly string[]>> = {
  state_now: ['state', 'reserved_to_at'],
  seconds_left: [],
};

const ENTRIES: readonly (readonly [path: string, title: string, one: string, entry: Entry])[] = [
  ['organizations', 'Organizations', 'organization', LISTS.organization],
  ['installations', 'Installations', 'installation', INSTALLATIONS],
  ['warehouse', 'Warehouse', 'credit', LISTS.warehouse],
  ['inventory', 'Inventory', 'credit', LISTS.inventory],
  ['reservations', 'Reservations', 'reservation', LISTS.reservations],
  ['inventory-requests', 'Inventory requests', 'request', LISTS.inventory_requests],
  ['retirements', 'Retirements', 'retirement', LISTS.retirements],
  ['certificates', 'Certificates', 'certificate', ENTRY_OF.certificates],
  ['projects', 'Projects', 'project', ENTRY_OF.projects],
  ['members', 'Members', 'member', LISTS.members],
  ['addresses', 'Addresses', 'address', LISTS.addresses],
];

const LEADS: Readonly<Record<string, string>> = { organizations: 'id', retirements: 'id' };

/** Of what there may be a million, those first that were learnt last. */
const ORDERS: Readonly<Record<string, Listing['order']>> = { certificates: [['version', 'desc']] };
const INDEXED = ['warehouse', 'inventory', 'retirements', 'members', 'addresses'];

const MIRRORED: readonly Listing[] = ENTRIES.map(([path, title, one, entry]) => ({
  path,
  title,
  one,
  from: entry.shown.from,
  columns: entry.shown.columns,
  order: ORDERS[path] ?? entry.shown.order,
  isIndexed: INDEXED.includes(path),
  tie: 'version',
  key: entry.scope === 'organization_id' ? nameOf(entry) : null,
  leads: LEADS[path] ?? null,
  filters: FILTERS.filter(column => columnsOf(entry).includes(column) || ofNobody(entry, column)),
  above: null,
  dated: {
    from: `${entry.table}_history`,
    columns: [...new Set([...entry.shown.columns.flatMap(name => OF_NOW[name] ?? [name]), 'valid_from'])],
    resource: resourceOf(entry),
  },
}));

/** A project is of every organization that names it. */
function ofNobody(entry: Entry, column: string): boolean {
  return entry === ENTRY_OF.projects && column === 'organization_id';
}

function resourceOf(entry: Entry): string | null {
  return Object.entries(ENTRY_OF).find(([, known]) => known === entry)?.[0] ?? null;
}

const OWN: readonly Listing[] = [
  {
    path: 'deliveries',
    title: 'Deliveries',
    one: 'delivery',
    from: 'inbox.deliveries',
    columns: [
      'id',
      'received_at',
      'event',
      'organization_name',
      'verdict',
      'job_state',
      'outcome',
      'reason',
      'repeats',
      'job_id',
      'installation_id',
    ],
    order: [['id', 'desc']],
    isIndexed: true,
    tie: 'id',
    key: null,
    leads: 'id',
    filters: ['event', 'installation_id', 'verdict'],
    above: refusedAbove,
    dated: null,
  },
  {
    path: 'jobs',
    title: 'Jobs',
    one: 'job',
    from: 'inbox.jobs',
    columns: [
      'id',
      'kind',
      'lane',
      'state',
      'attempts',
      'trigger',
      'organization_name',
      'run_at',
      'last_error',
      'outcome',
      'organization_id',
    ],
    order: [['id', 'desc']],
    isIndexed: true,
    tie: 'id',
    key: null,
    leads: 'id',
    filters: ['state', 'kind', 'trigger', 'organization_id'],
    above: null,
    dated: null,
  },
  {
    path: 'runs',
    title: 'Reads',
    one: 'read',
    from: 'sync_runs',
    columns: [
      'id',
      'resource',
      'organization_name',
      'trigger',
      'state',
      'started_at',
      'finished_at',
      'rows_added',
      'rows_changed',
      'rows_removed',
      'drift',
      'error',
      'organization_id',
    ],
    order: [['id', 'desc']],
    isIndexed: true,
    tie: 'id',
    key: null,
    leads: null,
    filters: ['id', 'resource', 'state', 'trigger', 'organization_id'],
    above: readsAbove,
    dated: null,
  },
];

export const LISTINGS: readonly Listing[] = [...MIRRORED, ...OWN];
