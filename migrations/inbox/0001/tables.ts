import { index, type Part, raw, table } from '../../schema.js';

export const TABLES = [
  table(
    'inbox.deliveries',
    'Every POST whose signature was good, in the order of arrival: a row each, but duplicates of one text that wait for the same read, or are ignored, share one for a minute. A row is written before the sender is answered.',
    {
      id: ['id', 'rises in the order of arrival'],
      received_at: ['instant', 'when the whole body had been read', 'NOT NULL'],
      event: ['text', "the event's name as signed; null where none was readable"],
      installation_id: ['text', 'the installation it speaks of; null where no usable id was signed'],
      signed_text_sha256: ['text', 'SHA-256 of the signed text in hex; equal for duplicates', 'NOT NULL'],
      stored_text_id: ['int', 'the signed text itself, in signed_texts', 'NOT NULL'],
      contradicted_fields: [
        'text',
        'names of the unsigned fields that contradicted the signed ones; null where none did',
      ],
      verdict: [
        'text',
        'accepted leads to a read of the registry, ignored does not',
        "NOT NULL CHECK (verdict IN ('accepted', 'ignored'))",
      ],
      ignored_reason: [
        'text',
        'why it was ignored; null where it was accepted',
        "CHECK ((ignored_reason IS NULL) = (verdict = 'accepted'))",
      ],
      secret_index: [
        'int',
        'which of the configured webhook secrets had signed it; 0 is the newest',
        'NOT NULL',
      ],
      job_id: [
        'int',
        'the job that was sure to start after it arrived; null where it was ignored',
        "CHECK (job_id IS NULL OR verdict = 'accepted')",
      ],
      duplicates: ['int', 'how many more of the same text are counted in this row', 'NOT NULL DEFAULT 0'],
      last_duplicate_at: ['instant', 'when the latest of them came; null where none did'],
      unread_duplicate_at: [
        'instant',
        'the first of them that came after a read of its installation had begun, which did not answer it; null where there is none',
      ],
    },
    { storage: 'fillfactor = 90' },
  ),
  index('deliveries_by_received_at', 'inbox.deliveries', 'received_at'),
  index('deliveries_unread', 'inbox.deliveries', 'unread_duplicate_at', 'unread_duplicate_at IS NOT NULL'),
  table(
    'inbox.signed_texts',
    'The raw signed texts, the proof of what the registry sent. Duplicates share one row: only a duplicate that comes after some thousands of others gets a row of its own. There is no index on sha256, because hashes fall all over an index, and to write a page of it for each delivery would cost more than everything else together.',
    {
      id: ['id', 'deliveries.stored_text_id points here'],
      sha256: ['text', 'SHA-256 of signed_data in hex', 'NOT NULL'],
      last_received_at: [
        'instant',
        'when it came last; it is kept for as long as its last delivery',
        'NOT NULL',
      ],
      signed_data: ['text', 'the text as it was sent and signed (base64)', 'NOT NULL'],
    },
  ),
  table(
    'inbox.jobs',
    'What is to do, what is being done and what became of it. Of the jobs of the schedule that found nothing new, each installation has only the latest.',
    {
      id: ['id', 'rises in the order of creation'],
      kind: [
        'text',
        'what is to do: installation (read one installation again) or a word of the schedule',
        'NOT NULL',
      ],
      organization_id: ['text', 'whose data it reads; null until that is known'],
      installation_id: ['text', 'through which installation it reads; null for work that belongs to none'],
      part: [
        'text',
        'one organization is in at most one live claim per part',
        "NOT NULL DEFAULT 'data' CHECK (part IN ('data', 'certificates'))",
      ],
      dedupe_key: ['text', 'at most one job with this key waits; later ones are merged with it', 'NOT NULL'],
      trigger: ['text', 'what asked for it: delivery, schedule, worker or a person', 'NOT NULL'],
      priority: [
        'int',
        'which are claimed first: 1 asked for by a person, or by a delivery for an installation that was read before; 2 a first read, or work that a read led to; 3 the schedule, or duplicates alone',
        'NOT NULL DEFAULT 2 CHECK (priority IN (1, 2, 3))',
      ],
      payload: ['json', 'details for the worker, a JSON object', "NOT NULL DEFAULT '{}'"],
      state: [
        'text',
        'waiting for run_at, running, paused until something changes, failed until it is tried again, or done',
        "NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'paused', 'failed', 'done'))",
      ],
      attempts: [
        'int',
        'how often it was started; counted at the start, so that a crash counts too',
        'NOT NULL DEFAULT 0',
      ],
      run_at: ['instant', 'not to be started before this instant', 'NOT NULL'],
      claimed_until: [
        'instant',
        "when the claim's lease runs out; null unless running",
        "CHECK ((claimed_until IS NOT NULL) = (state = 'running'))",
      ],
      claim: ['int', 'the number of its latest claim; every write to the mirror carries it'],
      started_at: ['instant', 'when it was started last'],
      finished_at: [
        'instant',
        'when it was done or failed',
        "CHECK ((finished_at IS NOT NULL) = (state IN ('done', 'failed')))",
      ],
      created_at: ['instant', 'when it was first asked for', 'NOT NULL'],
      error_or_pause_code: ['text', 'code of the latest failure, or why it was paused'],
      last_error: ['text', 'the latest failure in words'],
      outcome: ['text', 'how a done job ended: a word of the worker, or merged'],
      merged_into: ['int', 'the job that took over from a merged one'],
      only_duplicates_asked: [
        'int',
        '1 where nothing but deliveries that had come before asked for it: such reads slow down while they find nothing new',
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
  /** What failed while the registry did not answer is due since it was first asked for, once the registry answers again: it comes first. */
  index(
    'jobs_tried_first',
    'inbox.jobs',
    'part, run_at',
    "state = 'waiting' AND attempts > 0 AND run_at <= created_at",
  ),
  table(
    'inbox.claims',
    'The counter of claims, one row. It rises over all jobs, and so for each organization too.',
    {
      id: ['int', 'always 1', 'PRIMARY KEY CHECK (id = 1)'],
      last: [
        'int',
        'the highest number that a claim may have: slots that stayed free have numbers too',
        'NOT NULL',
      ],
    },
    {
      storage:
        'fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0',
    },
  ),
  raw(({ inbox }) => `INSERT INTO ${inbox}claims VALUES (1, 0);\n`),
  table(
    'inbox.processes',
    'Heartbeats. A row each for a process that has worked on this inbox. Those of an hour ago are removed, but for the last of each role.',
    {
      id: ['id', 'rises in the order of starting'],
      role: [
        'text',
        'what it does: receive takes webhooks, work reads the registry',
        "NOT NULL CHECK (role IN ('receive', 'work'))",
      ],
      host: ['text', 'name of the machine it runs on', 'NOT NULL'],
      pid: ['int', 'its process id there', 'NOT NULL'],
      started_at: ['instant', 'when it was ready', 'NOT NULL'],
      seen_at: ['instant', 'its latest heartbeat; one comes every 15 seconds', 'NOT NULL'],
    },
    { storage: 'fillfactor = 50' },
  ),
  table(
    'inbox.rejected_webhooks',
    'Webhooks that the receiver rejected, counted by minute and reason. No body and no signature is kept.',
    {
      minute: ['text', 'YYYY-MM-DDTHH:MM, in UTC', 'NOT NULL'],
      reason: ['text', 'why, one of a closed list of words', 'NOT NULL'],
      status: ['int', 'what was answered', 'NOT NULL'],
      header_prefix: [
        'text',
        "prefix of the signature header that came; 'other' where it is unusual, '' where none came",
        'NOT NULL',
      ],
      rejected: ['int', 'how many', 'NOT NULL'],
      newest_at: ['instant', 'when the latest of them came', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (minute, reason, status, header_prefix)'] },
  ),
] as const;

/** What only PostgreSQL is asked by. */
export const OF_POSTGRES: readonly Part[] = [
  /** Whether one has come for an installation since is asked by it. */
  index(
    'deliveries_by_installation',
    'inbox.deliveries',
    'installation_id, received_at',
    "verdict = 'accepted'",
  ),
  /** They are counted on every page of the console, and are few beside what was accepted. */
  index('deliveries_ignored', 'inbox.deliveries', 'id', "verdict = 'ignored'"),
  /** Whatever two workers see of each other: nothing runs twice in a part. */
  index('unique jobs_running_organization', 'inbox.jobs', 'organization_id, part', "state = 'running'"),
  index('unique jobs_running_installation', 'inbox.jobs', 'installation_id, part', "state = 'running'"),
];
