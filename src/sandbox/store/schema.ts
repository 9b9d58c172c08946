/** One row of each table that a world fills. Flags are 0 or 1, as SQLite has no other. */
export interface AppRow {
  id: string;
  name: string;
  name_id: string;
  permissions: string;
  webhook_url: string | null;
  webhook_secret: string | null;
  created_at: string;
}

export interface UserRow {
  id: string;
  email: string;
  full_name: string;
  profile_picture: string | null;
  created_at: string;
}

export interface OrganizationRow {
  id: string;
  full_name: string;
  type: string;
  country_code: string | null;
  city: string;
  zip: string;
  physical_address: string;
  registration_number: string;
  website: string;
  logo: string | null;
  is_public: number;
  warehouse_id: string;
  created_by_app_id: string | null;
  claimed_at: string | null;
  reservation_count: number;
  request_count: number;
  retirement_count: number;
  created_at: string;
  updated_at: string;
}

export interface MemberRow {
  organization_id: string;
  user_id: string;
  is_admin: number;
}

export interface AddressRow {
  address: string;
  organization_id: string;
  name: string;
  is_default: number;
}

/** `details` is a JSON object of further fields, sent with the project as they are: sector, methodology, type, ... */
export interface ProjectRow {
  id: string;
  num: string;
  full_name: string;
  short_description: string;
  description: string;
  status: string;
  is_public: number;
  proponent_id: string | null;
  country_code: string | null;
  state: string | null;
  city: string | null;
  start_date: string | null;
  crediting_period_start_date: string | null;
  details: string;
  created_at: string;
  updated_at: string;
}

export interface CreditRow {
  id: string;
  project_id: string;
  token_id: string;
  token_address: string;
  serialization: string;
  vintage: string;
  type: 'exPost' | 'exAnte';
  issued_micro: number;
  created_at: string;
}

export type Place = 'warehouse' | 'inventory';

export interface HoldingRow {
  organization_id: string;
  place: Place;
  credit_id: string;
  amount_micro: number;
}

export type ReservationState = 'outstanding' | 'finished' | 'cancelled' | 'expired';

export interface ReservationRow {
  id: string;
  organization_id: string;
  ordinal: number;
  app_id: string;
  credit_id: string;
  amount_micro: number;
  state: ReservationState;
  action: string | null;
  created_at: string;
  updated_at: string;
  reserved_to_at: string;
}

export type Action = 'transfer' | 'retire' | 'transfer_retire';

export interface InventoryRequestRow {
  id: string;
  organization_id: string;
  ordinal: number;
  app_id: string;
  credit_id: string;
  action: Action;
  amount_micro: number;
  to_organization_id: string | null;
  to_address: string | null;
  reason: string | null;
  beneficiary: string | null;
  comment: string | null;
  state: 'Pending' | 'Accepted' | 'Rejected';
  tx_id: string | null;
  created_at: string;
  updated_at: string;
}

export interface RetirementRow {
  id: string;
  organization_id: string;
  ordinal: number;
  app_id: string | null;
  credit_id: string;
  amount_micro: number;
  is_claimed: number;
  beneficiary: string | null;
  reason: string | null;
  comment: string | null;
  project_name: string;
  created_at: string;
}

export type TransactionStatus = 'processed' | 'failed' | 'pending_queue';
export type TransactionEvent = 'warehouseTransaction' | 'organizationTransaction';

export interface TransactionRow {
  id: string;
  event: TransactionEvent;
  type: Action;
  status: TransactionStatus;
  organization_id: string;
  app_id: string | null;
  receiver_id: string | null;
  reservation_id: string | null;
  request_id: string | null;
  retirement_id: string | null;
  credit_id: string;
  amount_micro: number;
  comment: string | null;
  created_at: string;
  updated_at: string;
}

export type InstallationState = 'active' | 'suspended' | 'uninstalled';

export interface InstallationRow {
  id: string;
  app_id: string;
  organization_id: string;
  permissions: string;
  state: InstallationState;
  created_at: string;
  updated_at: string;
}

/** What a world adds to an empty database, table by table, parents before children. */
export interface WorldTables {
  apps: Iterable<AppRow>;
  users: Iterable<UserRow>;
  organizations: Iterable<OrganizationRow>;
  members: Iterable<MemberRow>;
  addresses: Iterable<AddressRow>;
  projects: Iterable<ProjectRow>;
  credits: Iterable<CreditRow>;
  holdings: Iterable<HoldingRow>;
  reservations: Iterable<ReservationRow>;
  inventory_requests: Iterable<InventoryRequestRow>;
  retirements: Iterable<RetirementRow>;
  transactions: Iterable<TransactionRow>;
}
