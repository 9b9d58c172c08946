/** The rows that mirror the registry. The meaning of each column stands beside it in migrations/sqlite/mirror/. */
export const INSTALLATION_STATES = ['active', 'suspended', 'uninstalled'] as const;
export type InstallationState = (typeof INSTALLATION_STATES)[number];

export const CERTIFICATE_STATES = ['pending', 'unavailable', 'stored'] as const;
export type CertificateState = (typeof CERTIFICATE_STATES)[number];

interface Versioned {
  version: number;
  valid_from: string;
  sync_run_id: number;
  document: string;
}

/** `amount_micro` is exact in SQL; read as a JavaScript number it is not, beyond nine thousand million tonnes. */
interface Amounts {
  amount: number | null;
  amount_micro: number | bigint | null;
  amount_exact: string | null;
  fault: string | null;
}

interface NamesProject {
  project_id: string | null;
  project_name: string | null;
}

export interface InstallationsTable extends Versioned {
  id: string;
  organization_id: string | null;
  app_id: string | null;
  state: InstallationState;
  permissions: string;
  created_at: string | null;
  updated_at: string | null;
}

export interface OrganizationsTable extends Versioned {
  id: string;
  full_name: string | null;
  type: string | null;
  country_code: string | null;
  website: string | null;
  is_public: number | null;
  created_at: string | null;
  updated_at: string | null;
}

export interface ProjectsTable extends Versioned {
  id: string;
  num: string | null;
  full_name: string | null;
  short_description: string | null;
  status: string | null;
  registry: string | null;
  country_code: string | null;
  sector: string | null;
  methodology: string | null;
  type: string | null;
  start_date: string | null;
}

export interface CreditsTable extends Versioned, Amounts, NamesProject {
  organization_id: string;
  credit_id: string;
  inventory_id: string;
  serialization: string | null;
  vintage: string | null;
  type: string | null;
  token_id: string | null;
  token_address: string | null;
  unit: string | null;
}

export interface ReservationsTable extends Versioned, Amounts, NamesProject {
  organization_id: string;
  id: string;
  credit_id: string;
  serialization: string | null;
  type: string | null;
  reserver_id: string | null;
  reserver_name: string | null;
  state: string | null;
  is_complete: number | null;
  reserved_to_at: string | null;
  created_at: string | null;
  updated_at: string | null;
}

export interface InventoryRequestsTable extends Versioned, Amounts, NamesProject {
  organization_id: string;
  id: string;
  credit_id: string;
  action: string | null;
  state: string | null;
  type: string | null;
  serialization: string | null;
  vintage: string | null;
  from_organization_id: string | null;
  to_organization_id: string | null;
  to_address: string | null;
  tx_id: string | null;
  retirement_reason: string | null;
  beneficiary: string | null;
  retirement_comment: string | null;
  created_at: string | null;
  updated_at: string | null;
}

export interface RetirementsTable extends Versioned, Amounts, NamesProject {
  organization_id: string;
  id: string;
  serialization: string | null;
  vintage: string | null;
  reason: string | null;
  beneficiary: string | null;
  comment: string | null;
  is_claimed: number | null;
  created_at: string | null;
}

export interface MembersTable extends Versioned {
  organization_id: string;
  id: string;
  full_name: string | null;
  email: string | null;
}

export interface AddressesTable extends Versioned {
  organization_id: string;
  id: string;
  address: string | null;
  name: string | null;
  is_default: number | null;
}

export interface CertificatesTable {
  version: number;
  organization_id: string;
  retirement_id: string;
  state: CertificateState;
  file: string | null;
  sha256: string | null;
  size: number | null;
  fetched_at: string | null;
  checked_at: string | null;
  due_at: string;
  attempts: number;
  error: string | null;
  retirement_version: number;
  valid_from: string;
  sync_run_id: number | null;
}
