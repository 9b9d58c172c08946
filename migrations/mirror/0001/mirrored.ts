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
  amount: ['real', 'tonnes, to look at; sums of it are not exact'],
  amount_micro: ['large', 'millionths of a tonne, for exact sums; null where it is too fine or too large'],
  amount_exact: ['text', "the registry's own digits; null where it sent no usable number"],
  fault: ['text', 'what is wrong with the amount; null where nothing is'],
} as const satisfies Columns;

const PROJECT = {
  project_id: ['text', 'the project that issued the credit'],
  project_name: ['text', "the project's name as this row was sent with it"],
} as const satisfies Columns;

const OWNER = {
  organization_id: ['text', 'the organization whose list it stood in', 'NOT NULL'],
} as const satisfies Columns;

const STAMPS = {
  created_at: ['instant', 'when the registry says it was created'],
  updated_at: ['instant', 'when the registry says it last changed'],
} as const satisfies Columns;

const ID = {
  id: ['text', "the registry's id", 'NOT NULL'],
} as const satisfies Columns;

/** Credits, in whichever list. */
const CREDIT = {
  ...OWNER,
  credit_id: ['text', "the registry's id of the credit", 'NOT NULL'],
  inventory_id: ['text', "which inventory holds it; '' where none was sent", 'NOT NULL'],
  ...PROJECT,
  serialization: ['text', 'what names the credit in public'],
  vintage: ['text', 'year of the reduction; where it was not sent, the year that ends the serialization'],
  type: ['text', 'exPost (issued) or exAnte (expected)'],
  token_id: ['text', 'number of the token on the chain'],
  token_address: ['text', 'address of the token on the chain'],
  unit: ['text', 'unit of the amount as sent; always meant as tonnes'],
  ...AMOUNT,
} as const satisfies Columns;

const CERTIFICATE = {
  ...OWNER,
  retirement_id: ['text', 'the retirement that it proves', 'NOT NULL'],
  state: [
    'text',
    'pending: not asked for yet; unavailable: the registry has none yet; stored: the file is here',
    "NOT NULL CHECK (state IN ('pending', 'unavailable', 'stored'))",
  ],
  file: ['text', 'name of the file in the folder of certificates; never written twice'],
  sha256: ['text', 'SHA-256 of the file in hex'],
  size: ['int', 'length of the file in bytes'],
  fetched_at: ['instant', 'when this file was fetched'],
  checked_at: ['instant', 'when the registry was last asked for it'],
  due_at: ['instant', 'when the registry is to be asked next', 'NOT NULL'],
  attempts: ['int', 'questions in a row that brought no file', 'NOT NULL DEFAULT 0'],
  error: ['text', 'why the latest answer was not stored; null where nothing is wrong'],
  retirement_version: ['int', 'the version of the retirement that it was asked for', 'NOT NULL'],
} as const satisfies Columns;

export const RESERVATION = {
  ...OWNER,
  ...ID,
  credit_id: ['text', 'the credit that is reserved', 'NOT NULL'],
  serialization: ['text', 'what names the credit in public'],
  type: ['text', 'exPost (issued) or exAnte (expected)'],
  ...AMOUNT,
  ...PROJECT,
  reserver_id: ['text', 'the app that reserved it'],
  reserver_name: ['text', 'name of that app'],
  state: ['text', "the registry's own word when it was read; it grows old as the clock runs"],
  is_complete: ['int', '1 where a transfer or retirement finished it, else 0'],
  reserved_to_at: ['instant', 'when the reservation ends'],
  ...STAMPS,
} as const satisfies Columns;

/** What is mirrored of the registry. */
export const RESOURCES = [
  {
    table: 'installations',
    resource: 'installation',
    meaning:
      'Installations of this app. The state is worked out from what the registry allows; no answer shows it.',
    owner: 'organization_id',
    key: ['id'],
    columns: {
      ...ID,
      organization_id: ['text', 'the organization that it stands on'],
      app_id: ['text', 'the app that it belongs to'],
      state: [
        'text',
        'active, suspended or uninstalled',
        "NOT NULL CHECK (state IN ('active', 'suspended', 'uninstalled'))",
      ],
      permissions: ['json', 'granted permissions and their levels, a JSON object', 'NOT NULL'],
      ...STAMPS,
    },
  },
  {
    table: 'warehouse_credits',
    resource: 'warehouse',
    meaning:
      'Credits in the warehouse: what apps may reserve. The registry has already taken reserved credits out of it.',
    owner: 'organization_id',
    key: ['organization_id', 'credit_id', 'inventory_id'],
    columns: CREDIT,
  },
  {
    table: 'reservations',
    resource: 'reservations',
    meaning:
      'Credits reserved for an app, for ten minutes at most. The view reservations_now shows how each stands at this moment.',
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: RESERVATION,
  },
  {
    table: 'inventory_credits',
    resource: 'inventory',
    meaning: "Credits in an organization's main inventory.",
    owner: 'organization_id',
    key: ['organization_id', 'credit_id', 'inventory_id'],
    columns: CREDIT,
  },
  {
    table: 'inventory_requests',
    resource: 'inventory_requests',
    meaning:
      'Requests to move or retire credits of the main inventory, decided by an administrator of the organization.',
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: {
      ...OWNER,
      ...ID,
      credit_id: ['text', 'the credit concerned', 'NOT NULL'],
      action: ['text', 'transfer, retire or transfer_retire'],
      state: ['text', "the registry's own word"],
      type: ['text', 'exPost (issued) or exAnte (expected)'],
      serialization: ['text', 'what names the credit in public'],
      vintage: ['text', 'year of the reduction; where it was not sent, the year that ends the serialization'],
      ...AMOUNT,
      from_organization_id: ['text', 'who gives'],
      to_organization_id: ['text', 'who receives'],
      to_address: ['text', 'the address that receives, where it is no organization'],
      ...PROJECT,
      tx_id: ['text', 'transaction on the chain; set once it was carried out'],
      retirement_reason: ['text', 'reason given for the retirement'],
      beneficiary: ['text', 'for whom it is to be retired'],
      retirement_comment: ['text', 'comment given for the retirement'],
      ...STAMPS,
    },
  },
  {
    table: 'organizations',
    resource: 'organization',
    meaning: 'Organizations that the app is or was installed on.',
    owner: 'id',
    key: ['id'],
    columns: {
      ...ID,
      full_name: ['text', 'its name'],
      type: ['text', 'what kind of organization it is'],
      country_code: ['text', 'two capital letters'],
      website: ['text', 'its web address as sent; never called'],
      is_public: ['int', '1 where the registry shows it to everybody, else 0'],
      ...STAMPS,
    },
  },
  {
    table: 'addresses',
    resource: 'addresses',
    meaning: "An organization's public addresses on the chain.",
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: {
      ...OWNER,
      id: ['text', "the registry's id, or a hash of the object where it sends none", 'NOT NULL'],
      address: ['text', 'the address'],
      name: ['text', 'what the organization calls it'],
      is_default: ['int', '1 for the one that is used unless another is named, else 0'],
    },
  },
  {
    table: 'members',
    resource: 'members',
    meaning: 'People of an organization. Left empty where the settings say so.',
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: {
      ...OWNER,
      id: ['text', "the registry's id, or a hash of the object where it sends none", 'NOT NULL'],
      full_name: ['text', 'name'],
      email: ['text', 'e-mail address'],
    },
  },
  {
    table: 'retirements',
    resource: 'retirements',
    meaning: 'Credits retired for good.',
    owner: 'organization_id',
    key: ['organization_id', 'id'],
    columns: {
      ...OWNER,
      ...ID,
      ...PROJECT,
      serialization: ['text', 'what names the credit in public'],
      vintage: ['text', 'year of the reduction; where it was not sent, the year that ends the serialization'],
      ...AMOUNT,
      reason: ['text', 'reason given'],
      beneficiary: ['text', 'for whom it was retired; null where nobody has claimed it'],
      comment: ['text', 'comment given'],
      is_claimed: ['int', '1 where somebody has claimed it, else 0'],
      created_at: ['instant', 'when the registry says it was created'],
    },
  },
  {
    table: 'projects',
    resource: 'projects',
    meaning:
      'Projects that credits, reservations, requests and retirements name, as far as they can be read.',
    owner: null,
    key: ['id'],
    columns: {
      ...ID,
      num: ['text', 'its number in the registry'],
      full_name: ['text', 'its name'],
      short_description: ['text', 'one paragraph about it'],
      status: ['text', 'how far it has come'],
      registry: ['text', 'the registry that it belongs to'],
      country_code: ['text', 'two capital letters'],
      sector: ['text', 'its sector'],
      methodology: ['text', 'the methodology that it follows'],
      type: ['text', 'removal, avoidance or another word of the registry'],
      start_date: ['text', 'when it started, as sent'],
    },
  },
  {
    table: 'certificates',
    resource: 'certificates',
    meaning: 'One certificate per retirement: what is stored, and when to ask again.',
    owner: 'organization_id',
    key: ['organization_id', 'retirement_id'],
    columns: CERTIFICATE,
    rules: [
      "CHECK ((state = 'stored') = (file IS NOT NULL AND sha256 IS NOT NULL AND size IS NOT NULL AND fetched_at IS NOT NULL))",
    ],
    history:
      'Every certificate that was ever stored, with those that were replaced by another file or whose retirement is gone, and those still to come. All files are kept.',
    shows: ['retirement_id', 'state', 'sha256', 'size', 'fetched_at'],
    only: "state = 'stored'",
    dated: {
      valid_from: ['instant', 'when this file had come to its end; without one, when entered', 'NOT NULL'],
      sync_id: ['int', 'the sync that fetched the file; null before'],
    },
  },
] as const satisfies readonly Mirrored[];

/** What is no longer true, of whatever resource. */
export const PAST = table(
  'mirror.past',
  'Versions that are no longer true, of all tables: changed or gone. People read the views "_history" instead.',
  {
    closed_version: ['int', 'number of its closing: of the version in its place, or its own', 'PRIMARY KEY'],
    version: ['int', VERSION.version[1], 'NOT NULL UNIQUE'],
    resource: ['text', 'what it is a version of, by its word in syncs', SURE],
    organization_id: ['text', 'whose it was, of an organization its own id; null for what belongs to nobody'],
    key: ['text', 'id of the row: of a credit its credit_id, of a certificate its retirement_id', SURE],
    valid_from: DATED.valid_from,
    valid_to: ['instant', 'when the next answer came, or the read that lacked it ended; true before', SURE],
    sync_id: DATED.sync_id,
    closed_by: ['int', 'the sync that closed it', SURE],
    cells: ['cells', 'its columns, a JSON object', SURE],
    document: ['text', "the registry's whole object as sent; null where it sends none"],
    is_removed: ['int', '1 where nothing took its place, else 0', 'NOT NULL CHECK (is_removed IN (0, 1))'],
  },
);

export const MIRRORED = [
  PAST,
  index('past_by_key', 'mirror.past', 'resource, organization_id, key'),
  raw(({ engine, mirror }) => {
    const file = engine === 'sqlite' ? "json_extract(cells, '$.file')" : "(cells ->> 'file')";
    return `CREATE INDEX past_by_file ON ${mirror}past (${file}) WHERE resource = 'certificates';\n`;
  }),
  ...RESOURCES.map(mirrored),
  index('installations_by_organization', 'mirror.installations', 'organization_id, state'),
  index('warehouse_credits_largest', 'mirror.warehouse_credits', 'amount_micro'),
  index('inventory_credits_largest', 'mirror.inventory_credits', 'amount_micro'),
  index('retirements_newest', 'mirror.retirements', 'created_at'),
  index('retirements_by_created_at', 'mirror.retirements', 'organization_id, created_at, amount_micro'),
  index('certificates_by_due_at', 'mirror.certificates', 'organization_id, due_at'),
  index('certificates_not_stored', 'mirror.certificates', 'organization_id, state', "state <> 'stored'"),
  index('certificates_by_file', 'mirror.certificates', 'file', 'file IS NOT NULL'),
];
