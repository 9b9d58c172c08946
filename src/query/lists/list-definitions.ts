/** Every list of the program, with its columns and filters. The kinds of columns are in column.ts, those of filters in filter.ts. */
import { addRetirements } from '../certificates.js';
import { CERTIFICATE_STATES, INSTALLATION_STATES, SYNC_STATES } from '../../store/contract/states.js';
import type { Row } from '../../store/contract/tables.js';
import { JOB_KINDS, JOB_STATES, TRIGGERS } from '../../inbox/job.js';
import { ORDER_ACTIONS, ORDER_STATES } from '../../inbox/order.js';
import { WEBHOOK_EVENTS } from '../../registry/object-models.js';
import { INSTALLATIONS } from '../../resources/installations.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { addRestatedFields, RESTATED_FIELD_COLUMNS } from '../history/restated-fields.js';
import { addEndColumn, addJobs } from '../inbox/outcomes.js';
import { findNewerRejections, getRejectionAdvice } from '../inbox/rejected-webhooks.js';
import {
  certificateFile,
  count,
  creditType,
  day,
  flag,
  id,
  idOf,
  instant,
  jobKind,
  ORGANIZATION_ID,
  ORGANIZATION_NAME,
  PROJECT_NAME,
  resourceName,
  seconds,
  state,
  text,
  tonnes,
} from './column.js';
import { defineMirroredList, defineOwnList } from './define-list.js';
import {
  BY_CREDIT_TYPE,
  BY_INSTALLATION,
  BY_OFFERED_VINTAGE,
  BY_ORGANIZATION,
  BY_PROJECT,
  BY_TYPE,
  BY_VINTAGE,
  byChoice,
  byDays,
  byFlag,
  byId,
  bySubstring,
  byRetirement,
  byState,
  byWord,
  byYear,
  byYears,
} from './filter.js';
import type { List } from './list-type.js';

const CREDIT_COLUMNS = [
  { ...PROJECT_NAME, isImportant: true },
  text('vintage'),
  creditType('type'),
  tonnes('amount_exact'),
  ORGANIZATION_NAME,
  text('serialization'),
  id('credit_id', { isImportant: true }),
  ORGANIZATION_ID,
] as const;
const CREDIT_FILTERS = { project: BY_PROJECT, vintage: BY_OFFERED_VINTAGE, type: BY_CREDIT_TYPE };

export const WAREHOUSE = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.warehouse,
  from: 'warehouse_credits',
  history: 'warehouse_credits_history',
  name: 'warehouse',
  singular: 'credit',
  plural: 'credits in the warehouses',
  summary: 'List and show stock that apps can reserve',
  columns: CREDIT_COLUMNS,
  order: [['amount_micro', 'desc']],
  isIndexed: true,
  sortWords: { column: 'amount_exact', forward: 'largest', backward: 'smallest' },
  isOffer: true,
  detailList: 'warehouse',
  filters: CREDIT_FILTERS,
});

const INVENTORY = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.inventory,
  from: 'inventory_credits',
  history: 'inventory_credits_history',
  name: 'inventory',
  singular: 'credit',
  plural: 'credits in the main inventories',
  summary: 'List and show stock in main inventories',
  columns: CREDIT_COLUMNS,
  order: [['amount_micro', 'desc']],
  isIndexed: true,
  sortWords: { column: 'amount_exact', forward: 'largest', backward: 'smallest' },
  detailList: 'inventory',
  filters: CREDIT_FILTERS,
});

export const RETIREMENTS = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.retirements,
  from: 'retirements',
  history: 'retirements_history',
  name: 'retirements',
  singular: 'retirement',
  summary: 'List and show retirements',
  columns: [
    day('created_at', { label: 'retired', isImportant: true }),
    tonnes('amount_exact'),
    text('beneficiary', { isName: true, placeholder: 'unclaimed' }),
    PROJECT_NAME,
    text('vintage'),
    ORGANIZATION_NAME,
    id('id', { isImportant: true }),
    ORGANIZATION_ID,
  ],
  order: [['created_at', 'desc']],
  isIndexed: true,
  sortWords: { column: 'created_at', forward: 'newest', backward: 'oldest' },
  detailList: 'retirements',
  filters: {
    year: byYear('created_at'),
    beneficiary: bySubstring('beneficiary', 'beneficiary'),
    project: BY_PROJECT,
    vintage: BY_VINTAGE,
    ...byDays('created_at'),
  },
});

export const ORGANIZATIONS = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.organization,
  from: 'organizations',
  history: 'organizations_history',
  name: 'organizations',
  singular: 'organization',
  summary: 'List and show organizations that installed the app',
  columns: [
    text('full_name', { isName: true, isImportant: true }),
    text('type'),
    text('country_code'),
    id('id', { isImportant: true }),
    text('website'),
    instant('valid_from'),
  ],
  order: [
    ['full_name', 'asc'],
    ['id', 'asc'],
  ],
  detailList: 'organizations',
  filters: { type: BY_TYPE },
});

const INSTALLATION_LIST = defineMirroredList({
  entry: INSTALLATIONS,
  from: 'installations',
  history: 'installations_history',
  name: 'installations',
  singular: 'installation',
  summary: 'List and show installations of the app',
  columns: [
    { ...ORGANIZATION_NAME, isImportant: true },
    state('state'),
    id('id', { isImportant: true }),
    ORGANIZATION_ID,
    instant('valid_from'),
    text('permissions'),
  ],
  order: [
    ['organization_id', 'asc'],
    ['id', 'asc'],
  ],
  filters: { state: byState(INSTALLATION_STATES, 'state') },
});

const MEMBERS = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.members,
  from: 'members',
  history: 'members_history',
  name: 'members',
  singular: 'member',
  summary: 'List and show members of organizations',
  isPersonal: true,
  columns: [
    text('full_name', { isImportant: true }),
    text('email'),
    ORGANIZATION_NAME,
    id('id', { isImportant: true }),
    ORGANIZATION_ID,
  ],
  order: [['full_name', 'asc']],
});

const ADDRESSES = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.addresses,
  from: 'addresses',
  history: 'addresses_history',
  name: 'addresses',
  singular: 'address',
  summary: "List and show organizations' blockchain addresses",
  isPersonal: true,
  columns: [
    text('name', { isImportant: true }),
    ORGANIZATION_NAME,
    text('address'),
    flag('is_default'),
    id('id', { isImportant: true }),
    ORGANIZATION_ID,
  ],
  order: [['name', 'asc']],
});

const PROJECTS = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.projects,
  from: 'projects',
  history: 'projects_history',
  name: 'projects',
  singular: 'project',
  summary: 'List and show projects that issued credits',
  columns: [
    text('full_name', { isName: true, isImportant: true }),
    text('num'),
    text('status'),
    text('country_code'),
    text('sector'),
    text('type'),
    id('id', { isImportant: true }),
  ],
  order: [
    ['num', 'asc'],
    ['id', 'asc'],
  ],
  detailList: 'projects',
  filters: { name: bySubstring('name', 'full_name'), type: BY_TYPE },
});

const RESERVATION_COLUMNS = [
  tonnes('amount_exact'),
  PROJECT_NAME,
  ORGANIZATION_NAME,
  text('reserver_name'),
  id('id', { isImportant: true }),
  id('credit_id'),
  day('created_at'),
  ORGANIZATION_ID,
] as const;

const RESERVATIONS = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.reservations,
  from: 'reservations_now',
  history: 'reservations_history',
  name: 'reservations',
  singular: 'reservation',
  summary: 'Reserve credits for ten minutes; retire, transfer or release them',
  columns: [state('state_now', { isImportant: true }), seconds('seconds_left'), ...RESERVATION_COLUMNS],
  // The state and the time left are computed when the list is read, so a past one has neither.
  pastColumns: [state('state', { isImportant: true }), instant('reserved_to_at'), ...RESERVATION_COLUMNS],
  order: [
    ['created_at', 'desc'],
    ['id', 'asc'],
  ],
  holds: { column: 'state_now', is: 'outstanding' },
  filters: {
    state: byState(['outstanding', 'finished', 'cancelled', 'expired'], 'state_now'),
    ...byDays('created_at'),
  },
  detailList: 'reservations',
});

/** The states of requests that the registry is known to use. */
const REQUEST_STATES = ['Pending', 'Accepted', 'Rejected', 'Cancelled', 'Failed'];

const INVENTORY_REQUESTS = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.inventory_requests,
  from: 'inventory_requests',
  history: 'inventory_requests_history',
  name: 'inventory-requests',
  singular: 'request',
  plural: 'inventory requests',
  summary: "List and show apps' requests for inventory credits",
  columns: [
    state('state', { isImportant: true }),
    text('action'),
    tonnes('amount_exact'),
    PROJECT_NAME,
    ORGANIZATION_NAME,
    day('created_at'),
    id('id', { isImportant: true }),
    id('credit_id'),
    ORGANIZATION_ID,
  ],
  order: [
    ['created_at', 'desc'],
    ['id', 'asc'],
  ],
  filters: {
    state: byWord('state', { known: REQUEST_STATES }),
    beneficiary: bySubstring('beneficiary', 'beneficiary'),
    ...byDays('created_at'),
  },
});

const BY_RETIREMENT_DAYS = byDays('created_at');

export const CERTIFICATES = defineMirroredList({
  entry: ENTRY_BY_RESOURCE.certificates,
  from: 'certificates',
  history: 'certificates_history',
  name: 'certificates',
  singular: 'certificate',
  summary: 'List, show and export retirement certificates',
  columns: [
    state('state', { isImportant: true }),
    day('retired_at', { label: 'retired' }),
    tonnes('amount_exact'),
    text('beneficiary', { isName: true, placeholder: 'unclaimed' }),
    text('project_name'),
    ORGANIZATION_NAME,
    { ...idOf('retirement_id', 'retirements'), isImportant: true },
    count('size'),
    instant('fetched_at'),
    instant('due_at'),
    text('error', { isImportant: true, isWrapped: true }),
    ORGANIZATION_ID,
    certificateFile('file'),
  ],
  computed: {
    columns: ['retired_at', 'amount_exact', 'beneficiary', 'project_name'],
    compute: addRetirements,
  },
  order: [['version', 'desc']],
  detailList: 'retirements',
  filters: {
    state: byState(CERTIFICATE_STATES, 'state'),
    year: byRetirement(byYear('created_at')),
    beneficiary: byRetirement(bySubstring('beneficiary', 'beneficiary')),
    project: byRetirement(BY_PROJECT),
    from: byRetirement(BY_RETIREMENT_DAYS.from),
    until: byRetirement(BY_RETIREMENT_DAYS.until),
  },
});

const RESTATEMENTS = defineOwnList({
  from: 'restatements',
  name: 'restatements',
  singular: 'restatement',
  plural: 'restatements',
  summary: 'List and show changes made after the year had ended',
  empty: 'No restatements have been observed.',
  idColumn: 'number',
  resource: 'retirements',
  isIndexed: false,
  columns: [
    id('number', { isImportant: true }),
    instant('observed_at'),
    ORGANIZATION_NAME,
    resourceName('resource'),
    text('year', { isImportant: true }),
    state('change'),
    text('fields', { isImportant: true }),
    text('old_values', { label: 'before', isImportant: true, isWrapped: true }),
    text('new_values', { label: 'after', isImportant: true, isWrapped: true }),
    { ...idOf('id', 'retirements'), label: 'retirement' },
    idOf('sync_id', 'syncs'),
    ORGANIZATION_ID,
  ],
  computed: { columns: RESTATED_FIELD_COLUMNS, compute: addRestatedFields },
  filters: {
    number: byId('number', 'number'),
    id: byId('id'),
    year: byYears('year'),
    resource: byChoice('resource', ['retirements', 'certificates'], 'resource'),
    change: byChoice('change', ['changed', 'removed'], 'change'),
    organization_id: BY_ORGANIZATION,
    ...byDays('observed_at'),
  },
});

export const DELIVERIES = defineOwnList({
  from: 'inbox.deliveries',
  name: 'deliveries',
  singular: 'delivery',
  plural: 'deliveries',
  summary: 'List and show received and rejected webhooks',
  empty: 'No deliveries yet.',
  sortWords: { column: 'received_at', forward: 'newest', backward: 'oldest' },
  columns: [
    id('id', { isImportant: true }),
    instant('received_at', { isImportant: true }),
    text('event', { isImportant: true }),
    ORGANIZATION_NAME,
    state('job_state', { isImportant: true }),
    { ...idOf('job_id', 'jobs'), isImportant: true },
    text('end', { isImportant: true, isWrapped: true }),
    state('verdict'),
    count('duplicates'),
    text('ignored_reason'),
    idOf('installation_id', 'installations'),
  ],
  computed: {
    columns: ['job_state', 'end', 'organization_id'],
    compute: async (reader, rows) => await addEndColumn(reader, await addJobs(reader, rows)),
  },
  detailList: 'deliveries',
  readCaveats: findNewerRejections,
  filters: {
    event: byWord('event', { known: WEBHOOK_EVENTS }),
    installation_id: BY_INSTALLATION,
    verdict: { ...byChoice('verdict', ['accepted', 'ignored'], 'verdict'), option: null },
    ...byDays('received_at'),
    ignored: {
      ...byFlag('ignored', 'only ignored deliveries: signed correctly, but not usable', {
        column: 'verdict',
        is: 'ignored',
      }),
      replacedBy: 'verdict',
    },
  },
});

export const JOBS = defineOwnList({
  from: 'inbox.jobs',
  name: 'jobs',
  singular: 'job',
  plural: 'jobs',
  summary: 'List, show and retry jobs',
  empty: 'No jobs yet.',
  sortWords: { column: 'id', forward: 'newest', backward: 'oldest' },
  columns: [
    id('id', { isImportant: true }),
    jobKind('kind'),
    state('state'),
    ORGANIZATION_NAME,
    text('end', { isImportant: true, isWrapped: true }),
    instant('run_at'),
    count('attempts'),
    text('trigger'),
    text('part'),
    text('error_or_pause_code'),
    ORGANIZATION_ID,
  ],
  computed: { columns: ['end'], compute: addEndColumn },
  detailList: 'jobs',
  filters: {
    state: byState(JOB_STATES, 'state'),
    kind: byChoice('kind', JOB_KINDS, 'kind'),
    trigger: byChoice('trigger', TRIGGERS, 'trigger'),
    organization_id: BY_ORGANIZATION,
    ...byDays('run_at'),
  },
});

export const SYNCS = defineOwnList({
  from: 'syncs',
  name: 'syncs',
  singular: 'sync',
  plural: 'syncs',
  summary: 'List and show syncs; each sync reads one list',
  empty: 'No syncs yet.',
  sortWords: { column: 'started_at', forward: 'newest', backward: 'oldest' },
  columns: [
    id('id', { isImportant: true }),
    instant('started_at'),
    resourceName('resource'),
    ORGANIZATION_NAME,
    state('state'),
    count('drift'),
    text('trigger'),
    count('seconds'),
    count('rows_added'),
    count('rows_changed'),
    count('rows_removed'),
    count('requests'),
    text('error', { isImportant: true, isWrapped: true }),
    ORGANIZATION_ID,
  ],
  computed: { columns: ['seconds'], compute: async (_reader, rows) => rows.map(addDuration) },
  filters: {
    id: byId('id', 'number'),
    resource: byChoice('resource', ['installation', ...Object.keys(ENTRY_BY_RESOURCE)], 'resource'),
    state: byState(SYNC_STATES, 'state'),
    trigger: byChoice('trigger', TRIGGERS, 'trigger'),
    drift: byFlag('drift', 'only syncs that found changes no delivery had announced', {
      column: 'drift',
      above: 0,
    }),
    organization_id: BY_ORGANIZATION,
    ...byDays('started_at'),
  },
});

export const ORDERS = defineOwnList({
  from: 'inbox.orders',
  name: 'orders',
  singular: 'order',
  plural: 'orders',
  summary: 'List and show orders that people gave in the console',
  empty: 'No orders yet. CONSOLE_ACTIONS=on allows them.',
  sortWords: { column: 'created_at', forward: 'newest', backward: 'oldest' },
  columns: [
    id('id', { isImportant: true }),
    instant('created_at'),
    text('actor', { placeholder: 'sign-in link' }),
    text('action', { isImportant: true }),
    state('state', { isImportant: true }),
    tonnes('amount_exact'),
    ORGANIZATION_NAME,
    text('beneficiary'),
    text('result', { isImportant: true, isWrapped: true }),
    idOf('reservation_id', 'reservations'),
    idOf('credit_id', 'warehouse'),
    ORGANIZATION_ID,
  ],
  detailList: 'orders',
  filters: {
    state: byState(ORDER_STATES, 'state'),
    action: byChoice('action', ORDER_ACTIONS, 'action'),
    actor: bySubstring('actor', 'actor'),
    organization_id: BY_ORGANIZATION,
    ...byDays('created_at'),
  },
});

export const REJECTED_WEBHOOKS = defineOwnList({
  from: 'inbox.rejected_webhooks',
  name: 'rejected-webhooks',
  singular: 'rejected webhook',
  plural: 'rejected webhooks',
  summary: 'List rejected webhooks',
  empty: 'No webhooks have been rejected.',
  columns: [
    text('minute', { isImportant: true }),
    text('status'),
    text('reason'),
    text('header_prefix'),
    count('rejected'),
    instant('newest_at'),
    text('advice'),
  ],
  computed: {
    columns: ['advice'],
    compute: async (_reader, rows) => rows.map(row => ({ ...row, advice: getRejectionAdvice(row) })),
  },
  order: [
    ['minute', 'desc'],
    ['reason', 'desc'],
    ['header_prefix', 'desc'],
    ['status', 'desc'],
  ],
  filters: byDays('newest_at'),
});

export const MIRRORED: readonly List[] = [
  INSTALLATION_LIST,
  ORGANIZATIONS,
  MEMBERS,
  ADDRESSES,
  WAREHOUSE,
  INVENTORY,
  RETIREMENTS,
  PROJECTS,
  RESERVATIONS,
  INVENTORY_REQUESTS,
  CERTIFICATES,
];

export const ALL_LISTS: readonly List[] = [
  ...MIRRORED,
  RESTATEMENTS,
  ORDERS,
  DELIVERIES,
  REJECTED_WEBHOOKS,
  JOBS,
  SYNCS,
];

/** Returns the list with a name. Throws if there is none. */
export function findList(name: string): List {
  const list = ALL_LISTS.find(each => each.name === name);
  if (list === undefined) throw new Error(`There is no list ${name}.`);
  return list;
}

/** Adds the column `seconds` to a sync: how long it took. Null while it runs. */
function addDuration(row: Row): Row {
  const { started_at: start, finished_at: end } = row;
  const duration = end === null ? null : (Date.parse(String(end)) - Date.parse(String(start))) / 1000;
  return { ...row, seconds: duration };
}
