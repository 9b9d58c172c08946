/** What an installation may do, by the registry's names. */
export type Grants = Readonly<Record<string, Level>>;
export type Level = 'VIEW' | 'REQUEST' | 'WRITE';

/** Rows have the names by which they are sent. Instants are UTC text `YYYY-MM-DDTHH:MM:SS.sssZ`. */
interface Made {
  readonly id: string;
  readonly createdAt: string;
}

interface Changing extends Made {
  readonly updatedAt: string;
}

/** Amounts are whole millionths of a tonne, so that sums are exact. */
interface OfCredit {
  readonly creditId: string;
  readonly amountMicro: number;
}

interface Owned extends OfCredit {
  readonly organizationId: string;
}

export interface AppRow extends Made {
  readonly name: string;
  readonly nameId: string;
  readonly permissions: Grants;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string | null;
  /** Where people may be sent after an installation, the usual one first. */
  readonly callbackUrls: readonly string[];
  readonly keys: readonly AppKey[];
}

export interface AppKey {
  readonly fingerprint: string;
  readonly pem: string;
  readonly createdAt: string;
}

export interface UserRow extends Made {
  readonly organizationId: string;
  readonly isAdmin: boolean;
  readonly email: string;
  readonly fullName: string;
  readonly profilePicture: string | null;
}

export interface OrganizationRow extends Changing {
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
  readonly claimedAt: string | null;
}

export interface AddressRow {
  readonly address: string;
  readonly organizationId: string;
  readonly name: string;
  readonly isDefault: boolean;
}

/** `details` are further fields, sent with the project as they are: sector, methodology, type, ... */
export interface ProjectRow extends Changing {
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
  readonly details: object;
}

export interface CreditRow extends Made {
  readonly projectId: string;
  readonly tokenId: string;
  readonly tokenAddress: string;
  readonly serialization: string;
  readonly vintage: string;
  readonly type: 'exPost' | 'exAnte';
  readonly issuedMicro: number;
}

export type Place = 'warehouse' | 'inventory';

export interface HoldingRow extends Owned {
  readonly place: Place;
}

/** What left the registry, for an address of nobody in it. */
export interface OutsideRow extends OfCredit {
  readonly address: string;
}

export type ReservationState = 'outstanding' | 'finished' | 'cancelled' | 'expired';

export interface ReservationRow extends Changing, Owned {
  readonly appId: string;
  readonly state: ReservationState;
  readonly reservedToDate: string;
}

export type Action = 'transfer' | 'retire' | 'transfer_retire';

export interface InventoryRequestRow extends Changing, Owned {
  readonly appId: string;
  readonly action: Action;
  readonly toOrganizationId: string | null;
  readonly toAddress: string | null;
  /** What is written on the retirement, where it makes one. */
  readonly words: RetirementWords | null;
  readonly state: 'Pending' | 'Accepted' | 'Rejected';
  readonly txId: string | null;
}

export interface RetirementRow extends Made, Owned {
  readonly appId: string | null;
  /** Null of one that nobody has claimed. */
  readonly words: RetirementWords | null;
  /** The project's at the time of the retirement: the certificate shows it. */
  readonly projectName: string;
}

export interface RetirementWords {
  readonly reason: string;
  readonly beneficiary: string;
  readonly comment: string | null;
}

export type TransactionStatus = 'processed' | 'failed' | 'pending_queue';

export interface TransactionRow extends Changing, Owned {
  readonly event: 'warehouseTransaction' | 'organizationTransaction';
  readonly type: Action;
  readonly status: TransactionStatus;
  readonly appId: string | null;
  readonly receiverId: string | null;
  /** An address of nobody here that it goes to. */
  readonly outside: string | null;
  readonly reservationId: string | null;
  readonly requestId: string | null;
  readonly retirementId: string | null;
  /** What is written on the retirement, where it makes one. */
  readonly words: RetirementWords | null;
  readonly comment: string | null;
}

export type InstallationState = 'active' | 'suspended' | 'uninstalled';

export interface InstallationRow extends Changing {
  readonly appId: string;
  readonly organizationId: string;
  readonly permissions: Grants;
  readonly state: InstallationState;
}

/** Only a digest of each token is kept. */
export interface TokenRow extends Made {
  readonly digest: string;
  readonly appId: string;
  readonly installationId: string | null;
  readonly organizationId: string | null;
  readonly permissions: Grants;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
}

export interface Attempt {
  readonly startedAt: string;
  readonly status: number | null;
  readonly error: string | null;
}

export interface DeliveryRow {
  readonly id: number;
  readonly appId: string;
  readonly installationId: string;
  readonly event: string;
  readonly url: string;
  readonly body: string;
  readonly signature: string | null;
  readonly state: 'held' | 'pending' | 'delivered' | 'failed' | 'dropped';
  readonly attemptsLeft: number;
  readonly attempts: readonly Attempt[];
  readonly copyOf: number | null;
  /** By the wall clock, in milliseconds. */
  readonly dueAt: number;
  readonly createdAt: string;
}

export interface SettingRow {
  readonly name: string;
  readonly value: unknown;
}
