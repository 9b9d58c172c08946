import { index, raw, table } from '../../schema.js';

/** The bookkeeping tables of the mirror: its origin, counters, syncs, and the state of each resource. */
export const BOOKS = [
  table(
    'mirror.origin',
    'Registry and app that this mirror was filled from, in one row. The mirror refuses data from any other.',
    {
      only_row: ['int', 'always 1', 'PRIMARY KEY CHECK (only_row = 1)'],
      base_url: ['text', 'base URL of the registry', 'NOT NULL'],
      app_id: ['text', 'id of the app', 'NOT NULL'],
      schedule_seconds: [
        'int',
        'interval of scheduled reads in seconds; data older than two intervals is overdue',
        'NOT NULL DEFAULT 900',
      ],
      created_at: ['instant', 'when the mirror was created', 'NOT NULL'],
      worker_seen_at: [
        'instant',
        'last heartbeat of any worker, written every 15 seconds; NULL if there was none',
      ],
      simulated_until: ['instant', 'end of the simulated past of a demo; NULL if the mirror is not a demo'],
      syncs_kept_since_at: [
        'instant',
        'syncs that ended before this instant may have been deleted because of their age; NULL if none was deleted',
      ],
      syncs_checked_until_at: [
        'instant',
        'syncs that ended before this instant were checked by the retention job: those that remain are kept for ever. NULL before the first check',
      ],
      listed_at: [
        'instant',
        'when all installations and their permissions were last listed; NULL if they never were',
      ],
    },
  ),
  table(
    'mirror.version_counter',
    'Counter of the column version of all tables, in one row.',
    {
      only_row: ['int', 'always 1', 'PRIMARY KEY CHECK (only_row = 1)'],
      last: ['int', 'highest version number in use', 'NOT NULL'],
    },
    { storage: 'fillfactor = 10' },
  ),
  raw(({ mirror }) => `INSERT INTO ${mirror}version_counter VALUES (1, 0);\n`),
  table(
    'mirror.fences',
    'Fencing tokens: the highest claim seen for each organization and part. The mirror refuses writes with a lower claim.',
    {
      organization_id: ['text', 'id of the organization whose rows are protected', 'NOT NULL'],
      part: [
        'text',
        'part of the organization: data or certificates',
        "NOT NULL CHECK (part IN ('data', 'certificates'))",
      ],
      claim: ['int', 'highest claim number', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (organization_id, part)'], storage: 'fillfactor = 50' },
  ),
  table(
    'mirror.syncs',
    'Reads of one resource of one organization. A row is added when the read first writes rows, or when it ends.',
    {
      id: ['counted', 'id of the sync; rises in the order in which the rows were added'],
      organization_id: ['text', 'id of the organization; NULL if the resource belongs to no organization'],
      resource: ['text', 'name of the resource', 'NOT NULL'],
      trigger: ['text', 'trigger of the read: delivery, schedule, worker or person', 'NOT NULL'],
      claim: ['int', 'number of the claim under which the read ran', 'NOT NULL'],
      started_at: ['instant', 'start of the read', 'NOT NULL'],
      finished_at: ['instant', 'end of the read; NULL while it runs'],
      state: [
        'text',
        'running; or the result: complete, partial (not all rows could be read), removals_unconfirmed (rows were missing; a second read must confirm that they are gone) or failed',
        "NOT NULL CHECK (state IN ('running', 'complete', 'partial', 'removals_unconfirmed', 'failed'))",
      ],
      requests: ['int', 'number of requests to the registry', 'NOT NULL DEFAULT 0'],
      bytes: ['int', 'number of bytes received', 'NOT NULL DEFAULT 0'],
      rows_added: ['int', 'number of rows that were added', 'NOT NULL DEFAULT 0'],
      rows_changed: ['int', 'number of rows that got a new version', 'NOT NULL DEFAULT 0'],
      rows_removed: ['int', 'number of rows that were removed', 'NOT NULL DEFAULT 0'],
      rows_unchanged: ['int', 'number of rows that had not changed', 'NOT NULL DEFAULT 0'],
      drift: ['int', 'number of changes that no delivery had announced', 'NOT NULL DEFAULT 0'],
      error_code: ['text', 'error code; NULL if nothing went wrong'],
      error: ['text', 'error message; NULL if nothing went wrong'],
      job_id: ['int', 'job that ran the sync (inbox.jobs.id); NULL if no job did'],
      newest_delivery_id: [
        'int',
        'newest delivery that the job answers; NULL if no delivery requested the read',
      ],
      last_answer_at: [
        'instant',
        'when the last answer of the registry arrived; NULL while the read runs or if no answer arrived',
      ],
      changes_up_to: [
        'int',
        'limit of the numbers of its changes, which are all at or below it; NULL if it changed nothing',
      ],
    },
  ),
  index('syncs_by_resource', 'mirror.syncs', 'organization_id, resource, id'),
  index('syncs_by_finished_at', 'mirror.syncs', 'finished_at'),
  /** Finds the last complete read before an instant, and tells whether a complete read was the last one of its day. */
  index('syncs_complete', 'mirror.syncs', 'organization_id, resource, finished_at, id', "state = 'complete'"),
  index('syncs_running', 'mirror.syncs', 'id', "state = 'running'"),
  index('syncs_with_error', 'mirror.syncs', 'id', 'error IS NOT NULL'),
  index('syncs_with_drift', 'mirror.syncs', 'id', 'drift > 0'),
  /** Finds the first change after an instant: changes of syncs that had ended by then have lower numbers. */
  index('syncs_that_changed', 'mirror.syncs', 'finished_at', 'changes_up_to IS NOT NULL'),
  table(
    'mirror.unchanged_spans',
    'Spans of consecutive scheduled reads of one resource that found nothing new. These reads have no rows in syncs. A span ends with the UTC day or at the next read of another kind. Its row is written when it has ended and never changes. For queries, use the view "unchanged_reads".',
    {
      id: ['counted', 'id of the span; rises in the order in which spans ended'],
      organization_id: ['text', 'id of the organization', 'NOT NULL'],
      resource: ['text', 'name of the resource', 'NOT NULL'],
      first_started_at: ['instant', 'start of the first of these reads', 'NOT NULL'],
      first_finished_at: ['instant', 'end of the first of these reads', 'NOT NULL'],
      last_started_at: ['instant', 'start of the last of these reads', 'NOT NULL'],
      last_finished_at: ['instant', 'end of the last of these reads', 'NOT NULL'],
      reads: ['int', 'number of these reads', 'NOT NULL CHECK (reads > 0)'],
      requests: ['int', 'total requests to the registry', 'NOT NULL'],
      bytes: ['int', 'total bytes received', 'NOT NULL'],
    },
  ),
  index(
    'unchanged_spans_by_resource',
    'mirror.unchanged_spans',
    'organization_id, resource, last_finished_at',
  ),
  table(
    'mirror.resource_states',
    'State of each resource of each organization: when it was read and with what result. For queries, use the view "freshness".',
    {
      organization_id: ['text', 'id of the organization', 'NOT NULL'],
      resource: ['text', 'name of the resource', 'NOT NULL'],
      rows: ['int', 'number of current rows', 'NOT NULL DEFAULT 0'],
      first_complete_at: [
        'instant',
        'end of the first complete read, before which the state is unknown; NULL if there was none',
      ],
      as_of: ['instant', 'start of the last complete read; NULL if there was none'],
      attempted_at: ['instant', 'start of the last read, whatever its result; NULL if there was none'],
      outcome: [
        'text',
        'result of the last read: complete, partial, removals_unconfirmed or failed; NULL if there was none',
        "CHECK (outcome IN ('complete', 'partial', 'removals_unconfirmed', 'failed'))",
      ],
      error_code: ['text', 'error code of the last read; NULL if nothing went wrong'],
      error: ['text', 'error message of the last read; NULL if nothing went wrong'],
      failing_since: [
        'instant',
        'start of the first read that failed or was incomplete since the last complete one; NULL if the last read was complete',
        "CHECK (failing_since IS NULL OR coalesce(outcome, 'complete') <> 'complete')",
      ],
      webhook_failed: [
        'int',
        '1 if a delivery had requested one of the reads that failed since failing_since, else 0',
        'NOT NULL DEFAULT 0 CHECK (webhook_failed = 0 OR webhook_failed = 1 AND failing_since IS NOT NULL)',
      ],
      no_permission_at: [
        'instant',
        'since when the permission is missing or refused; NULL if the resource may be read',
      ],
      refusals: [
        'int',
        'consecutive reads that the registry refused although the permission was granted, or did not offer; each one lengthens the wait before the next try',
        'NOT NULL DEFAULT 0',
      ],
      not_offered_at: ['instant', 'since when the registry does not offer the resource; NULL if it does'],
      answer_status: ['int', 'HTTP status of the last answer; NULL if there was none'],
      answer_form: [
        'text',
        'form of the last answer: list, pages, object, none (an HTTP error) or unusable (not the expected JSON); NULL if there was none',
      ],
      last_answer_at: ['instant', 'when the last answer arrived; NULL if there was none'],
      answer_text: [
        'text',
        'first 4,096 characters of the last answer if it had an unexpected form, else NULL',
      ],
      page_size: ['int', 'rows to request per page, if the registry refuses the usual number; else NULL'],
      open_sync: ['int', 'sync that has written rows and not ended; NULL if there is none'],
      doubted_at: [
        'instant',
        'start of the read whose missing rows a second read must confirm as removed; NULL if no removal is unconfirmed',
      ],
      doubted: [
        'bytes',
        'versions of those missing rows, as a packed set; NULL if no removal is unconfirmed',
      ],
      drift_total: ['int', 'total number of changes that no delivery had announced', 'NOT NULL DEFAULT 0'],
      duration_ms: [
        'int',
        'duration of the last complete read in milliseconds, limited to about a minute for each request in case the clock was changed; NULL if there was none',
      ],
      stamp_at: [
        'instant',
        'latest valid_from or valid_to of its rows. The next one must be later, even if the clock was set back. NULL if there is none',
      ],
      read_claim: ['int', 'claim of the last read that wrote anything; NULL if there was none'],
      read_at: ['instant', 'start of the last read that wrote anything; NULL if there was none'],
      owner_named: [
        'int',
        '1 if the answers name their owner, else 0. If it is 1, an answer that names no owner removes no row',
        'NOT NULL DEFAULT 0 CHECK (owner_named IN (0, 1))',
      ],
      every_seconds: [
        'int',
        'read interval without a webhook, in seconds; NULL if every scheduled round reads it',
      ],
      requests: ['int', 'number of requests of the last complete read; NULL if there was none'],
      unchanged_reads: [
        'int',
        'number of reads of the current span of unchanged scheduled reads, see unchanged_spans; 0 if the last read has a row in syncs',
        'NOT NULL DEFAULT 0',
      ],
      unchanged_first_started_at: [
        'instant',
        'start of the first read of the current span; NULL if there is none',
      ],
      unchanged_first_finished_at: [
        'instant',
        'end of the first read of the current span; NULL if there is none',
      ],
      unchanged_last_finished_at: [
        'instant',
        'end of the last read of the current span; NULL if there is none',
      ],
      unchanged_requests: ['int', 'total requests to the registry in the current span', 'NOT NULL DEFAULT 0'],
      unchanged_bytes: ['int', 'total bytes received in the current span', 'NOT NULL DEFAULT 0'],
      page_digests: [
        'text',
        'digests of the pages of the last whole read, so that the next read can skip unchanged rows: the sum of all key fingerprints, then for each page its digest, its number of rows, the sum of their key fingerprints, and a digest of each group of about eight rows. NULL if no digests may be used',
      ],
    },
    { rules: ['PRIMARY KEY (organization_id, resource)'], storage: 'fillfactor = 50' },
  ),
  index('resource_states_by_resource', 'mirror.resource_states', 'resource, organization_id'),
  table(
    'mirror.project_references',
    'Projects that rows of each organization refer to or ever referred to.',
    {
      organization_id: ['text', 'id of the organization', 'NOT NULL'],
      project_id: ['text', 'id of the project', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (organization_id, project_id)'] },
  ),
  table(
    'mirror.project_states',
    'Whether each project could be read when it was last requested.',
    {
      project_id: ['text', 'id of the project', 'PRIMARY KEY'],
      state: [
        'text',
        'readable, or unavailable if the registry does not let the app read the project',
        "NOT NULL CHECK (state IN ('readable', 'unavailable'))",
      ],
      checked_at: ['instant', 'start of the last request', 'NOT NULL'],
      error: ['text', 'error that the registry returned; NULL if the project is readable'],
    },
    { isSmall: true },
  ),
  table(
    'mirror.forgotten_people',
    'People whose data was erased on request. Each is kept as a hash of the e-mail address, so that later reads do not store them again.',
    {
      email_sha256: ['text', 'SHA-256 of the e-mail address in lower case, in hex', 'PRIMARY KEY'],
      forgotten_at: ['instant', 'when the erasure was requested', 'NOT NULL'],
    },
    { isSmall: true },
  ),
  table(
    'mirror.certificate_sums',
    'Number of certificates by organization and state. Triggers update it, so that queries need not count the rows.',
    {
      organization_id: ['text', 'id of the organization', 'NOT NULL'],
      state: ['text', 'pending, unavailable or stored', 'NOT NULL'],
      certificates: ['int', 'number of certificates', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (organization_id, state)'] },
  ),
  table(
    'mirror.certificate_mark',
    'Watermark of the retirements that already have a row in certificates, in one row. Newer versions of retirements have none yet.',
    {
      only_row: ['int', 'always 1', 'PRIMARY KEY CHECK (only_row = 1)'],
      retirement_version: [
        'int',
        'every retirement with this version or a lower one has a row in certificates',
        'NOT NULL',
      ],
    },
  ),
  raw(({ mirror }) => `INSERT INTO ${mirror}certificate_mark VALUES (1, 0);\n`),
  table(
    'mirror.finding_counts',
    'Row counts of the view findings, as a worker last counted them, because counting reads every row of the lists.',
    {
      finding: ['text', 'name of the finding, as in the view findings', 'PRIMARY KEY'],
      rows: ['int', 'number of rows', 'NOT NULL'],
      counted_at: ['instant', 'when the rows were counted', 'NOT NULL'],
    },
    { isSmall: true },
  ),
  table(
    'mirror.awaited_installations',
    'Installations that are known from a webhook, a person or the registry\'s list but were never read. The first sync deletes the row, whatever its result. For queries, use the view "coverage".',
    {
      id: ['text', 'id of the installation at the registry', 'PRIMARY KEY'],
      organization_id: [
        'text',
        'id of the organization; NULL if the installation is known only from a webhook',
      ],
      known_at: ['instant', 'when a worker learned of the installation', 'NOT NULL'],
    },
    { isSmall: true },
  ),
  table(
    'mirror.freshness_facts',
    'Oldest unread delivery of each resource: the first one that arrived at or after the start of the last complete read. A worker copies it from the inbox when it is 15 seconds old, and deletes the row after a read has answered it. Certificates have no row, because they depend on the row of retirements. Projects have none, because no webhook announces them.',
    {
      organization_id: ['text', 'id of the organization', 'NOT NULL'],
      resource: ['text', 'name of the resource', 'NOT NULL'],
      oldest_unread_at: ['instant', 'when the delivery arrived', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (organization_id, resource)'] },
  ),
] as const;

/** The files of certificates on PostgreSQL. With SQLite they are in a folder. */
export const CERTIFICATE_FILES = table(
  'mirror.certificate_files',
  'PDF files of certificates, each of at most 20 MiB.',
  {
    file: ['text', 'name of the file, as in certificates.file', 'PRIMARY KEY'],
    written_at: ['instant', 'when the file was stored', 'NOT NULL'],
    bytes: ['bytes', 'content of the file, as the registry sent it', 'NOT NULL'],
  },
);

/** Stores the files uncompressed and out of line, so that a part of a file can be read without the rest. */
export const KEEP_BYTES = raw(
  () => 'ALTER TABLE mirror.certificate_files ALTER COLUMN bytes SET STORAGE EXTERNAL;\n',
);
