import { CERTIFICATE_STATES, INSTALLATION_STATES, SYNC_STATES } from '../../store/contract/states.js';
import { type Row, TABLES } from '../../store/contract/tables.js';
import {
  parseSortOrder,
  type ResourceEntry,
  OWNER_NAME_COLUMN,
  getIdColumn,
  type SortOrder,
  findOwnerColumn,
  splitWords,
} from '../../resources/entry.js';
import { JOB_KINDS, JOB_STATES, TRIGGERS } from '../../inbox/job.js';
import { WEBHOOK_EVENTS } from '../../registry/object-models.js';
import { INSTALLATIONS } from '../../resources/installations.js';
import { ENTRY_BY_RESOURCE, hasColumn, isResource } from '../../resources/resources.js';
import { addEnds, addJobs } from '../inbox/outcomes.js';
import { getRejectionAdvice } from '../inbox/rejected-webhooks.js';
import {
  BY_CREDIT_TYPE,
  BY_PROJECT,
  BY_VINTAGE,
  byChoice,
  byDays,
  byFlag,
  byId,
  byPart,
  byState,
  byWord,
  byYear,
  type Filter,
} from './filter.js';
import type { List } from './list.js';

const ORGANIZATION: Filter = {
  column: 'organization_id',
  kind: 'organization',
  option: 'organization',
  description: '',
};
const INSTALLATION: Filter = {
  column: 'installation_id',
  kind: 'installation',
  option: 'installation',
  description: 'only this installation (its id or its organization, or a part of either)',
};

/** Computed at the moment at which it is asked for: there is no such thing of a past one. */
const OF_NOW: Readonly<Record<string, readonly string[]>> = {
  state_now: ['state', 'reserved_to_at'],
  seconds_left: [],
};

type Mirrored = Partial<Pick<List, 'order' | 'isIndexed' | 'hasDetailPages' | 'plural' | 'filters'>>;

function mirrored(
  name: string,
  singular: string,
  summary: string,
  entry: ResourceEntry,
  { plural = name, filters, order = entry.display.order, ...more }: Mirrored = {},
): List {
  const { source: from, columns } = entry.display;
  const resource =
    Object.keys(ENTRY_BY_RESOURCE)
      .filter(isResource)
      .find(each => ENTRY_BY_RESOURCE[each] === entry) ?? null;
  const named = getIdColumn(entry);
  return {
    name,
    title: titleOf(name),
    summary,
    singular,
    plural,
    empty: `The mirror has no ${plural}. See "carbon-mirror status" for what was read.`,
    from,
    columns,
    reads: columns,
    refine: null,
    filters: {
      [named]: byId(named),
      organization_id: { ...ORGANIZATION, column: findOwnerColumn(entry) ?? ORGANIZATION.column },
      ...(named !== 'project_id' && hasColumn(entry, 'project_id') && { project_id: byId('project_id') }),
      ...filters,
    },
    order: inFull(order, 'version'),
    isIndexed: false,
    idColumn: named,
    hasDetailPages: false,
    entry,
    resource,
    ...more,
    past: pastOf(entry),
  };
}

/** What is equal in all that it is ordered by comes in the order of its number. */
function inFull(order: SortOrder, number: string): SortOrder {
  const [last] = order.slice(-1);
  return last === undefined || last[0] === number ? order : [...order, [number, last[1]]];
}

function pastOf(entry: ResourceEntry): List['past'] {
  const shown = entry.display.columns.flatMap(name => OF_NOW[name] ?? [name]);
  const columns = [...new Set([...shown, 'valid_from'])];
  return { from: `${entry.table}_history`, columns, reads: columns };
}

function titleOf(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;
}

/** How far the counter of changes was: of no use to people. */
const COUNTER = 'changes_up_to';

interface Own
  extends Pick<List, 'name' | 'summary' | 'singular' | 'plural' | 'empty' | 'columns' | 'filters'> {
  readonly title?: string;
  readonly refine?: List['refine'];
  readonly hasDetailPages?: true;
  readonly order?: SortOrder;
}

function own(from: 'inbox.deliveries' | 'inbox.jobs' | 'inbox.rejected_webhooks' | 'syncs', list: Own): List {
  const columns = Object.keys(TABLES[from] ?? {}).filter(name => name !== COUNTER);
  return {
    title: titleOf(list.name),
    from,
    reads: list.columns.includes(OWNER_NAME_COLUMN) ? [...columns, OWNER_NAME_COLUMN] : columns,
    refine: null,
    order: [['id', 'desc']],
    isIndexed: true,
    idColumn: 'id',
    hasDetailPages: false,
    entry: null,
    resource: null,
    past: null,
    ...list,
  };
}

const CREDITS: Mirrored = {
  isIndexed: true,
  hasDetailPages: true,
  filters: { project: BY_PROJECT, vintage: BY_VINTAGE, type: BY_CREDIT_TYPE },
};
const { reservations, warehouse, inventory, retirements } = ENTRY_BY_RESOURCE;

export const DELIVERIES = own('inbox.deliveries', {
  name: 'deliveries',
  summary: 'List and show received and rejected webhooks',
  singular: 'delivery',
  plural: 'deliveries',
  empty: 'No deliveries yet.',
  columns: splitWords(
    'id received_at event organization_name verdict job_state end duplicates ignored_reason job_id installation_id',
  ),
  refine: async (reader, rows) => addEnds(reader, await addJobs(reader, rows)),
  hasDetailPages: true,
  filters: {
    event: byWord('event', { known: WEBHOOK_EVENTS }),
    installation_id: INSTALLATION,
    verdict: { ...byChoice('verdict', ['accepted', 'ignored']), option: null },
    ...byDays('received_at'),
    ignored: byFlag('ignored', 'only ignored deliveries: signed correctly, but not usable', {
      column: 'verdict',
      is: 'ignored',
    }),
  },
});

export const JOBS = own('inbox.jobs', {
  name: 'jobs',
  summary: 'List, show and retry jobs',
  singular: 'job',
  plural: 'jobs',
  empty: 'No jobs yet.',
  columns: splitWords(
    'id kind state organization_name end run_at attempts trigger part error_or_pause_code organization_id',
  ),
  refine: addEnds,
  hasDetailPages: true,
  filters: {
    state: byState(JOB_STATES),
    kind: byChoice('kind', JOB_KINDS),
    trigger: byChoice('trigger', TRIGGERS),
    organization_id: ORGANIZATION,
    ...byDays('run_at'),
  },
});

export const SYNCS = own('syncs', {
  name: 'syncs',
  summary: 'List and show syncs; each sync reads one list',
  singular: 'sync',
  plural: 'syncs',
  empty: 'No syncs yet.',
  columns: splitWords(
    'id started_at resource organization_name state drift trigger seconds rows_added rows_changed rows_removed requests error organization_id',
  ),
  refine: async (_reader, rows) => rows.map(withSeconds),
  filters: {
    id: byId('id', 'number'),
    resource: byChoice('resource', ['installation', ...Object.keys(ENTRY_BY_RESOURCE)]),
    state: byState(SYNC_STATES),
    trigger: byChoice('trigger', TRIGGERS),
    drift: byFlag('drift', 'only syncs that found changes no delivery had announced', {
      column: 'drift',
      above: 0,
    }),
    organization_id: ORGANIZATION,
    ...byDays('started_at'),
  },
});

export const REJECTED_WEBHOOKS = own('inbox.rejected_webhooks', {
  name: 'rejected-webhooks',
  summary: 'List rejected webhooks',
  singular: 'rejected webhook',
  plural: 'rejected webhooks',
  empty: 'No webhooks have been rejected.',
  columns: ['minute', 'status', 'reason', 'header_prefix', 'rejected', 'newest_at', 'advice'],
  refine: (_, rows) => Promise.resolve(rows.map(row => ({ ...row, advice: getRejectionAdvice(row) }))),
  order: parseSortOrder('minute desc', 'reason desc', 'header_prefix desc', 'status desc'),
  filters: byDays('newest_at'),
});

/** The states of requests that the registry is known to use. */
const REQUEST_STATES = ['Pending', 'Accepted', 'Rejected', 'Cancelled', 'Failed'];

const CERTIFICATES = mirrored(
  'certificates',
  'certificate',
  'List, show and export retirement certificates',
  ENTRY_BY_RESOURCE.certificates,
  { order: [['version', 'desc']], filters: { state: byState(CERTIFICATE_STATES) } },
);

/** `available` takes its filters too. */
export const WAREHOUSE = mirrored(
  'warehouse',
  'credit',
  'List and show credits that apps can reserve',
  warehouse,
  {
    plural: 'credits in the warehouses',
    ...CREDITS,
  },
);

export const ORGANIZATIONS = mirrored(
  'organizations',
  'organization',
  'List and show organizations that installed the app',
  ENTRY_BY_RESOURCE.organization,
  { hasDetailPages: true, filters: { type: byWord('type') } },
);

export const RETIREMENTS = mirrored('retirements', 'retirement', 'List and show retirements', retirements, {
  isIndexed: true,
  hasDetailPages: true,
  filters: {
    year: byYear('created_at'),
    beneficiary: byPart('beneficiary'),
    project: BY_PROJECT,
    vintage: BY_VINTAGE,
    ...byDays('created_at'),
  },
});

export const MIRRORED: readonly List[] = [
  mirrored('installations', 'installation', 'List and show installations of the app', INSTALLATIONS, {
    filters: { state: byState(INSTALLATION_STATES) },
  }),
  ORGANIZATIONS,
  mirrored('members', 'member', 'List and show members of organizations', ENTRY_BY_RESOURCE.members),
  mirrored(
    'addresses',
    'address',
    "List and show organizations' blockchain addresses",
    ENTRY_BY_RESOURCE.addresses,
  ),
  WAREHOUSE,
  mirrored('inventory', 'credit', 'List and show credits in main inventories', inventory, {
    plural: 'credits in the main inventories',
    ...CREDITS,
  }),
  RETIREMENTS,
  mirrored('projects', 'project', 'List and show projects that issued credits', ENTRY_BY_RESOURCE.projects, {
    hasDetailPages: true,
    filters: { name: byPart('name', 'full_name'), type: byWord('type') },
  }),
  mirrored(
    'reservations',
    'reservation',
    'Reserve credits for ten minutes; retire, transfer or release them',
    reservations,
    {
      filters: {
        state: byState(['outstanding', 'finished', 'cancelled', 'expired'], 'state_now'),
        ...byDays('created_at'),
      },
    },
  ),
  mirrored(
    'inventory-requests',
    'request',
    "List and show apps' requests for inventory credits",
    ENTRY_BY_RESOURCE.inventory_requests,
    {
      plural: 'inventory requests',
      filters: {
        state: byWord('state', { known: REQUEST_STATES }),
        beneficiary: byPart('beneficiary'),
        ...byDays('created_at'),
      },
    },
  ),
  CERTIFICATES,
];

/** Every list that there is. */
export const ALL_LISTS: readonly List[] = [...MIRRORED, DELIVERIES, REJECTED_WEBHOOKS, JOBS, SYNCS];

function withSeconds(row: Row): Row {
  const { started_at: from, finished_at: to } = row;
  const seconds = to === null ? null : (Date.parse(String(to)) - Date.parse(String(from))) / 1000;
  return { ...row, seconds };
}
