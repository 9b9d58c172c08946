/** The words of the registry. Everything here is data; nothing here imports anything. */

/** The names that permissions have in the registry's JSON. */
const PERMISSION_NAMES = [
  'organization_info',
  'organization_members',
  'organization_warehouse',
  'organization_inventory',
] as const;
export type PermissionName = (typeof PERMISSION_NAMES)[number];

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
export type EventName = (typeof EVENTS)[number];

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

/** Every object keeps the registry's own text of itself, digit for digit. */
interface Documented {
  readonly document: string;
}

export interface ProjectReference {
  readonly id: string;
  readonly fullName: string | null;
}

export interface Organization extends Documented {
  readonly id: string;
  readonly fullName: string | null;
  readonly type: string | null;
  readonly countryCode: string | null;
  readonly city: string | null;
  readonly zip: string | null;
  readonly physicalAddress: string | null;
  readonly registrationNumber: string | null;
  /** An address of the registry's choosing: text, nothing here asks for it. */
  readonly logo: string | null;
  readonly website: string | null;
  readonly isPublic: boolean | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

export interface Installation extends Documented {
  readonly id: string;
  readonly appId: string | null;
  readonly organizationId: string | null;
  readonly organization: Organization | null;
  /** Null where the answer does not say them; each installation has one at least. */
  readonly permissions: Permissions | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

/** A live credential. It stays in memory; it has no `document`, so that it cannot be stored by accident. */
export interface AccessToken {
  readonly token: string;
  /** Empty where the registry does not say it in a way that can be read. */
  readonly expiresAt: string;
  /** Null where the answer does not say them. */
  readonly permissions: Permissions | null;
  readonly installationId: string | null;
  readonly organizationId: string | null;
}

export interface Credit extends Documented {
  readonly creditId: string;
  readonly inventoryId: string | null;
  readonly organizationId: string | null;
  readonly project: ProjectReference | null;
  readonly serialization: string | null;
  readonly vintage: string | null;
  readonly type: string | null;
  readonly tokenId: string | null;
  readonly tokenAddress: string | null;
  readonly unit: string | null;
  readonly amount: Amount;
  /** How much of it was ever made; null where the registry does not say it. */
  readonly supply: Amount | null;
}

export interface Reservation extends Documented {
  readonly id: string;
  readonly creditId: string;
  readonly serialization: string | null;
  readonly type: string | null;
  readonly amount: Amount;
  readonly project: ProjectReference | null;
  readonly reserverId: string | null;
  readonly reserverName: string | null;
  /** The registry's own word where it sends one; else null, and derived when it is read. */
  readonly state: string | null;
  readonly isComplete: boolean | null;
  readonly reservedToDate: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

export interface InventoryRequest extends Documented {
  readonly id: string;
  readonly creditId: string;
  readonly action: string | null;
  readonly state: string | null;
  readonly type: string | null;
  readonly serialization: string | null;
  readonly vintage: string | null;
  readonly amount: Amount;
  readonly fromOrganizationId: string | null;
  readonly toOrganizationId: string | null;
  readonly toAddress: string | null;
  readonly project: ProjectReference | null;
  readonly txId: string | null;
  readonly retirementReason: string | null;
  readonly beneficiary: string | null;
  readonly retirementComment: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

export interface Retirement extends Documented {
  readonly id: string;
  readonly organizationId: string | null;
  readonly project: ProjectReference | null;
  readonly serialization: string | null;
  readonly vintage: string | null;
  readonly amount: Amount;
  readonly reason: string | null;
  readonly beneficiary: string | null;
  readonly comment: string | null;
  readonly isClaimed: boolean | null;
  readonly createdAt: string | null;
}

export interface Project extends Documented {
  readonly id: string;
  readonly num: string | null;
  readonly fullName: string | null;
  readonly shortDescription: string | null;
  readonly status: string | null;
  readonly registry: string | null;
  readonly countryCode: string | null;
  readonly sector: string | null;
  readonly methodology: string | null;
  readonly type: string | null;
  readonly startDate: string | null;
}

/** `id` is the registry's where it sends one, else a hash of the object. */
export interface Address extends Documented {
  readonly id: string;
  readonly address: string | null;
  readonly name: string | null;
  readonly isDefault: boolean | null;
}

export interface Member extends Documented {
  readonly id: string;
  readonly fullName: string | null;
  readonly email: string | null;
}

/** A person; kept apart from `Member`, which belongs to an organization. */
export interface User extends Documented {
  readonly id: string | null;
  readonly email: string | null;
  readonly fullName: string | null;
}

/** What a webhook tells of a movement of credits. */
export interface Transaction extends Documented {
  readonly id: string;
  readonly creditId: string | null;
  readonly type: string | null;
  readonly status: string | null;
  readonly amount: Amount;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

/** What creating a user and an organization answers. A lost answer that was found again knows no user. */
export interface CreatedOrganization {
  readonly user: User | null;
  readonly organization: Organization | null;
  readonly installation: Installation;
}

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

export function permits(permissions: Permissions, name: PermissionName, level: PermissionLevel): boolean {
  const granted = Object.hasOwn(permissions, name) ? permissions[name]?.toUpperCase() : undefined;
  const rank = PERMISSION_LEVELS.findIndex(known => known === granted);
  return rank >= PERMISSION_LEVELS.indexOf(level);
}
