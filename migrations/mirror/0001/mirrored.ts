import {
  type Columns,
  DATED,
  index,
  type Mirrored,
  mirrored,
  raw,
  SURE,
  table,
  VERSION,
} from '../../schema.js';

const AMOUNT = {
  amount: [
    'real',
    'amount in tonnes, for display; sums of it are not exact. NULL if the registry sent no usable number',
  ],
  amount_micro: [
    'large',
    'amount in millionths of a tonne, for exact sums; NULL if the amount has more than six decimals, is too large or is not usable',
  ],
  amount_exact: ['text', "amount in tonnes, in the registry's own digits; NULL if it sent no usable number"],
  fault: ['text', 'why the amount is not usable; NULL if it is usable'],
} as const satisfies Columns;

const PROJECT = {
  project_id: ['text', 'id of the project that issued the credit'],
  project_name: ['text', 'name of the project, as sent with this row'],
} as const satisfies Columns;

const OWNER = {
  organization_id: ['text', 'id of the organization whose list contains the row', 'NOT NULL'],
} as const satisfies Columns;

const STAMPS = {
  created_at: ['instant', 'when the record was created, according to the registry'],
  updated_at: ['instant', 'when the record was last changed, according to the registry'],
} as const satisfies Columns;

const ID = {
  id: ['text', 'id at the registry', 'NOT NULL'],
} as const satisfies Columns;

/** The columns of a credit in the warehouse or the inventory. */
const CREDIT = {
  ...OWNER,
  credit_id: ['text', 'id of the credit at the registry', 'NOT NULL'],
  inventory_id: [
    'text',
    "id of the inventory that contains the credit; '' if the registry sent none",
    'NOT NULL',
  ],
  ...PROJECT,
  serialization: ['text', 'public serial number of the credit'],
  vintage: [
    'text',
    'year of the emission reduction; if the registry sent none, the year at the end of the serialization',
  ],
  type: ['text', 'exPost (issued credits) or exAnte (expected credits)'],
  token_id: ['text', 'number of the token on the blockchain'],
  token_address: ['text', 'contract address of the token on the blockchain'],
  unit: ['text', 'unit of the amount, as sent; the mirror treats every amount as tonnes'],
  ...AMOUNT,
} as const satisfies Columns;

const CERTIFICATE = {
  ...OWNER,
  retirement_id: ['text', 'id of the retirement that the certificate proves', 'NOT NULL'],
  state: [
    'text',
    'pending (not requested yet), unavailable (the registry has none yet) or stored (the file was downloaded)',
    "NOT NULL CHECK (state IN ('pending', 'unavailable', 'stored'))",
  ],
  file: ['text', 'name of the stored file; a file is never overwritten. NULL unless the state is stored'],
  sha256: ['text', 'SHA-256 of the file, in hex; NULL unless the state is stored'],
  size: ['int', 'size of the file in bytes; NULL unless the state is stored'],
  fetched_at: ['instant', 'when the file was downloaded; NULL unless the state is stored'],
  checked_at: ['instant', 'when the certificate was last requested; NULL if it never was'],
  due_at: ['instant', 'when the certificate is requested next', 'NOT NULL'],
  attempts: ['int', 'consecutive requests that returned no file', 'NOT NULL DEFAULT 0'],
  error: ['text', 'why the last request stored no file; NULL if nothing went wrong'],
  retirement_version: [
    'int',
    'version of the retirement for which the certificate was last scheduled',
    'NOT NULL',
  ],
} as const satisfies Columns;

export const RESERVATION = {
  ...OWNER,
  ...ID,
  credit_id: ['text', 'id of the reserved credit', 'NOT NULL'],
  serialization: ['text', 'public serial number of the credit'],
  type: ['text', 'exPost (issued credits) or exAnte (expected credits)'],
  ...AMOUNT,
  ...PROJECT,
  reserver_id: ['text', 'id of the app that made the reservation'],
  reserver_name: ['text', 'name of the app that made the reservation'],
  state: [
    'text',
    "state when the reservation was read, in the registry's own word. A reservation expires without a new read: see reservations_now",
  ],
  is_complete: ['int', '1 if a transfer or retirement completed the reservation, else 0'],
  reserved_to_at: ['instant', 'when the reservation expires'],
  ...STAMPS,
} as const satisfies Columns;

/** The tables that mirror the registry's data, with the resource that fills each of them. */
export const RESOURCES = [
  {
    table: 'installations',
    resource: 'installation',
    meaning:
      'Installations of this app. The mirror derives the state from what the registry permits, because the registry does not send it.',
    owner: 'organization_id',
    key: ['id'],
    columns: {
      ...ID,
      organization_id: ['text', 'id of the organization that installed the app'],
      app_id: ['text', 'id of the app'],
      state: [
        'text',
        'active, suspended or uninstalled',
        "NOT NULL CHECK (state IN ('active', 'suspended', 'uninstalled'))",
      ],
      permissions: ['json', 'granted permissions and their levels, as a JSON object', 'NOT NULL'],
      ...STAMPS,
    },
  },
  {
    table: 'warehouse_credits',
    resource: 'warehouse',
    meaning:
      'Credits in the warehouse, which apps may reserve. Reserved credits are not included: the registry has already subtracted them.',
    owner: 'organization_id',
    key: ['organization_id', 'credit_id', 'inventory_id'],
    columns: CREDIT,
  },
  {
    table: 'reservations',
    resource: 'reservations',
    meaning:
      'Credits that are reserved for an app, for at most ten minutes. The view reservations_now shows the current state of each reservation.',
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: RESERVATION,
  },
  {
    table: 'inventory_credits',
    resource: 'inventory',
    meaning: "Credits in the organization's inventory, which apps cannot reserve.",
    owner: 'organization_id',
    key: ['organization_id', 'credit_id', 'inventory_id'],
    columns: CREDIT,
  },
  {
    table: 'inventory_requests',
    resource: 'inventory_requests',
    meaning:
      'Requests of apps to transfer or retire credits of the inventory. An administrator of the organization accepts or rejects them.',
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: {
      ...OWNER,
      ...ID,
      credit_id: ['text', 'id of the credit to transfer or retire', 'NOT NULL'],
      action: ['text', 'transfer, retire or transfer_retire'],
      state: ['text', "state of the request, in the registry's own word"],
      type: ['text', 'exPost (issued credits) or exAnte (expected credits)'],
      serialization: ['text', 'public serial number of the credit'],
      vintage: [
        'text',
        'year of the emission reduction; if the registry sent none, the year at the end of the serialization',
      ],
      ...AMOUNT,
      from_organization_id: ['text', 'id of the organization that gives the credits'],
      to_organization_id: ['text', 'id of the organization that receives the credits'],
      to_address: [
        'text',
        'blockchain address that receives the credits, if the recipient is not an organization',
      ],
      ...PROJECT,
      tx_id: ['text', 'id of the transaction on the blockchain; NULL until the request was carried out'],
      retirement_reason: ['text', 'stated reason for the retirement'],
      beneficiary: ['text', 'beneficiary of the requested retirement'],
      retirement_comment: ['text', 'comment on the retirement'],
      ...STAMPS,
    },
  },
  {
    table: 'organizations',
    resource: 'organization',
    meaning: 'Organizations that have or had the app installed.',
    owner: 'id',
    key: ['id'],
    columns: {
      ...ID,
      full_name: ['text', 'name of the organization'],
      type: ['text', 'kind of organization'],
      country_code: ['text', 'country code of two capital letters'],
      website: ['text', 'website, as sent; the mirror never opens it'],
      is_public: ['int', '1 if the organization is public at the registry, else 0'],
      ...STAMPS,
    },
  },
  {
    table: 'addresses',
    resource: 'addresses',
    meaning: 'Public blockchain addresses of organizations.',
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: {
      ...OWNER,
      id: ['text', 'id at the registry, or a hash of the object if the registry sent no id', 'NOT NULL'],
      address: ['text', 'blockchain address'],
      name: ['text', 'name that the organization gave the address'],
      is_default: ['int', '1 if this is the default address of the organization, else 0'],
    },
  },
  {
    table: 'members',
    resource: 'members',
    meaning: 'Members of organizations. Empty if MIRROR_MEMBERS is off.',
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: {
      ...OWNER,
      id: ['text', 'id at the registry, or a hash of the object if the registry sent no id', 'NOT NULL'],
      full_name: ['text', 'full name of the member'],
      email: ['text', 'e-mail address of the member'],
    },
  },
  {
    table: 'retirements',
    resource: 'retirements',
    meaning: 'Retirements: credits that were permanently used up.',
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: {
      ...OWNER,
      ...ID,
      ...PROJECT,
      serialization: ['text', 'public serial number of the credit'],
      vintage: [
        'text',
        'year of the emission reduction; if the registry sent none, the year at the end of the serialization',
      ],
      ...AMOUNT,
      reason: ['text', 'stated reason for the retirement'],
      beneficiary: ['text', 'beneficiary of the retirement; NULL if nobody has claimed it'],
      comment: ['text', 'comment on the retirement'],
      is_claimed: ['int', '1 if a beneficiary has claimed the retirement, else 0'],
      created_at: ['instant', 'when the record was created, according to the registry'],
    },
  },
  {
    table: 'projects',
    resource: 'projects',
    meaning:
      'Projects that credits, reservations, inventory requests and retirements refer to, if the registry lets the app read them.',
    owner: null,
    key: ['id'],
    columns: {
      ...ID,
      num: ['text', 'number of the project at the registry'],
      full_name: ['text', 'name of the project'],
      short_description: ['text', 'description of the project in one paragraph'],
      status: ['text', "status of the project, in the registry's own word"],
      registry: ['text', 'registry to which the project belongs'],
      country_code: ['text', 'country code of two capital letters'],
      sector: ['text', 'sector of the project'],
      methodology: ['text', 'methodology of the project'],
      type: ['text', 'type of the project, such as removal or avoidance'],
      start_date: ['text', 'start date of the project, as sent'],
    },
  },
  {
    table: 'certificates',
    resource: 'certificates',
    meaning:
      'Certificates, one for each retirement: the stored file, and when the certificate is requested next.',
    owner: 'organization_id',
    key: ['organization_id', 'retirement_id'],
    columns: CERTIFICATE,
    rules: [
      "CHECK ((state = 'stored') = (file IS NOT NULL AND sha256 IS NOT NULL AND size IS NOT NULL AND fetched_at IS NOT NULL))",
    ],
    history:
      'All certificates that were ever stored, including replaced ones and those of removed retirements, and the certificates that are not stored yet. Files are never deleted when they are replaced.',
    shows: ['retirement_id', 'state', 'sha256', 'size', 'fetched_at'],
    only: "state = 'stored'",
    dated: {
      valid_from: [
        'instant',
        'when the download of the file ended; if there is no file, when the row was created',
        'NOT NULL',
      ],
      sync_id: ['int', 'sync that downloaded the file; NULL if there is no file'],
    },
  },
] as const satisfies readonly Mirrored[];

/** The past versions of the rows of all these tables. */
export const PAST = table(
  'mirror.past',
  'Past versions of the rows of all tables: those that were replaced or removed. For queries, use the views "_history".',
  {
    closed_version: [
      'int',
      'number of the change that ended this version: the version of the new row, or a number of its own if the row was removed',
      'PRIMARY KEY',
    ],
    version: ['int', VERSION.version[1], 'NOT NULL UNIQUE'],
    resource: ['text', 'resource of the row, as in syncs.resource', SURE],
    organization_id: [
      'text',
      'id of the organization that owned the row; for an organization, its own id. NULL for projects, which no organization owns',
    ],
    key: ['text', 'id of the row: credit_id for credits, retirement_id for certificates', SURE],
    valid_from: DATED.valid_from,
    valid_to: [
      'instant',
      'end of the version: when the mirror received the next version, or when the read that no longer showed the row ended. It was valid before this instant, not at it',
      SURE,
    ],
    sync_id: DATED.sync_id,
    closed_by: ['int', 'sync that ended this version', SURE],
    cells: ['cells', 'columns of the row, as a JSON object', SURE],
    document: [
      'text',
      'complete JSON object, as the registry sent it; NULL if there is none, as for certificates',
    ],
    is_removed: [
      'int',
      '1 if the row was removed, 0 if a new version replaced it',
      'NOT NULL CHECK (is_removed IN (0, 1))',
    ],
  },
);

export const MIRRORED = [
  PAST,
  /** Has the numbers too, so that the changes of an organization are listed without reading its versions. */
  index('past_by_key', 'mirror.past', 'resource, organization_id, key, version, closed_version'),
  raw(({ engine, mirror }) => {
    const file = engine === 'sqlite' ? "json_extract(cells, '$.file')" : "(cells ->> 'file')";
    return `CREATE INDEX past_by_file ON ${mirror}past (${file}) WHERE resource = 'certificates';\n`;
  }),
  ...RESOURCES.map(mirrored),
  index('installations_by_organization', 'mirror.installations', 'organization_id, state'),
  index('warehouse_credits_largest', 'mirror.warehouse_credits', 'amount_micro, version'),
  index('warehouse_credits_by_project', 'mirror.warehouse_credits', 'project_id, project_name'),
  index('warehouse_credits_by_vintage', 'mirror.warehouse_credits', 'vintage, type'),
  index('inventory_credits_largest', 'mirror.inventory_credits', 'amount_micro, version'),
  index('inventory_credits_by_project', 'mirror.inventory_credits', 'project_id, project_name'),
  index('inventory_credits_by_vintage', 'mirror.inventory_credits', 'vintage, type'),
  index('retirements_newest', 'mirror.retirements', 'created_at, version'),
  index('retirements_by_id', 'mirror.retirements', 'id, version'),
  index('retirements_by_project', 'mirror.retirements', 'project_id, project_name'),
  index('retirements_by_created_at', 'mirror.retirements', 'organization_id, created_at, amount_micro'),
  index('certificates_by_due_at', 'mirror.certificates', 'organization_id, due_at'),
  index('certificates_not_stored', 'mirror.certificates', 'organization_id, state', "state <> 'stored'"),
  index('certificates_by_file', 'mirror.certificates', 'file', 'file IS NOT NULL'),
];
