/** The words of the registry, and what stands in its objects. Everything here is data; nothing here imports anything. */

/** The names that permissions have in the registry's JSON. */
export type PermissionName =
  | 'organization_info'
  | 'organization_members'
  | 'organization_warehouse'
  | 'organization_inventory';

/** Levels rise from left to right; a higher one includes the lower ones. */
export const PERMISSION_LEVELS = ['VIEW', 'REQUEST', 'WRITE'] as const;
export type PermissionLevel = (typeof PERMISSION_LEVELS)[number];

/** Each name with its level. Names and levels that the registry adds later are kept as sent. */
export type Permissions = Readonly<Record<string, string>>;

export const EVENTS = [
  'installed',
  'uninstalled',
  'suspended',
  'unsuspended',
  'newPermissionsAccepted',
  'warehouseTransaction',
  'organizationTransaction',
] as const;

export const ACTIONS = ['transfer', 'retire', 'transfer_retire'] as const;
export type Action = (typeof ACTIONS)[number];

/**
 * An amount of credits in tonnes, as the registry wrote it.
 * `micro` counts millionths and is null where the amount is finer or larger than a 64-bit integer holds.
 * An amount that no number can hold has a `fault`, and nulls beside it.
 * `JSON.stringify` writes `micro` as text: `BigInt` makes it the same number again.
 */
export interface Amount {
  readonly exact: string | null;
  readonly value: number | null;
  readonly micro: bigint | null;
  readonly fault: string | null;
}

export interface ProjectReference {
  readonly id: string;
  readonly fullName: string | null;
}

/** How a member of an object is read, and what it is then; `?` where it may be null. */
interface Kinds {
  /** Enters a path or a file name. */
  readonly id: string;
  readonly 'id?': string | null;
  /** The registry's where it sends one, else a hash of the object. */
  readonly 'id or hash': string;
  readonly printable: string;
  readonly 'printable?': string | null;
  readonly owner: string | null;
  readonly text: string | null;
  readonly flag: boolean | null;
  readonly instant: string | null;
  readonly amount: Amount;
  readonly 'amount?': Amount | null;
  readonly project: ProjectReference | null;
  readonly permissions: Permissions | null;
  readonly organization: Organization | null;
}
export type Kind = keyof Kinds;
export type KindOf<K extends Kind> = Kinds[K];

/** The members of one object: the kind of each, and where its name is not its only one all names in their order. */
export type Members = Readonly<Record<string, Kind | readonly [Kind, ...string[]]>>;

/** Every object keeps the registry's own text of itself, digit for digit. */
export type Read<T extends Members> = { readonly document: string } & {
  readonly [Name in keyof T]: Kinds[T[Name] extends Kind ? T[Name] : T[Name][0] & Kind];
};

export const ORGANIZATION = {
  id: 'id',
  fullName: ['text', 'fullName', 'name'],
  type: 'text',
  countryCode: 'text',
  city: 'text',
  zip: 'text',
  physicalAddress: 'text',
  registrationNumber: 'text',
  /** An address of the registry's choosing: nothing here asks for it. */
  logo: 'text',
  website: 'text',
  isPublic: 'flag',
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies Members;
export type Organization = Read<typeof ORGANIZATION>;

export const INSTALLATION = {
  id: 'id',
  appId: 'id?',
  organizationId: ['id?', 'organizationId', 'organization.id'],
  organization: 'organization',
  /** Null where the answer does not say them; each installation has one at least. */
  permissions: 'permissions',
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies Members;
export type Installation = Read<typeof INSTALLATION>;

export const CREDIT = {
  creditId: ['printable', 'creditId', 'id'],
  inventoryId: 'printable?',
  organizationId: 'printable?',
  project: 'project',
  serialization: 'text',
  vintage: 'text',
  type: 'text',
  tokenId: 'text',
  tokenAddress: 'text',
  unit: 'text',
  amount: 'amount',
  /** How much of it was ever made; null where the registry does not say it. */
  supply: 'amount?',
} as const satisfies Members;
export type Credit = Read<typeof CREDIT>;

export const RESERVATION = {
  id: 'id',
  creditId: 'printable',
  serialization: 'text',
  type: 'text',
  amount: 'amount',
  project: 'project',
  reserverId: ['text', 'reserver.id'],
  reserverName: ['text', 'reserver.name'],
  /** The registry's own word where it sends one; else null, and derived when it is read. */
  state: 'text',
  isComplete: 'flag',
  reservedToDate: 'instant',
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies Members;
export type Reservation = Read<typeof RESERVATION>;

export const INVENTORY_REQUEST = {
  id: 'id',
  creditId: 'printable',
  action: 'text',
  state: 'text',
  type: 'text',
  serialization: 'text',
  vintage: 'text',
  amount: 'amount',
  fromOrganizationId: 'printable?',
  toOrganizationId: 'printable?',
  toAddress: 'text',
  project: 'project',
  txId: 'text',
  retirementReason: ['text', 'retirementReason', 'reason', 'retirementData.reason'],
  beneficiary: ['text', 'beneficiaryName', 'beneficiary', 'retirementData.beneficiaryName'],
  retirementComment: ['text', 'retirementComment', 'comment', 'retirementData.comment'],
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies Members;
export type InventoryRequest = Read<typeof INVENTORY_REQUEST>;

export const RETIREMENT = {
  id: 'id',
  organizationId: 'owner',
  project: 'project',
  serialization: 'text',
  vintage: 'text',
  amount: 'amount',
  reason: ['text', 'reason', 'retirementReason'],
  beneficiary: ['text', 'beneficiary', 'beneficiaryName'],
  comment: ['text', 'comment', 'retirementComment'],
  isClaimed: 'flag',
  createdAt: 'instant',
} as const satisfies Members;
export type Retirement = Read<typeof RETIREMENT>;

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
} as const satisfies Members;
export type Project = Read<typeof PROJECT>;

export const ADDRESS = {
  id: 'id or hash',
  address: ['text', 'address', 'publicKey'],
  name: ['text', 'name', 'fullName'],
  isDefault: 'flag',
} as const satisfies Members;
export type Address = Read<typeof ADDRESS>;

export const MEMBER = {
  id: 'id or hash',
  fullName: ['text', 'fullName', 'name'],
  email: 'text',
} as const satisfies Members;
export type Member = Read<typeof MEMBER>;

/** A person; kept apart from a member, who belongs to an organization. */
export const USER = {
  id: 'id?',
  email: 'text',
  fullName: ['text', 'fullName', 'name'],
} as const satisfies Members;
export type User = Read<typeof USER>;

/** What a webhook tells of a movement of credits. */
export const TRANSACTION = {
  id: 'printable',
  creditId: 'printable?',
  type: 'text',
  status: 'text',
  amount: 'amount',
  createdAt: 'instant',
  updatedAt: 'instant',
} as const satisfies Members;
export type Transaction = Read<typeof TRANSACTION>;

/** The one pattern for ids that enter a path or a file name. */
const ID = /^[A-Za-z0-9_-]{1,128}$/;

export function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u;

/** What an id may be that enters neither: a credit's, or a serialization. */
export function isPrintable(value: unknown): value is string {
  return typeof value === 'string' && PRINTABLE.test(value) && value.trim() !== '';
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function permits(permissions: Permissions, name: PermissionName, level: PermissionLevel): boolean {
  const granted = Object.hasOwn(permissions, name) ? permissions[name]?.toUpperCase() : undefined;
  const rank = PERMISSION_LEVELS.findIndex(known => known === granted);
  return rank >= PERMISSION_LEVELS.indexOf(level);
}
