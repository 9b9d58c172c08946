/**
 * The columns of rows that events contain, by resource. Members, addresses of organizations, blockchain addresses and documents
 * are left out.
 */
import { TABLES } from '../../store/contract/tables.js';

interface EventRows {
  readonly table: string;
  readonly columns: readonly string[];
}

const CREDIT = [
  'credit_id',
  'inventory_id',
  'project_id',
  'project_name',
  'serialization',
  'vintage',
  'type',
  'unit',
  'amount_exact',
  'fault',
];

/** Resources whose changes are events. */
export const EVENT_ROWS = {
  retirements: {
    table: 'retirements',
    columns: [
      'id',
      'project_id',
      'project_name',
      'serialization',
      'vintage',
      'amount_exact',
      'fault',
      'reason',
      'beneficiary',
      'comment',
      'is_claimed',
      'created_at',
    ],
  },
  certificates: {
    table: 'certificates',
    columns: ['retirement_id', 'state', 'sha256', 'size', 'fetched_at'],
  },
  warehouse: { table: 'warehouse_credits', columns: CREDIT },
  inventory: { table: 'inventory_credits', columns: CREDIT },
  reservations: {
    table: 'reservations',
    columns: [
      'id',
      'credit_id',
      'serialization',
      'type',
      'amount_exact',
      'fault',
      'project_id',
      'project_name',
      'reserver_id',
      'reserver_name',
      'state',
      'is_complete',
      'reserved_to_at',
      'created_at',
      'updated_at',
    ],
  },
  inventory_requests: {
    table: 'inventory_requests',
    columns: [
      'id',
      'credit_id',
      'action',
      'state',
      'type',
      'serialization',
      'vintage',
      'amount_exact',
      'fault',
      'from_organization_id',
      'to_organization_id',
      'project_id',
      'project_name',
      'tx_id',
      'retirement_reason',
      'beneficiary',
      'retirement_comment',
      'created_at',
      'updated_at',
    ],
  },
  installation: { table: 'installations', columns: ['id', 'state', 'created_at', 'updated_at'] },
  organization: {
    table: 'organizations',
    columns: ['id', 'full_name', 'type', 'country_code', 'website', 'is_public'],
  },
} as const satisfies Readonly<Record<string, EventRows>>;

export type EventResource = keyof typeof EVENT_ROWS;

export function isEventResource(resource: string): resource is EventResource {
  return Object.hasOwn(EVENT_ROWS, resource);
}

/** A part of a JSON schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const JSON_TYPES: Readonly<Record<string, string>> = { int: 'integer', large: 'integer', real: 'number' };

/** Creates the JSON schema of a row in an event, from the description of its table. */
export function createRowSchema(resource: EventResource): JsonSchema {
  const { table, columns }: EventRows = EVENT_ROWS[resource];
  const properties = columns.map(name => [name, createColumnSchema(table, name)] as const);
  return createObjectSchema(Object.fromEntries(properties));
}

/** Creates the JSON schema of one column of a table. */
function createColumnSchema(table: string, name: string): JsonSchema {
  const column = TABLES[table]?.[name];
  if (column === undefined) throw new Error(`expected a column ${table}.${name}, got none`);
  const [kind, description] = column;
  const type = JSON_TYPES[kind] ?? 'string';
  return { type: [type, 'null'], ...(kind === 'instant' && { format: 'date-time' }), description };
}

/** Returns the JSON schema of an object that has exactly these properties. */
export function createObjectSchema(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
