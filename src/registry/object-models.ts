/**
 * The objects of the registry and their fields, as data: parsers, types and tables are derived from these models.
 * This file imports nothing, so that every module may import it.
 */

/** One of the known words, or any other text: the registry may add words at any time. */
export type OpenWord<Known extends string> = Known | (string & Record<never, never>);

/** The levels of a permission in ascending order. Each level includes the levels before it. */
export const PERMISSION_LEVELS = ['VIEW', 'REQUEST', 'WRITE'] as const;
export type PermissionLevel = (typeof PERMISSION_LEVELS)[number];

/** The permissions that an installation may grant, as the registry's JSON names them. */
export type PermissionName =
  | 'organization_info'
  | 'organization_members'
  | 'organization_warehouse'
  | 'organization_inventory';

/** The level of each permission by its name. Unknown names and levels are kept as sent. */
export type Permissions = Readonly<Record<string, OpenWord<PermissionLevel>>>;

export const WEBHOOK_EVENTS = [
  'installed',
  'uninstalled',
  'suspended',
  'unsuspended',
  'newPermissionsAccepted',
  'warehouseTransaction',
  'organizationTransaction',
] as const;

export type WebhookEvent = OpenWord<(typeof WEBHOOK_EVENTS)[number]>;

export const CREDIT_ACTIONS = ['transfer', 'retire', 'transfer_retire'] as const;
export type CreditAction = (typeof CREDIT_ACTIONS)[number];

/** Whether a credit is issued (`exPost`) or expected (`exAnte`). */
export type CreditType = OpenWord<'exPost' | 'exAnte'>;
export type ReservationState = OpenWord<'outstanding' | 'finished' | 'cancelled' | 'expired'>;
/** The state of an inventory request. The registry does not document its upper and lower case. */
export type InventoryRequestState = OpenWord<'Pending' | 'Accepted' | 'Rejected'>;
export type TransactionStatus = OpenWord<'processed' | 'failed' | 'pending_queue'>;
export type OrganizationType = OpenWord<
  'projectProponent' | 'projectDeveloper' | 'marketParticipant' | 'validationBody' | 'other'
>;

/**
 * An amount of credits in tonnes. A value that is no usable amount has a `fault`, and all other fields are null.
 * `JSON.stringify` writes `micro` as text, which `BigInt` converts back.
 */
export interface Amount {
  /** The digits that the registry sent. */
  readonly exact: string | null;
  /** The nearest JavaScript number. */
  readonly value: number | null;
  /** Millionths, or null if the amount has finer digits or does not fit into 64 bits. */
  readonly micro: bigint | null;
  /** What is wrong with the value, or null if nothing is. */
  readonly fault: string | null;
}

/** The project of a credit, reservation or retirement, as far as those objects show it. */
export interface ProjectReference {
  readonly id: string;
  readonly fullName: string | null;
}

/** Maps each field type to the type of its parsed value. A `?` means that the field may be missing. */
interface FieldTypes {
  /** May be used in a path or a file name. */
  readonly id: string;
  readonly 'id?': string | null;
  /** The registry's id if it sends one, else a hash of the object. */
  readonly 'id or hash': string;
  /** An id that never enters a path or a file name. */
  readonly printable: string;
  readonly 'printable?': string | null;
  /** The id of the organization that owns the object. */
  readonly owner: string | null;
  readonly text: string | null;
  readonly action: OpenWord<CreditAction> | null;
  readonly 'credit type': CreditType | null;
  readonly 'reservation state': ReservationState | null;
  readonly 'request state': InventoryRequestState | null;
  readonly 'transaction status': TransactionStatus | null;
  readonly 'organization type': OrganizationType | null;
  readonly flag: boolean | null;
  readonly instant: string | null;
  readonly amount: Amount;
  readonly 'amount?': Amount | null;
  readonly project: ProjectReference | null;
  readonly permissions: Permissions | null;
  readonly organization: Organization | null;
}
export type FieldType = keyof FieldTypes;
export type FieldValue<K extends FieldType> = FieldTypes[K];

/**
 * Maps each field of an object to its type, or to its type followed by all names under which it may be sent, the
 * preferred name first. A field without names is sent under its own name.
 */
export type ObjectModel = Readonly<Record<string, FieldType | readonly [FieldType, ...string[]]>>;

/** A parsed object of a model. `document` is the JSON text exactly as the registry sent it. */
export type ParsedObject<T extends ObjectModel> = { readonly document: string } & {
  readonly [Name in keyof T]: FieldTypes[T[Name] extends FieldType ? T[Name] : T[Name][0] & FieldType];
};

export const ORGANIZATION = {
  id: 'id',
  fullName: ['text', 'fullName', 'name'],
  type: 'organization type',
  countryCode: 'text',
  city: 'text',
  zip: 'text',
  physicalAddress: 'text',
  registrationNumber: 'text',
  /** A URL chosen by the registry: it is never fetched. */
  logo: 'text',
  website: 'text',
  isPublic: 'flag',
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies ObjectModel;
export type Organization = ParsedObject<typeof ORGANIZATION>;

export const INSTALLATION = {
  id: 'id',
  appId: 'id?',
  /** The organization that has installed the app, or null if the registry does not name it. */
  organizationId: ['id?', 'organizationId', 'organization.id'],
  organization: 'organization',
  /** Null if the response does not contain them. Every installation has at least one. */
  permissions: 'permissions',
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies ObjectModel;
export type Installation = ParsedObject<typeof INSTALLATION>;

export const CREDIT = {
  /** Identifies the credit in every request. */
  creditId: ['printable', 'creditId', 'id'],
  inventoryId: 'printable?',
  organizationId: 'printable?',
  project: 'project',
  /** The number that the registry gave the credit, such as `ICR-ISL-354-233-15-R-0-2021`. */
  serialization: 'text',
  /** The year of the reduction. */
  vintage: 'text',
  type: 'credit type',
  tokenId: 'text',
  tokenAddress: 'text',
  unit: 'text',
  /** How much this warehouse or inventory holds. */
  amount: 'amount',
  /** How much of the credit was ever issued, or null if the registry does not send it. */
  supply: 'amount?',
} as const satisfies ObjectModel;
export type Credit = ParsedObject<typeof CREDIT>;

export const RESERVATION = {
  id: 'id',
  creditId: 'printable',
  serialization: 'text',
  type: 'credit type',
  amount: 'amount',
  project: 'project',
  /** The app that reserved. */
  reserverId: ['text', 'reserver.id'],
  reserverName: ['text', 'reserver.name'],
  /** As sent, or null if the registry sends none. `getReservationState` derives it then. */
  state: 'reservation state',
  /** Whether the reservation was finished by a transfer or a retirement. */
  isComplete: 'flag',
  /** When the credits return to the warehouse, by the registry's clock. */
  reservedToDate: 'instant',
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies ObjectModel;
export type Reservation = ParsedObject<typeof RESERVATION>;

export const INVENTORY_REQUEST = {
  id: 'id',
  creditId: 'printable',
  action: 'action',
  state: 'request state',
  type: 'credit type',
  serialization: 'text',
  vintage: 'text',
  amount: 'amount',
  fromOrganizationId: 'printable?',
  toOrganizationId: 'printable?',
  toAddress: 'text',
  project: 'project',
  /** The transaction of an accepted request. */
  txId: 'text',
  retirementReason: ['text', 'retirementReason', 'reason', 'retirementData.reason'],
  beneficiary: ['text', 'beneficiaryName', 'beneficiary', 'retirementData.beneficiaryName'],
  retirementComment: ['text', 'retirementComment', 'comment', 'retirementData.comment'],
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies ObjectModel;
export type InventoryRequest = ParsedObject<typeof INVENTORY_REQUEST>;

export const RETIREMENT = {
  id: 'id',
  /** The organization that holds the retirement. */
  organizationId: 'owner',
  project: 'project',
  serialization: 'text',
  vintage: 'text',
  amount: 'amount',
  reason: ['text', 'reason', 'retirementReason'],
  /** For whom the credits were retired; null until the retirement is claimed. */
  beneficiary: ['text', 'beneficiary', 'beneficiaryName'],
  comment: ['text', 'comment', 'retirementComment'],
  isClaimed: 'flag',
  createdAt: 'instant',
} as const satisfies ObjectModel;
export type Retirement = ParsedObject<typeof RETIREMENT>;

export const PROJECT = {
  id: ['id', 'id', '_id', 'projectId'],
  num: 'text',
  fullName: ['text', 'fullName', 'name'],
  shortDescription: 'text',
  status: [
    'text',
    'status',
    'status.title',
    'status.id',
    'projectStatus',
    'projectStatus.title',
    'projectStatus.id',
  ],
  registry: 'text',
  countryCode: 'text',
  sector: ['text', 'sector', 'sector.title', 'sector.id'],
  methodology: ['text', 'methodology', 'methodology.title', 'methodology.id'],
  type: ['text', 'type', 'type.id', 'type.title'],
  startDate: 'text',
} as const satisfies ObjectModel;
export type Project = ParsedObject<typeof PROJECT>;

/** A public EVM address of an organization. */
export const ADDRESS = {
  id: 'id or hash',
  address: ['text', 'address', 'publicKey'],
  name: ['text', 'name', 'fullName'],
  isDefault: 'flag',
} as const satisfies ObjectModel;
export type Address = ParsedObject<typeof ADDRESS>;

export const MEMBER = {
  id: 'id or hash',
  fullName: ['text', 'fullName', 'name'],
  email: 'text',
} as const satisfies ObjectModel;
export type Member = ParsedObject<typeof MEMBER>;

/** A person, such as the sender of a webhook. A member of an organization is a `Member`. */
export const USER = {
  id: 'id?',
  email: 'text',
  fullName: ['text', 'fullName', 'name'],
} as const satisfies ObjectModel;
export type User = ParsedObject<typeof USER>;

/** A movement of credits, as a webhook reports it. */
export const TRANSACTION = {
  id: 'printable',
  creditId: 'printable?',
  type: 'action',
  status: 'transaction status',
  amount: 'amount',
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies ObjectModel;
export type CreditTransaction = ParsedObject<typeof TRANSACTION>;

/** Whether a permission is granted at this level or a higher level. */
export function hasPermission(
  permissions: Permissions,
  name: PermissionName,
  level: PermissionLevel,
): boolean {
  const grantedLevel = Object.hasOwn(permissions, name) ? permissions[name]?.toUpperCase() : undefined;
  const grantedRank = PERMISSION_LEVELS.findIndex(knownLevel => knownLevel === grantedLevel);
  return grantedRank >= PERMISSION_LEVELS.indexOf(level);
}
