import { VERDICTS } from '../../inbox/delivery.js';
import { JOB_STATES, LANES } from '../../inbox/job.js';
import { PROCESS_ROLES } from '../../inbox/process.js';
import type { Columns, RowOf } from './columns.js';
import { MIRROR_TABLES } from './mirror-tables.js';

/** What readers ask of the inbox. The meaning of each column stands beside it in migrations/inbox/. */
export const INBOX_TABLES = {
  'inbox.deliveries': {
    id: 'integer',
    received_at: 'text',
    event: 'text?',
    installation_id: 'text?',
    digest: 'text',
    text_id: 'integer',
    outer_mismatch: 'text?',
    verdict: VERDICTS,
    reason: 'text?',
    secret_index: 'integer',
    job_id: 'integer?',
    repeats: 'integer',
    last_received_at: 'text?',
    unread_at: 'text?',
  },
  'inbox.jobs': {
    id: 'integer',
    kind: 'text',
    organization_id: 'text?',
    installation_id: 'text?',
    lane: LANES,
    dedupe_key: 'text',
    trigger: 'text',
    payload: 'text',
    state: JOB_STATES,
    attempts: 'integer',
    run_at: 'text',
    claimed_until: 'text?',
    claim: 'integer?',
    started_at: 'text?',
    finished_at: 'text?',
    created_at: 'text',
    last_error_code: 'text?',
    last_error: 'text?',
    outcome: 'text?',
    merged_into: 'integer?',
    repeats_only: 'integer',
  },
  'inbox.signed_texts': { id: 'integer', digest: 'text', last_received_at: 'text', signed_data: 'text' },
  'inbox.processes': {
    id: 'integer',
    role: PROCESS_ROLES,
    host: 'text',
    pid: 'integer',
    started_at: 'text',
    seen_at: 'text',
  },
  'inbox.refusals': {
    minute: 'text',
    reason: 'text',
    status: 'integer',
    header_prefix: 'text',
    posts: 'integer',
    newest_at: 'text',
  },
} as const satisfies Record<string, Columns>;

/** Every table and view that readers ask, by the name that they ask it by. */
export const TABLES = { ...MIRROR_TABLES, ...INBOX_TABLES } as const;

export type Tables = { readonly [Name in keyof typeof TABLES]: RowOf<(typeof TABLES)[Name]> };

/** A cell of any of them. */
export type Value = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, Value>>;
