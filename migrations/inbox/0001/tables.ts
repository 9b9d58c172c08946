import { index, type Part, raw, table } from '../../schema.js';
import { ORDERS } from './orders.js';

export const TABLES = [
  table(
    'inbox.deliveries',
    'Webhooks with a valid signature, in the order of arrival. Duplicates within one minute share a row if they wait for the same read or are ignored. The row is written before the sender gets its answer.',
    {
      id: ['id', 'id of the delivery; rises in the order of arrival'],
      received_at: ['instant', 'when the receiver had read the whole body', 'NOT NULL'],
      event: ['text', 'name of the event, from the signed text; NULL if it could not be read'],
      installation_id: [
        'text',
        'id of the installation, from the signed text; NULL if it contained no usable id',
      ],
      signed_text_sha256: [
        'text',
        'SHA-256 of the signed text, in hex; duplicates have the same one',
        'NOT NULL',
      ],
      stored_text_id: ['int', 'id of the signed text in signed_texts', 'NOT NULL'],
      contradicted_fields: [
        'text',
        'names of the unsigned fields that contradicted the signed ones; NULL if none did',
      ],
      verdict: [
        'text',
        'accepted (requests a read of the registry) or ignored',
        "NOT NULL CHECK (verdict IN ('accepted', 'ignored'))",
      ],
      ignored_reason: [
        'text',
        'why the delivery was ignored; NULL if it was accepted',
        "CHECK ((ignored_reason IS NULL) = (verdict = 'accepted'))",
      ],
      secret_index: [
        'int',
        'index of the webhook secret that verified the signature; 0 is the newest',
        'NOT NULL',
      ],
      job_id: [
        'int',
        'job that reads what the delivery announced and starts after its arrival; NULL if the delivery was ignored',
        "CHECK (job_id IS NULL OR verdict = 'accepted')",
      ],
      duplicates: [
        'int',
        'number of duplicates that this row counts, without the first delivery',
        'NOT NULL DEFAULT 0',
      ],
      last_duplicate_at: ['instant', 'when the last of these duplicates arrived; NULL if there was none'],
      unread_duplicate_at: [
        'instant',
        'when the first of these duplicates arrived that the last read does not answer, because the read had already started; NULL if there is none',
      ],
    },
    { storage: 'fillfactor = 90' },
  ),
  index('deliveries_by_received_at', 'inbox.deliveries', 'received_at'),
  index('deliveries_unread', 'inbox.deliveries', 'unread_duplicate_at', 'unread_duplicate_at IS NOT NULL'),
  table(
    'inbox.signed_texts',
    'Signed texts of the deliveries, as proof of what the registry sent. Duplicates share a row, except for a duplicate that arrives after several thousand other deliveries. There is no index on sha256, because hashes are random: each delivery would write another page of the index, which would cost more than all other writes.',
    {
      id: ['id', 'id of the text, as in deliveries.stored_text_id'],
      sha256: ['text', 'SHA-256 of the signed text, in hex', 'NOT NULL'],
      last_received_at: [
        'instant',
        'when the text last arrived; it is deleted together with its last delivery',
        'NOT NULL',
      ],
      signed_data: ['text', 'signed text as it was sent, in base64; empty if it was erased', 'NOT NULL'],
    },
  ),
  table(
    'inbox.jobs',
    'Jobs: work that waits, runs or has ended. Of the scheduled jobs that found nothing new, only the latest of each installation is kept.',
    {
      id: ['id', 'id of the job; rises in the order of creation'],
      kind: [
        'text',
        'kind of work: installation (read one installation), or retry, reservations, certificates, discover, tick or order',
        'NOT NULL',
      ],
      organization_id: [
        'text',
        'id of the organization whose data the job reads; NULL until it is known, or if the job concerns no single organization',
      ],
      installation_id: [
        'text',
        'id of the installation that the job reads; NULL if the job concerns no single installation',
      ],
      part: [
        'text',
        'part of the organization that the job reads: data or certificates. At most one job of each part of an organization runs at a time',
        "NOT NULL DEFAULT 'data' CHECK (part IN ('data', 'certificates'))",
      ],
      dedupe_key: [
        'text',
        'dedupe key: a request with the key of a waiting or paused job is merged into that job',
        'NOT NULL',
      ],
      trigger: ['text', 'trigger of the job: delivery, schedule, worker or person', 'NOT NULL'],
      priority: [
        'int',
        'order in which jobs are claimed: 1 if requested by a person, or by a delivery for an installation that was read before; 2 for a first read, or if requested by the worker after a read; 3 if requested by the schedule or only by duplicates',
        'NOT NULL DEFAULT 2 CHECK (priority IN (1, 2, 3))',
      ],
      payload: ['json', 'details for the worker, as a JSON object', "NOT NULL DEFAULT '{}'"],
      state: [
        'text',
        'waiting (until run_at), running, paused (until run_at or a new request), failed (until someone retries it) or done',
        "NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'paused', 'failed', 'done'))",
      ],
      attempts: [
        'int',
        'number of starts; counted at the start, so that a crash counts too',
        'NOT NULL DEFAULT 0',
      ],
      run_at: ['instant', 'earliest start of the job', 'NOT NULL'],
      claimed_until: [
        'instant',
        'when the lease of the claim expires; NULL unless the job is running',
        "CHECK ((claimed_until IS NOT NULL) = (state = 'running'))",
      ],
      claim: [
        'int',
        'number of the last claim, which every write to the mirror carries; NULL if the job was never claimed',
      ],
      started_at: ['instant', 'last start of the job; NULL if it never started'],
      finished_at: [
        'instant',
        'when the job was done or failed; NULL in all other states',
        "CHECK ((finished_at IS NOT NULL) = (state IN ('done', 'failed')))",
      ],
      created_at: ['instant', 'when the job was first requested', 'NOT NULL'],
      error_or_pause_code: [
        'text',
        'code of the last failure, or of the reason for the pause; NULL if there was none',
      ],
      last_error: ['text', 'message of the last failure; NULL if there was none'],
      outcome: [
        'text',
        'outcome of a done job, such as read, unchanged or merged; NULL unless the job is done',
      ],
      merged_into: ['int', 'id of the job into which this one was merged; NULL if it was not merged'],
      only_duplicates_asked: [
        'int',
        '1 if only duplicate deliveries requested the job, else 0. Such reads are delayed while they find nothing new',
        'NOT NULL DEFAULT 0 CHECK (only_duplicates_asked IN (0, 1))',
      ],
    },
    {
      storage:
        'fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0',
    },
  ),
  index('unique jobs_upcoming', 'inbox.jobs', 'dedupe_key', "state IN ('waiting', 'paused')"),
  index('jobs_waiting', 'inbox.jobs', 'part, priority, run_at', "state = 'waiting'"),
  index('jobs_running', 'inbox.jobs', 'claimed_until', "state = 'running'"),
  index('jobs_paused', 'inbox.jobs', 'part, run_at', "state = 'paused'"),
  index('jobs_failed', 'inbox.jobs', 'finished_at', "state = 'failed'"),
  index('jobs_done', 'inbox.jobs', 'finished_at', "state = 'done'"),
  index('jobs_worn_out', 'inbox.jobs', 'id', "attempts >= 10 AND state IN ('waiting', 'running')"),
  index('jobs_by_key', 'inbox.jobs', 'dedupe_key, started_at'),
  index('jobs_by_installation', 'inbox.jobs', 'installation_id, part, started_at'),
  /** Finds jobs that failed during an outage and became due at their creation time when the registry recovered. They are claimed first. */
  index(
    'jobs_tried_first',
    'inbox.jobs',
    'part, run_at',
    "state = 'waiting' AND attempts > 0 AND run_at <= created_at",
  ),
  table(
    'inbox.claims',
    'Counter of claim numbers, in one row. Numbers rise across all jobs, and so within each organization.',
    {
      id: ['int', 'always 1', 'PRIMARY KEY CHECK (id = 1)'],
      last: ['int', 'highest number that was allocated; some numbers stay unused', 'NOT NULL'],
    },
    {
      storage:
        'fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0',
    },
  ),
  raw(({ inbox }) => `INSERT INTO ${inbox}claims VALUES (1, 0);\n`),
  table(
    'inbox.processes',
    'Heartbeats of the processes that use this inbox, one row each. Rows without a heartbeat for an hour are deleted, except for the last one of each role.',
    {
      id: ['id', 'id of the process; rises in the order of start'],
      role: [
        'text',
        'role of the process: receive (stores webhooks) or work (reads the registry)',
        "NOT NULL CHECK (role IN ('receive', 'work'))",
      ],
      host: ['text', 'host name of the machine', 'NOT NULL'],
      pid: ['int', 'process id on that machine', 'NOT NULL'],
      started_at: ['instant', 'when the process was ready', 'NOT NULL'],
      seen_at: ['instant', 'last heartbeat of the process, written every 15 seconds', 'NOT NULL'],
    },
    { storage: 'fillfactor = 50' },
  ),
  table(
    'inbox.rejected_webhooks',
    'Number of webhooks that the receiver rejected, by minute, reason, HTTP status and header prefix. Neither body nor signature is stored.',
    {
      minute: ['text', 'minute of arrival as YYYY-MM-DDTHH:MM, in UTC', 'NOT NULL'],
      reason: ['text', 'reason for the rejection, such as signature_not_valid or too_large', 'NOT NULL'],
      status: ['int', 'HTTP status of the answer', 'NOT NULL'],
      header_prefix: [
        'text',
        "prefix of the signature header; '' if there was no such header, 'other' for all prefixes beyond 32 in a minute",
        'NOT NULL',
      ],
      rejected: ['int', 'number of rejected webhooks', 'NOT NULL'],
      newest_at: ['instant', 'when the last of these webhooks arrived', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (minute, reason, status, header_prefix)'] },
  ),
  table('inbox.tokens', 'Tokens of the HTTP API. A token itself is not stored, only its hash.', {
    id: ['counted', 'id of the token; rises in the order of creation'],
    name: ['text', 'name that the operator gave the token; not secret', 'NOT NULL UNIQUE'],
    token_sha256: ['text', 'SHA-256 of the token, in hex', 'NOT NULL UNIQUE'],
    scopes: [
      'json',
      'what the token allows, as a JSON array: lists, certificates, changes, status',
      'NOT NULL',
    ],
    organizations: [
      'json',
      'ids of the only organizations that the token may read, as a JSON array; the JSON value null for all',
      'NOT NULL',
    ],
    lists: ['json', 'names of the lists that the token may read, as a JSON array', 'NOT NULL'],
    created_at: ['instant', 'when the token was created', 'NOT NULL'],
    revoked_at: ['instant', 'when the token was revoked; NULL if it is valid'],
    last_used_at: [
      'instant',
      'when the token was last used, exact to about a minute; NULL if it was never used',
    ],
  }),
  ...ORDERS,
] as const;

/** Indexes that only PostgreSQL needs. */
export const OF_POSTGRES: readonly Part[] = [
  /** Finds out whether a delivery of an installation has arrived since an instant. */
  index(
    'deliveries_by_installation',
    'inbox.deliveries',
    'installation_id, received_at',
    "verdict = 'accepted'",
  ),
  /** Counts ignored deliveries, which every page of the console shows. They are few compared with accepted ones. */
  index('deliveries_ignored', 'inbox.deliveries', 'id', "verdict = 'ignored'"),
  /** Ensure that two jobs of the same part never run at once, even if two workers claim them at the same time. */
  index('unique jobs_running_organization', 'inbox.jobs', 'organization_id, part', "state = 'running'"),
  index('unique jobs_running_installation', 'inbox.jobs', 'installation_id, part', "state = 'running'"),
];
