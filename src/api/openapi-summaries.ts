/** JSON schemas of the answers that are not rows of a list: available credits, changes, and the status of the mirror. */
import type { Caveat } from '../query/answer/caveat.js';
import type { GapReason } from '../query/answer/gap.js';
import { createStoredSchema, FRESHNESS_STATES, type JsonSchema } from './openapi-schemas.js';

const TEXT = { type: 'string' };
const TEXT_OR_NULL = { type: ['string', 'null'] };
const INSTANT_OR_NULL = { type: ['string', 'null'], format: 'date-time' };
const COUNT = { type: 'integer', minimum: 0 };
const COUNT_OR_NULL = { type: ['integer', 'null'], minimum: 0 };
const ANY_ROW_OR_NULL = { type: ['object', 'null'] };

type Properties = Readonly<Record<string, JsonSchema>>;

/** Creates the JSON schema of an object that has all these properties. */
function createObject(properties: Properties, description?: string): JsonSchema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    required: Object.keys(properties),
    properties,
  };
}

/** Creates the JSON schemas of stored columns, by name. */
function createColumns(table: string, ...names: readonly string[]): Properties {
  return Object.fromEntries(names.map(name => [name, createStoredSchema(table, name)]));
}

function createArray(name: string): JsonSchema {
  return { type: 'array', items: { $ref: `#/components/schemas/${name}` } };
}

const WORKER = {
  oldest_unread_at: { ...INSTANT_OR_NULL, description: 'when the oldest unread webhook arrived' },
  worker_seen_at: { ...INSTANT_OR_NULL, description: 'last heartbeat of a worker' },
};
const STATE = { type: 'string', enum: FRESHNESS_STATES };
const REASON = { ...TEXT_OR_NULL, description: 'reason for the state, as in the view freshness' };
const AGE = {
  as_of: { ...INSTANT_OR_NULL, description: 'start of the last complete read' },
  age_seconds: { ...COUNT_OR_NULL, description: 'seconds since as_of' },
};
const FAILURE = {
  failing_since: {
    ...INSTANT_OR_NULL,
    description: 'start of the first failed read since the last complete one',
  },
  error: { ...TEXT_OR_NULL, description: 'why the last read failed' },
};

const AVAILABLE_ROW = createObject({
  ...createColumns('available_credits', 'organization_id', 'organization_name', 'project_id', 'project_name'),
  ...createColumns('available_credits', 'vintage', 'type'),
  amount: { type: ['number', 'null'], description: 'tonnes, for display' },
  amount_micro: {
    type: ['integer', 'string', 'null'],
    description: 'exact amount in millionths of a tonne; null if it is too large for a 64-bit integer',
  },
  ...createColumns('available_credits', 'rows', 'rows_without_amount'),
  freshness: { const: 'fresh' },
  reason: { type: 'null' },
  ...createColumns('available_credits', 'failing_since', 'as_of', 'age_seconds', 'credit_id'),
});

const LEFT_OUT_WAREHOUSE = createObject(
  {
    organization_id: TEXT_OR_NULL,
    installation_id: TEXT,
    organization_name: TEXT_OR_NULL,
    state: { type: 'string', enum: FRESHNESS_STATES.filter(state => state !== 'fresh') },
    reason: REASON,
    rows: { ...COUNT, description: 'last known rows, of those that match the filters' },
    amounts: {
      type: 'array',
      description: 'Last known tonnes by credit type. Do not sell them: they may be gone.',
      items: createObject({
        type: TEXT_OR_NULL,
        amount: { type: ['number', 'null'] },
        rows_without_amount: COUNT,
      }),
    },
    ...FAILURE,
    ...AGE,
    ...WORKER,
  },
  'A warehouse that is not fresh, so that none of its credits is in `rows`.',
);

/** The fields of /v1/available beside those of a page. */
export const AVAILABLE_FIELDS: Properties = {
  left_out: createArray('LeftOutWarehouse'),
  uninstalled: {
    ...COUNT,
    description: 'Organizations that removed the app. `coverage` does not count them.',
  },
};

const CHANGE_COLUMNS = [
  'number',
  'observed_at',
  'organization_id',
  'organization_name',
  'resource',
  'row_id',
  'sync_id',
  'trigger',
  'job_id',
  'newest_delivery_id',
];

const CHANGE_ROW = createObject({
  ...createColumns('changes', ...CHANGE_COLUMNS),
  change: { type: 'string', enum: ['added', 'changed', 'removed'] },
  before: { ...ANY_ROW_OR_NULL, description: 'columns before the change; null if the row was added' },
  after: { ...ANY_ROW_OR_NULL, description: 'columns after the change; null if the row was removed' },
  changed_columns: {
    type: ['array', 'null'],
    items: TEXT,
    description: 'names of the columns that differ; null if the row was added or removed',
  },
});

/** The fields of /v1/changes beside those of a page. */
export const CHANGE_FIELDS: Properties = {
  next: { ...COUNT, description: 'The value of `after` for the next request.' },
  last: {
    ...COUNT,
    description: 'The number of the newest change. You have read all once `next` is the same.',
  },
};

const COMPARED_ROW: JsonSchema = {
  type: 'object',
  description: 'A row that differs, with its key and the main columns of its list.',
  required: ['change'],
  properties: {
    change: { type: 'string', enum: ['added', 'changed', 'removed'] },
    organization_id: TEXT,
    organization_name: TEXT_OR_NULL,
    amount_before: TEXT_OR_NULL,
    amount_after: TEXT_OR_NULL,
    difference: { ...TEXT_OR_NULL, description: 'amount_after minus amount_before, in tonnes' },
    fields: {
      ...TEXT_OR_NULL,
      description: 'names of the columns that differ; null unless the row was changed',
    },
    old_values: TEXT_OR_NULL,
    new_values: TEXT_OR_NULL,
  },
};

const PROCESS = createObject({
  state: { type: 'string', enum: ['never_seen', 'alive', 'gone'] },
  seen_at: { ...INSTANT_OR_NULL, description: 'last heartbeat' },
});

const ISSUE = createObject(
  {
    check: { ...TEXT, description: 'what was checked, such as worker, receiver, registry, jobs or backlog' },
    is_fault: { type: 'boolean' },
    is_severe: { type: 'boolean', description: 'whether nothing more is read, or a person has to act' },
    found: { ...TEXT, description: 'what is wrong, as a sentence' },
    todo: { ...TEXT, description: 'what to do about it, as a sentence' },
    actor: {
      enum: ['operator', 'administrator', 'registry', null],
      description: 'who can act; administrator is one of the organization. Null if nobody has to',
    },
    href: { ...TEXT, description: 'console page with the details' },
    command: { ...TEXT_OR_NULL, description: 'command with the details' },
    action: { enum: ['retry', 'read_now', null], description: 'button of the console' },
  },
  'A problem that somebody has to look at, as `doctor` and the console show it.',
);

const LIST_STATUS = createObject({
  resource: { ...TEXT, description: 'kind of data, such as warehouse' },
  state: STATE,
  reason: REASON,
  rows: COUNT_OR_NULL,
  drift_total: { ...COUNT_OR_NULL, description: 'changes that no webhook had announced' },
  ...FAILURE,
  ...AGE,
  ...WORKER,
});

const ORGANIZATION_STATUS = createObject({
  organization_id: TEXT_OR_NULL,
  installation_id: TEXT,
  name: TEXT_OR_NULL,
  state: { ...TEXT, description: 'state of the installation: active, never_read, suspended or uninstalled' },
  resources: createArray('ListStatus'),
  certificates: {
    type: 'object',
    description: 'number of certificates by state',
    additionalProperties: COUNT,
  },
});

/** The main fields of /v1/status beside the notes. */
export const STATUS_FIELDS: Properties = {
  organizations: createArray('OrganizationStatus'),
  issues: createArray('Issue'),
  worker: { $ref: '#/components/schemas/Process' },
  receiver: { $ref: '#/components/schemas/Process' },
  jobs: {
    type: 'object',
    description: 'number of jobs by state',
    required: ['due', 'planned', 'running', 'paused', 'failed', 'retrying'],
    properties: { due: COUNT, planned: COUNT, running: COUNT, paused: COUNT, failed: COUNT, retrying: COUNT },
  },
  registry: { ...TEXT_OR_NULL, description: 'address of the registry' },
  simulated_until: { ...INSTANT_OR_NULL, description: 'end of the simulated history of a demo' },
  oldest_unread_at: WORKER.oldest_unread_at,
  newest_delivery_at: { ...INSTANT_OR_NULL, description: 'when the newest webhook arrived' },
};

const CAVEATS: Readonly<Record<Caveat['code'], string>> = {
  nothing_read: 'no list was ever read completely: the rows are unknown',
  nothing_known_then: 'nothing was known about the rows at that instant',
  nothing_compared: 'no list was known at both dates',
  not_compared: 'organizations that are in no total, because their list was not known at both dates',
  never_read: 'organizations that are missing, because their list was never read completely',
  last_seen: 'organizations whose rows are as last seen, because their lists are not fresh',
  uninstalled_included: 'organizations that removed the app and are included',
  left_out: 'organizations whose warehouse is left out, because it is not fresh',
  without_amount: 'rows that are in no total',
  limited: 'there are more rows',
  newer_rejected: 'webhooks that were rejected after the newest delivery',
  no_match: 'no row matches this filter, even without the other filters',
  changes_unread_after: 'changes after last_read_at may be missing',
  unchanged_between: 'all reads around the instant found the list unchanged',
  reads_not_recorded: 'the reads before the instant are no longer recorded',
};

const GAPS: Readonly<Record<GapReason['code'], string>> = {
  never_read: 'never read completely',
  before_first_read: 'the instant is before the end of the first complete read',
  no_longer_readable: 'the instant is after the app lost access to the list',
  read_running: 'a read was still running',
  read_incomplete: 'the read was not complete, so it may have missed changes',
  later_changes_unread: 'changes after last_read_at had not been read yet',
};

/** Creates the JSON schema of an object with one of these codes. The description explains each code. */
function createCoded(description: string, codes: Readonly<Record<string, string>>, others: Properties) {
  const meanings = Object.entries(codes).map(([code, meaning]) => `\`${code}\`: ${meaning}.`);
  return {
    type: 'object',
    description: [description, ...meanings].join(' '),
    required: ['code', ...Object.keys(others)],
    properties: { code: { type: 'string', enum: Object.keys(codes) }, ...others },
  };
}

export const SUMMARY_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  AvailableRow: AVAILABLE_ROW,
  LeftOutWarehouse: LEFT_OUT_WAREHOUSE,
  ChangeRow: CHANGE_ROW,
  ComparedRow: COMPARED_ROW,
  OrganizationStatus: ORGANIZATION_STATUS,
  ListStatus: LIST_STATUS,
  Process: PROCESS,
  Issue: ISSUE,
  Caveat: createCoded('Something that a reader must know to use the rows, with numbers for it.', CAVEATS, {}),
  Gap: createCoded('A list that was not fully known at a past instant.', GAPS, {
    organization_id: TEXT,
    organization_name: TEXT_OR_NULL,
    resource: TEXT,
  }),
};
