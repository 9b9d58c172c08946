/** What an installation may do, by the registry's names. */
export type Grants = Readonly<Record<string, Level>>;
export type Level = 'VIEW' | 'REQUEST' | 'WRITE';

/** Amounts are whole millionths of a tonne (`amount_micro`), so that sums are exact; instants are UTC text `YYYY-MM-DDTHH:MM:SS.sssZ`. */
export interface AppRow {
  readonly id: string;
  readonly name: string;
  readonly name_id: string;
  readonly permissions: Grants;
  readonly webhook_url: string | null;
  readonly webhook_secret: string | null;
  /** Where people may be sent after an installation, the usual one first. */
  readonly callback_urls: readonly string[];
  readonly keys: readonly AppKey[];
  readonly created_at: string;
}

export interface AppKey {
  readonly fingerprint: string;
  readonly pem: string;
  readonly created_at: string;
}

export interface UserRow {
  readonly id: string;
  readonly organization_id: string;
  readonly is_admin: boolean;
  readonly email: string;
  readonly full_name: string;
  readonly profile_picture: string | null;
  readonly created_at: string;
}

export interface OrganizationRow {
  readonly id: string;
  readonly full_name: string;
  readonly type: string;
  readonly country_code: string | null;
  readonly city: string;
  readonly zip: string;
  readonly physical_address: string;
  readonly registration_number: string;
  readonly website: string;
  readonly logo: string | null;
  readonly is_public: boolean;
  readonly warehouse_id: string;
  readonly claimed_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface AddressRow {
  readonly address: string;
  readonly organization_id: string;
  readonly name: string;
  readonly is_default: boolean;
}

/** `details` are further fields, sent with the project as they are: sector, methodology, type, ... */
export interface ProjectRow {
  readonly id: string;
  readonly num: string;
  readonly full_name: string;
  readonly short_description: string;
  readonly description: string;
  readonly status: string;
  readonly is_public: boolean;
  readonly proponent_id: string | null;
  readonly country_code: string | null;
  readonly city: string | null;
  readonly start_date: string | null;
  readonly crediting_period_start_date: string | null;
  readonly details: object;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CreditRow {
  readonly id: string;
  readonly project_id: string;
  readonly token_id: string;
  readonly token_address: string;
  readonly serialization: string;
  readonly vintage: string;
  readonly type: 'exPost' | 'exAnte';
  readonly issued_micro: number;
  readonly created_at: string;
}

export type Place = 'warehouse' | 'inventory';

export interface HoldingRow {
  readonly organization_id: string;
  readonly place: Place;
  readonly credit_id: string;
  readonly amount_micro: number;
}

/** What left the registry, for an address of nobody in it. */
export interface OutsideRow {
  readonly address: string;
  readonly credit_id: string;
  readonly amount_micro: number;
}

export type ReservationState = 'outstanding' | 'finished' | 'cancelled' | 'expired';

export interface ReservationRow {
  readonly id: string;
  readonly organization_id: string;
  readonly app_id: string;
  readonly credit_id: string;
  readonly amount_micro: number;
  readonly state: ReservationState;
  readonly created_at: string;
  readonly updated_at: string;
  readonly reserved_to_at: string;
}

export type Action = 'transfer' | 'retire' | 'transfer_retire';

export interface InventoryRequestRow {
  readonly id: string;
  readonly organization_id: string;
  readonly app_id: string;
  readonly credit_id: string;
  readonly action: Action;
  readonly amount_micro: number;
  readonly to_organization_id: string | null;
  readonly to_address: string | null;
  readonly reason: string | null;
  readonly beneficiary: string | null;
  readonly comment: string | null;
  readonly state: 'Pending' | 'Accepted' | 'Rejected';
  readonly tx_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface RetirementRow {
  readonly id: string;
  readonly organization_id: string;
  readonly app_id: string | null;
  readonly credit_id: string;
  readonly amount_micro: number;
  readonly is_claimed: boolean;
  readonly beneficiary: string | null;
  readonly reason: string | null;
  readonly comment: string | null;
  /** The project's at the time of the retirement: the certificate shows it. */
  readonly project_name: string;
  readonly created_at: string;
}

export interface RetirementData {
  readonly reason: string;
  readonly beneficiary: string;
  readonly comment: string | null;
}

export type TransactionStatus = 'processed' | 'failed' | 'pending_queue';

export interface TransactionRow {
  readonly id: string;
  readonly event: 'warehouseTransaction' | 'organizationTransaction';
  readonly type: Action;
  readonly status: TransactionStatus;
  readonly organization_id: string;
  readonly app_id: string | null;
  readonly receiver_id: string | null;
  /** An address of nobody here that it goes to. */
  readonly outside: string | null;
  readonly reservation_id: string | null;
  readonly request_id: string | null;
  readonly retirement_id: string | null;
  /** What is written on the retirement, where it makes one. */
  readonly words: RetirementData | null;
  readonly credit_id: string;
  readonly amount_micro: number;
  readonly comment: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export type InstallationState = 'active' | 'suspended' | 'uninstalled';

export interface InstallationRow {
  readonly id: string;
  readonly app_id: string;
  readonly organization_id: string;
  readonly permissions: Grants;
  readonly state: InstallationState;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Only a digest of each token is kept. */
export interface TokenRow {
  readonly id: string;
  readonly digest: string;
  readonly app_id: string;
  readonly installation_id: string | null;
  readonly organization_id: string | null;
  readonly permissions: Grants;
  readonly created_at: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
}

export interface Attempt {
  readonly startedAt: string;
  readonly status: number | null;
  readonly error: string | null;
}

export interface DeliveryRow {
  readonly id: number;
  readonly app_id: string;
  readonly installation_id: string;
  readonly event: string;
  readonly url: string;
  readonly body: string;
  readonly signature: string | null;
  readonly state: 'held' | 'pending' | 'delivered' | 'failed' | 'dropped';
  readonly attempts_left: number;
  readonly attempts: readonly Attempt[];
  readonly copy_of: number | null;
  /** By the wall clock, in milliseconds. */
  readonly due_at: number;
  readonly created_at: string;
}

export interface SettingRow {
  readonly name: string;
  readonly value: unknown;
}
