/** What an app may do on an organization: a level for each permission name of the registry. */
export type PermissionGrants = Readonly<Record<string, GrantLevel>>;
export type GrantLevel = 'VIEW' | 'REQUEST' | 'WRITE';

/**
 * A stored object. Its fields have the names of the registry's JSON. Instants are UTC text of the form
 * `YYYY-MM-DDTHH:MM:SS.sssZ`.
 */
interface StoredRecord {
  readonly id: string;
  readonly createdAt: string;
}

/** A stored object that can be changed. */
interface UpdatedRecord extends StoredRecord {
  readonly updatedAt: string;
}

/** An amount of one credit. */
interface CreditAmount {
  readonly creditId: string;
  /** Whole millionths of a tonne, so that sums are exact. */
  readonly amountMicro: number;
}

/** An amount of one credit that belongs to an organization. */
interface OwnedAmount extends CreditAmount {
  readonly organizationId: string;
}

export interface AppRecord extends StoredRecord {
  readonly name: string;
  readonly nameId: string;
  readonly permissions: PermissionGrants;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string | null;
  /** Where people may be redirected after an installation. The first is the default. */
  readonly callbackUrls: readonly string[];
  readonly keys: readonly AppKey[];
}

export interface AppKey {
  readonly fingerprint: string;
  readonly pem: string;
  readonly createdAt: string;
}

export interface UserRecord extends StoredRecord {
  readonly organizationId: string;
  readonly isAdmin: boolean;
  readonly email: string;
  readonly fullName: string;
  readonly profilePicture: string | null;
}

export interface OrganizationRecord extends UpdatedRecord {
  readonly fullName: string;
  readonly type: string;
  readonly countryCode: string | null;
  readonly city: string;
  readonly zip: string;
  readonly physicalAddress: string;
  readonly registrationNumber: string;
  readonly website: string;
  readonly logo: string | null;
  readonly isPublic: boolean;
  readonly warehouseId: string;
  /** Null until its user has claimed an organization that an app created. */
  readonly claimedAt: string | null;
}

export interface AddressRecord {
  readonly address: string;
  readonly organizationId: string;
  readonly name: string;
  readonly isDefault: boolean;
}

export interface ProjectRecord extends UpdatedRecord {
  readonly num: string;
  readonly fullName: string;
  readonly shortDescription: string;
  readonly description: string;
  readonly status: string;
  readonly isPublic: boolean;
  readonly proponentId: string | null;
  readonly countryCode: string | null;
  readonly city: string | null;
  readonly startDate: string | null;
  readonly creditingPeriodStartDate: string | null;
  /** Further fields that are sent unchanged, such as sector, methodology and type. */
  readonly details: object;
}

export interface CreditRecord extends StoredRecord {
  readonly projectId: string;
  readonly tokenId: string;
  readonly tokenAddress: string;
  readonly serialization: string;
  readonly vintage: string;
  readonly type: 'exPost' | 'exAnte';
  readonly issuedMicro: number;
}

export type HoldingPlace = 'warehouse' | 'inventory';

export interface HoldingRecord extends OwnedAmount {
  readonly place: HoldingPlace;
}

/** Credits that left the registry to an address that none of its organizations has. */
export interface ExternalHoldingRecord extends CreditAmount {
  readonly address: string;
}

export type ReservationState = 'outstanding' | 'finished' | 'cancelled' | 'expired';

export interface ReservationRecord extends UpdatedRecord, OwnedAmount {
  readonly appId: string;
  readonly state: ReservationState;
  readonly reservedToDate: string;
}

export type CreditAction = 'transfer' | 'retire' | 'transfer_retire';

export interface InventoryRequestRecord extends UpdatedRecord, OwnedAmount {
  readonly appId: string;
  readonly action: CreditAction;
  readonly toOrganizationId: string | null;
  readonly toAddress: string | null;
  /** The details of the resulting retirement; null for a plain transfer. */
  readonly retirementDetails: RetirementDetails | null;
  readonly state: 'Pending' | 'Accepted' | 'Rejected';
  readonly txId: string | null;
}

export interface RetirementRecord extends StoredRecord, OwnedAmount {
  readonly appId: string | null;
  /** Null while the retirement is unclaimed. */
  readonly details: RetirementDetails | null;
  /** The project's name at the time of the retirement, for the certificate. */
  readonly projectName: string;
}

export interface RetirementDetails {
  readonly reason: string;
  readonly beneficiary: string;
  readonly comment: string | null;
}

export type TransactionStatus = 'processed' | 'failed' | 'pending_queue';

export interface TransactionRecord extends UpdatedRecord, OwnedAmount {
  readonly event: 'warehouseTransaction' | 'organizationTransaction';
  readonly type: CreditAction;
  readonly status: TransactionStatus;
  readonly appId: string | null;
  readonly receiverId: string | null;
  /** The receiver's address if no organization of the registry has it. */
  readonly externalAddress: string | null;
  readonly reservationId: string | null;
  readonly requestId: string | null;
  readonly retirementId: string | null;
  /** The details of the resulting retirement; null for a plain transfer. */
  readonly retirementDetails: RetirementDetails | null;
  readonly comment: string | null;
}

export type InstallationStatus = 'active' | 'suspended' | 'uninstalled';

export interface InstallationRecord extends UpdatedRecord {
  readonly appId: string;
  readonly organizationId: string;
  readonly permissions: PermissionGrants;
  readonly state: InstallationStatus;
}

/** An access token. Only its digest is stored. */
export interface TokenRecord extends StoredRecord {
  readonly digest: string;
  readonly appId: string;
  readonly installationId: string | null;
  readonly organizationId: string | null;
  readonly permissions: PermissionGrants;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
}

/** One attempt to post a delivery. Status and error are both null while it runs, and if its outcome is unknown. */
export interface DeliveryAttempt {
  readonly startedAt: string;
  readonly status: number | null;
  readonly error: string | null;
}

export interface DeliveryRecord {
  readonly id: number;
  readonly appId: string;
  readonly installationId: string;
  readonly event: string;
  readonly url: string;
  readonly body: string;
  /** Null if the app has no webhook secret. */
  readonly signature: string | null;
  readonly state: 'held' | 'pending' | 'delivered' | 'failed' | 'dropped';
  readonly attemptsLeft: number;
  readonly attempts: readonly DeliveryAttempt[];
  /** The delivery that this one repeats; null if it is not a copy. */
  readonly copyOf: number | null;
  /** When the next attempt is due, in epoch milliseconds of the wall clock. */
  readonly dueAt: number;
  readonly createdAt: string;
}

export interface SettingRecord {
  readonly name: string;
  readonly value: unknown;
}
