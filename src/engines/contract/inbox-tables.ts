import type { Generated, Insertable, Selectable } from 'kysely';
import type { Verdict } from '../../inbox/delivery.js';
import type { JobState, Lane } from '../../inbox/job.js';
import type { ProcessRole } from '../../inbox/process.js';

/** The tables of inbox.db. The meaning of each column stands beside it in migrations/sqlite/inbox/. */
export interface InboxTables {
  deliveries: DeliveriesTable;
  signed_texts: SignedTextsTable;
  jobs: JobsTable;
  claims: ClaimsTable;
  processes: ProcessesTable;
  refusals: RefusalsTable;
}

interface DeliveriesTable {
  id: Generated<number>;
  received_at: string;
  event: string | null;
  installation_id: string | null;
  digest: string;
  text_id: number;
  outer_mismatch: string | null;
  verdict: Verdict;
  reason: string | null;
  secret_index: number;
  job_id: number | null;
  repeats: Generated<number>;
  last_received_at: Generated<string | null>;
  unread_at: Generated<string | null>;
}

interface SignedTextsTable {
  id: Generated<number>;
  digest: string;
  last_received_at: string;
  signed_data: string;
}

interface JobsTable {
  id: Generated<number>;
  kind: string;
  organization_id: string | null;
  installation_id: string | null;
  lane: Lane;
  dedupe_key: string;
  trigger: string;
  payload: string;
  state: JobState;
  attempts: number;
  run_at: string;
  claimed_until: string | null;
  claim: number | null;
  started_at: string | null;
  finished_at: string | null;
  created_at: string;
  last_error_code: string | null;
  last_error: string | null;
  outcome: string | null;
  merged_into: number | null;
  repeats_only: number;
}

interface ClaimsTable {
  id: number;
  last: number;
}

interface ProcessesTable {
  id: Generated<number>;
  role: ProcessRole;
  host: string;
  pid: number;
  started_at: string;
  seen_at: string;
}

interface RefusalsTable {
  minute: string;
  reason: string;
  status: number;
  header_prefix: string;
  posts: number;
  newest_at: string;
}

export type DeliveryRow = Selectable<DeliveriesTable>;
export type NewDeliveryRow = Insertable<DeliveriesTable>;
export type JobRow = Selectable<JobsTable>;
