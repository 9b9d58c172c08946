import type {
  AddressesTable,
  CertificateState,
  CertificatesTable,
  CreditsTable,
  InstallationsTable,
  InventoryRequestsTable,
  MembersTable,
  OrganizationsTable,
  ProjectsTable,
  ReservationsTable,
  RetirementsTable,
} from './mirror-rows.js';

/** The tables and views of mirror.db. The meaning of each column stands beside it in migrations/sqlite/mirror/. */
export interface MirrorTables {
  origin: OriginTable;
  version_counter: { only_row: number; last: number };
  fences: { organization_id: string; lane: string; claim: number };
  sync_runs: SyncRunsTable;
  resource_states: ResourceStatesTable;
  announcements: { organization_id: string; resource: string; announced_at: string };
  read_pages: {
    organization_id: string;
    resource: string;
    page: number;
    digest: string;
    versions: Uint8Array;
  };
  project_references: { organization_id: string; project_id: string };
  project_states: { project_id: string; state: string; checked_at: string; error: string | null };
  forgotten_people: { email_sha256: string; forgotten_at: string };
  retirement_sums: RetirementSumsTable;

  installations: InstallationsTable;
  installations_past: Past<InstallationsTable>;
  installations_history: History<InstallationsTable>;
  organizations: OrganizationsTable;
  organizations_past: Past<OrganizationsTable>;
  organizations_history: History<OrganizationsTable>;
  projects: ProjectsTable;
  projects_past: Past<ProjectsTable>;
  projects_history: History<ProjectsTable>;
  warehouse_credits: CreditsTable;
  warehouse_credits_past: Past<CreditsTable>;
  warehouse_credits_history: History<CreditsTable>;
  inventory_credits: CreditsTable;
  inventory_credits_past: Past<CreditsTable>;
  inventory_credits_history: History<CreditsTable>;
  reservations: ReservationsTable;
  reservations_past: Past<ReservationsTable>;
  reservations_history: History<ReservationsTable>;
  inventory_requests: InventoryRequestsTable;
  inventory_requests_past: Past<InventoryRequestsTable>;
  inventory_requests_history: History<InventoryRequestsTable>;
  retirements: RetirementsTable;
  retirements_past: Past<RetirementsTable>;
  retirements_history: History<RetirementsTable>;
  members: MembersTable;
  members_past: Past<MembersTable>;
  members_history: History<MembersTable>;
  addresses: AddressesTable;
  addresses_past: Past<AddressesTable>;
  addresses_history: History<AddressesTable>;

  certificates: CertificatesTable;
  certificates_past: Past<CertificatesTable>;
  certificates_history: History<CertificatesTable>;
  certificate_sums: { organization_id: string; state: CertificateState; certificates: number };
  certificate_mark: { only_row: number; retirement_version: number };

  freshness: FreshnessView;
  warehouse_sums: CreditSumsView;
  available_credits: CreditSumsView;
  last_known_credits: CreditSumsView;
  retirements_by_beneficiary: Sums & { organization_id: string; beneficiary: string | null };
  retirements_by_month: Sums & { organization_id: string; month: string | null };
  certificates_missing: CertificatesMissingView;
  reservations_now: Omit<ReservationsTable, 'document'> & { state_now: string; seconds_left: number | null };
  drift: DriftView;
}

export const FRESHNESS_STATES = [
  'suspended',
  'uninstalled',
  'forbidden',
  'not_offered',
  'never_read',
  'doubtful',
  'partial',
  'failing',
  'behind',
  'late',
  'current',
] as const;
export type FreshnessState = (typeof FRESHNESS_STATES)[number];

export const RUN_STATES = ['running', 'complete', 'partial', 'doubtful', 'failed'] as const;
export type RunState = (typeof RUN_STATES)[number];

type Past<Table> = Table & { valid_to: string; closed_by: number };
type History<Table> = Table & { valid_to: string | null; closed_by: number | null };

interface OriginTable {
  only_row: number;
  base_url: string;
  app_id: string;
  schedule_seconds: number;
  created_at: string;
  watched_at: string | null;
}

interface SyncRunsTable {
  id: number;
  organization_id: string | null;
  resource: string;
  trigger: string;
  claim: number;
  started_at: string;
  finished_at: string | null;
  state: RunState;
  requests: number;
  bytes: number;
  rows_added: number;
  rows_changed: number;
  rows_removed: number;
  rows_unchanged: number;
  drift: number;
  error_code: string | null;
  error: string | null;
}

interface ResourceStatesTable {
  organization_id: string;
  resource: string;
  rows: number;
  first_complete_at: string | null;
  complete_at: string | null;
  attempted_at: string | null;
  outcome: RunState | null;
  error_code: string | null;
  error: string | null;
  forbidden_at: string | null;
  refusals: number;
  not_offered_at: string | null;
  answer_status: number | null;
  answer_form: string | null;
  answer_text: string | null;
  answered_at: string | null;
  page_size: number | null;
  owner_told: number;
  open_run: number | null;
  doubted_at: string | null;
  doubted: Uint8Array | null;
  drift: number;
  drift_at: string | null;
  duration_ms: number | null;
  stamp_at: string | null;
  read_claim: number | null;
  read_at: string | null;
}

interface RetirementSumsTable {
  organization_id: string;
  kind: 'beneficiary' | 'month';
  value: string;
  rows: number;
  rows_not_summed: number;
  tonnes: number;
  micro: number;
}

interface FreshnessView {
  organization_id: string;
  resource: string;
  state: FreshnessState;
  complete_at: string | null;
  age_seconds: number | null;
  rows: number;
  drift: number;
  attempted_at: string | null;
  error: string | null;
  announced_at: string | null;
  watched_at: string | null;
}

interface Sums {
  amount: number;
  amount_micro: number | bigint | null;
  rows: number;
  rows_not_summed: number;
  freshness: FreshnessState | null;
  complete_at: string | null;
  age_seconds: number | null;
}

interface CreditSumsView extends Sums {
  organization_id: string;
  organization_name: string | null;
  project_id: string | null;
  project_name: string | null;
  vintage: string | null;
  type: string | null;
}

interface CertificatesMissingView {
  organization_id: string;
  retirement_id: string;
  state: CertificateState;
  checked_at: string | null;
  due_at: string | null;
  attempts: number;
  error: string | null;
}

interface DriftView {
  sync_run_id: number;
  organization_id: string | null;
  resource: string;
  started_at: string;
  drift: number;
  rows_added: number;
  rows_changed: number;
  rows_removed: number;
}
