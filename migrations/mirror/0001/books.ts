import { index, raw, table } from '../../schema.js';

/** What is kept of reading itself. */
export const BOOKS = [
  table(
    'mirror.origin',
    'The one registry that this mirror was filled from. It refuses any other. One row.',
    {
      only_row: ['int', 'always 1', 'PRIMARY KEY CHECK (only_row = 1)'],
      base_url: ['text', 'address of the registry', 'NOT NULL'],
      app_id: ['text', 'the app that reads it', 'NOT NULL'],
      schedule_seconds: ['int', 'between scheduled reads; twice as old is overdue', 'NOT NULL DEFAULT 900'],
      created_at: ['instant', 'when the mirror was first filled', 'NOT NULL'],
      worker_seen_at: ['instant', 'the latest heartbeat of any worker; one comes every 15 seconds'],
      simulated_until: ['instant', 'until when the past of a demo was played; null where none was'],
      syncs_kept_since_at: [
        'instant',
        'syncs that ended before it may have been removed because they were old; null where none was',
      ],
      syncs_checked_until: [
        'instant',
        'syncs that ended before it were checked for their age: those still there stay for good; null before the first check',
      ],
      listed_at: ['instant', 'when all installations were last listed with their permissions; null before'],
    },
  ),
  table(
    'mirror.version_counter',
    'The counter behind the column "version" of every table. One row.',
    {
      only_row: ['int', 'always 1', 'PRIMARY KEY CHECK (only_row = 1)'],
      last: ['int', 'the newest number in use', 'NOT NULL'],
    },
    { storage: 'fillfactor = 10' },
  ),
  raw(({ mirror }) => `INSERT INTO ${mirror}version_counter VALUES (1, 0);\n`),
  table(
    'mirror.fences',
    'The highest claim seen per organization and part. A write that carries a lower one is refused.',
    {
      organization_id: ['text', 'whose rows it guards', 'NOT NULL'],
      part: ['text', 'one of two kinds of work', "NOT NULL CHECK (part IN ('data', 'certificates'))"],
      claim: ['int', 'number of the newest claim', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (organization_id, part)'], storage: 'fillfactor = 50' },
  ),
  table(
    'mirror.syncs',
    'One read of one resource of one organization. Entered with its first write, or when it ends.',
    {
      id: ['counted', 'rises in the order of writing'],
      organization_id: ['text', 'whose resource; null for what belongs to nobody'],
      resource: ['text', 'what was read', 'NOT NULL'],
      trigger: ['text', 'what asked for it: delivery, schedule, worker or a person', 'NOT NULL'],
      claim: ['int', 'the claim that did it', 'NOT NULL'],
      started_at: ['instant', 'when the read began', 'NOT NULL'],
      finished_at: ['instant', 'when it ended; null while it runs'],
      state: [
        'text',
        'how it ended',
        "NOT NULL CHECK (state IN ('running', 'complete', 'partial', 'removals_unconfirmed', 'failed'))",
      ],
      requests: ['int', 'calls to the registry', 'NOT NULL DEFAULT 0'],
      bytes: ['int', 'bytes that came back', 'NOT NULL DEFAULT 0'],
      rows_added: ['int', 'rows that were not there before', 'NOT NULL DEFAULT 0'],
      rows_changed: ['int', 'rows that got a new version', 'NOT NULL DEFAULT 0'],
      rows_removed: ['int', 'rows that were closed', 'NOT NULL DEFAULT 0'],
      rows_unchanged: ['int', 'rows that were seen and not written', 'NOT NULL DEFAULT 0'],
      drift: ['int', 'changes that no delivery had announced', 'NOT NULL DEFAULT 0'],
      error_code: ['text', 'code of what went wrong; null where nothing did'],
      error: ['text', 'what went wrong, in words'],
      job_id: ['int', 'the job of the inbox that did it; null where none did'],
      newest_delivery_id: ['int', 'the newest delivery that the job answers; null where none asked'],
      last_answer_at: ['instant', 'when the latest answer had come; null while it runs, and where none came'],
      changes_up_to: ['int', 'none of its changes has a later number; null where it changed none'],
    },
  ),
  index('syncs_by_resource', 'mirror.syncs', 'organization_id, resource, id'),
  index('syncs_by_finished_at', 'mirror.syncs', 'finished_at'),
  /** Finds the last complete read before an instant, and whether a complete read was the last one of its day. */
  index('syncs_complete', 'mirror.syncs', 'organization_id, resource, finished_at, id', "state = 'complete'"),
  index('syncs_running', 'mirror.syncs', 'id', "state = 'running'"),
  index('syncs_with_drift', 'mirror.syncs', 'id', 'drift > 0'),
  /** Where the changes since an instant begin: after those of the syncs that had ended by then. */
  index('syncs_that_changed', 'mirror.syncs', 'finished_at', 'changes_up_to IS NOT NULL'),
  table(
    'mirror.unchanged_spans',
    'Scheduled reads in a row of one list that all found nothing new. Such reads have no rows in syncs. A span ends with the UTC day or at the next read that is not one of them; it is written when it has ended, and never changed. People read the view "unchanged_reads" instead.',
    {
      id: ['counted', 'rises in the order in which the spans ended'],
      organization_id: ['text', 'whose resource', 'NOT NULL'],
      resource: ['text', 'what was read', 'NOT NULL'],
      first_started_at: ['instant', 'when the first of these reads began', 'NOT NULL'],
      first_finished_at: ['instant', 'when the first of these reads ended', 'NOT NULL'],
      last_started_at: ['instant', 'when the last of these reads began', 'NOT NULL'],
      last_finished_at: ['instant', 'when the last of these reads ended', 'NOT NULL'],
      reads: ['int', 'how many reads', 'NOT NULL CHECK (reads > 0)'],
      requests: ['int', 'calls to the registry, over all these reads', 'NOT NULL'],
      bytes: ['int', 'bytes that came back, over all these reads', 'NOT NULL'],
    },
  ),
  index(
    'unchanged_spans_by_resource',
    'mirror.unchanged_spans',
    'organization_id, resource, last_finished_at',
  ),
  table(
    'mirror.resource_states',
    'What is known of each resource of each organization. People read the view "freshness" instead.',
    {
      organization_id: ['text', 'whose resource', 'NOT NULL'],
      resource: ['text', 'what is read', 'NOT NULL'],
      rows: ['int', 'rows that are there now', 'NOT NULL DEFAULT 0'],
      first_complete_at: ['instant', 'end of the first complete read; what was before it is not known'],
      as_of: ['instant', 'start of the last complete read; null before the first'],
      attempted_at: ['instant', 'start of the latest read, however it ended'],
      outcome: [
        'text',
        'how the latest read ended',
        "CHECK (outcome IN ('complete', 'partial', 'removals_unconfirmed', 'failed'))",
      ],
      error_code: ['text', 'code of what went wrong with it'],
      error: ['text', 'what went wrong with it, in words'],
      failing_since: [
        'instant',
        'start of the first read since the last complete one that failed; null where the latest did not',
        "CHECK (failing_since IS NULL OR coalesce(outcome, 'complete') <> 'complete')",
      ],
      webhook_failed: [
        'int',
        '1 where one of those that failed was to answer a delivery',
        'NOT NULL DEFAULT 0 CHECK (webhook_failed = 0 OR webhook_failed = 1 AND failing_since IS NOT NULL)',
      ],
      no_permission_at: ['instant', 'since when permission is missing or refused; null where it may be read'],
      refusals: [
        'int',
        'refusals in a row of what is permitted; each is believed longer',
        'NOT NULL DEFAULT 0',
      ],
      not_offered_at: ['instant', 'since when the registry says there is none; null where it offers it'],
      answer_status: ['int', 'HTTP status of the latest answer; null before the first'],
      answer_form: ['text', 'form of the latest answer: list, pages, object, none or unusable'],
      last_answer_at: ['instant', 'when the latest answer came'],
      answer_text: ['text', 'where the latest answer has a wrong form, its first 4,096 characters'],
      page_size: ['int', 'rows asked for a page, where the registry refuses as many as we would ask for'],
      open_sync: ['int', 'the sync that has written and not ended; null between syncs'],
      doubted_at: ['instant', 'start of a complete read that lacked most rows; null where none is in doubt'],
      doubted: ['bytes', 'the versions that it lacked, a packed set'],
      drift_total: ['int', 'changes so far that no delivery had announced', 'NOT NULL DEFAULT 0'],
      duration_ms: ['int', 'how long the last complete read took, without waits for answers that never came'],
      stamp_at: ['instant', 'the latest instant of a row of it; the next is later, whatever the clock says'],
      read_claim: ['int', 'claim of the newest read that has written'],
      read_at: ['instant', 'start of that read'],
      owner_named: [
        'int',
        '1 where answers say whose they are: one without closes no row',
        'NOT NULL DEFAULT 0 CHECK (owner_named IN (0, 1))',
      ],
      every_seconds: ['int', 'how often it is read without a webhook; null where every round reads it'],
      requests: ['int', 'calls that the last complete read took'],
      unchanged_reads: [
        'int',
        'the span that has not ended: how many scheduled reads in a row found nothing new, up to the latest; 0 where the latest read has a row in syncs',
        'NOT NULL DEFAULT 0',
      ],
      unchanged_first_started_at: [
        'instant',
        'when the first read of that span began; null where there is no such span',
      ],
      unchanged_first_finished_at: [
        'instant',
        'when the first read of that span ended; null where there is no such span',
      ],
      unchanged_last_finished_at: [
        'instant',
        'when the last read of that span ended; null where there is no such span',
      ],
      unchanged_requests: ['int', 'calls to the registry, over all reads of that span', 'NOT NULL DEFAULT 0'],
      unchanged_bytes: ['int', 'bytes that came back, over all reads of that span', 'NOT NULL DEFAULT 0'],
      page_digests: [
        'text',
        'a sum of the keys, then each page as the latest whole read saw it: how its hash begins, its rows, the sum of their keys, and how the hash of each group of some eight rows begins; rows that still stand so are not looked at again; null where it has no pages',
      ],
    },
    { rules: ['PRIMARY KEY (organization_id, resource)'], storage: 'fillfactor = 50' },
  ),
  index('resource_states_by_resource', 'mirror.resource_states', 'resource'),
  table(
    'mirror.project_references',
    "The projects that an organization's rows have ever named.",
    {
      organization_id: ['text', 'whose rows', 'NOT NULL'],
      project_id: ['text', 'the project they name', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (organization_id, project_id)'] },
  ),
  table(
    'mirror.project_states',
    'Whether a project could be read when it was last asked for.',
    {
      project_id: ['text', 'the project', 'PRIMARY KEY'],
      state: [
        'text',
        'unavailable: the registry does not show it to us',
        "NOT NULL CHECK (state IN ('readable', 'unavailable'))",
      ],
      checked_at: ['instant', 'start of the latest question', 'NOT NULL'],
      error: ['text', 'what the registry answered; null where it is readable'],
    },
    { isSmall: true },
  ),
  table(
    'mirror.forgotten_people',
    'People who asked to be forgotten: a hash of the e-mail address, so that the next read does not bring them back.',
    {
      email_sha256: ['text', 'SHA-256 of the address in lower case', 'PRIMARY KEY'],
      forgotten_at: ['instant', 'when it was asked for', 'NOT NULL'],
    },
    { isSmall: true },
  ),
  table(
    'mirror.certificate_sums',
    'How many certificates are in which state. Kept by triggers, so that nobody has to count a million rows.',
    {
      organization_id: ['text', 'whose certificates', 'NOT NULL'],
      state: ['text', 'pending, unavailable or stored', 'NOT NULL'],
      certificates: ['int', 'how many', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (organization_id, state)'] },
  ),
  table(
    'mirror.certificate_mark',
    'How far certificates have been entered for new and changed retirements. One row.',
    {
      only_row: ['int', 'always 1', 'PRIMARY KEY CHECK (only_row = 1)'],
      retirement_version: ['int', 'each retirement up to this version has a row in certificates', 'NOT NULL'],
    },
  ),
  raw(({ mirror }) => `INSERT INTO ${mirror}certificate_mark VALUES (1, 0);\n`),
  table(
    'mirror.finding_counts',
    'The same as a worker counted it last, so that nobody has to look at a million rows.',
    {
      finding: ['text', 'as in the view findings', 'PRIMARY KEY'],
      rows: ['int', 'how many', 'NOT NULL'],
      counted_at: ['instant', 'when that was', 'NOT NULL'],
    },
    { isSmall: true },
  ),
  table(
    'mirror.awaited_installations',
    'Installations that a webhook, a person or the registry\'s list has named and nobody has read yet. The first sync takes a row away, whatever it finds. People read the view "coverage" instead.',
    {
      id: ['text', "the registry's id", 'PRIMARY KEY'],
      organization_id: ['text', 'whose it is; null where only a webhook named it'],
      known_at: ['instant', 'when a worker came to know of it', 'NOT NULL'],
    },
    { isSmall: true },
  ),
  table(
    'mirror.freshness_facts',
    'What was announced and not read yet: for each resource the oldest delivery that came at or after the start of its last complete read. A worker copies it from the inbox once it is 15 seconds old, and removes it at its next look after a read has answered it. Certificates have no row: they wait for what retirements wait for. Projects have none: no webhook announces one.',
    {
      organization_id: ['text', 'whose resource', 'NOT NULL'],
      resource: ['text', 'what is to be read', 'NOT NULL'],
      oldest_unread_at: ['instant', 'when the delivery came', 'NOT NULL'],
    },
    { isSmall: true, rules: ['PRIMARY KEY (organization_id, resource)'] },
  ),
] as const;

/** PostgreSQL has no folder. */
export const CERTIFICATE_FILES = table(
  'mirror.certificate_files',
  'The PDFs themselves, of at most 20 MiB.',
  {
    file: ['text', 'its name in certificates', 'PRIMARY KEY'],
    written_at: ['instant', 'when it was stored', 'NOT NULL'],
    bytes: ['bytes', 'what stands there, as the registry sent it', 'NOT NULL'],
  },
);

/** As they are, beside the table: so that a part of one is read without the rest. */
export const KEEP_BYTES = raw(
  () => 'ALTER TABLE mirror.certificate_files ALTER COLUMN bytes SET STORAGE EXTERNAL;\n',
);
