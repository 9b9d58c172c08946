import { hashesOf } from '../../../mirror/people.js';
import { addressesIn } from '../../../mirror/person.js';
import type { Committed, Counts, Ending, OpenSync } from '../../../mirror/port.js';
import { formatInstant } from '../../../resources/columns.js';
import { causeColumns, endingColumns } from '../../resource-state.js';
import { GUARD } from './fence.js';
import { given, known, type Perform, SYNC } from './perform.js';

/** The work of one commit: its statements between the guard of a sync and the books. */
export interface Work {
  readonly statements: readonly string[];
  /** After the books, where the sync ends. */
  readonly atEnd?: readonly string[];
  readonly given: Readonly<Record<string, unknown>>;
  readonly rows?: readonly unknown[];
}

/** What the books answer. */
interface Booked extends Partial<Counts> {
  readonly sync: number;
  readonly drift: number;
  readonly latest: string | null;
}

/** What became of a commit, and what the statements of its work answered. */
type Done<Answer> = Committed & { readonly answer: Answer; readonly ms: number };

/** One sync from its first commit to its end: every commit is refused once a newer claim, read or suspension was seen. */
export interface Syncs {
  readonly commit: <Answer>(sync: OpenSync, work: Work, ending: Ending | null) => Promise<Done<Answer>>;
  readonly closeRow: (sync: OpenSync, ending: Ending) => Promise<void>;
}

const WHOSE = `organization_id = ${given('organization_id')} AND resource = ${given('resource')}`;
const DONE = ['added', 'changed', 'removed', 'unchanged'] as const;
const done = (what: (typeof DONE)[number]) => `coalesce(${known(what, 'bigint')}, 0)`;
const total = (what: (typeof DONE)[number]) => `${given(what, 'bigint')} + ${done(what)}`;
const CHANGED = ['added', 'changed', 'removed'] as const;
/** Whatever a sync changed has its number by now. */
const NUMBERED = `last_number = CASE WHEN ${CHANGED.map(done).join(' + ')} > 0
  THEN (SELECT last FROM mirror.version_counter) ELSE last_number END`;
const COUNTS = `${DONE.map(what => `rows_${what} = ${total(what)}`).join(', ')}, ${NUMBERED}`;
/** The latest instant that any row has by now; null does not count. */
const LATEST = `greatest(${given('latest', 'timestamptz')}, ${known('latest', 'timestamptz')}, ${known('closed', 'timestamptz')})`;

const ENTER = `
  WITH state AS (
    INSERT INTO mirror.resource_states (organization_id, resource)
    VALUES (${given('organization_id')}, ${given('resource')}) ON CONFLICT DO NOTHING
  )
  INSERT INTO mirror.syncs (organization_id, resource, trigger, claim, started_at, state,
    job_id, delivery_id)
  VALUES (${given('organization_id')}, ${given('resource')}, ${given('trigger')}, ${given('claim', 'bigint')},
    ${given('started_at', 'timestamptz')}, 'running', ${given('job_id', 'bigint')}, ${given('delivery_id', 'bigint')})
  RETURNING jsonb_build_object('sync', id)`;

const READ = `read_claim = ${given('claim', 'bigint')}, read_at = ${given('started_at', 'timestamptz')}`;
const ANSWER = `jsonb_build_object('sync', ${SYNC}, 'latest', ${LATEST}`;

const MIDDLE = `
  WITH sync AS (UPDATE mirror.syncs SET ${COUNTS} WHERE id = ${SYNC})
  UPDATE mirror.resource_states SET rows = rows + ${done('added')} - ${done('removed')}, open_sync = ${SYNC},
    stamp_at = coalesce(${LATEST}, stamp_at), ${READ}
  WHERE ${WHOSE}
  RETURNING ${ANSWER}, 'drift', 0)`;

const DRIFT = `(CASE WHEN ${given('drifts', 'boolean')}
  THEN ${CHANGED.map(total).join(' + ')} ELSE 0 END)`;
const ENDED = `finished_at = ${given('ended_at', 'timestamptz')}, requests = ${given('requests', 'bigint')},
  bytes = ${given('bytes', 'bigint')}, error_code = ${given('error_code')}, error = ${given('error')},
  answered_at = ${given('sync_answered_at', 'timestamptz')}`;
const IS_FAILED = `${given('state')} = 'failed'`;
const IS_WHOLE = `${given('state')} = 'complete'`;
const IS_ANSWERED = `${given('answered_at')} IS NOT NULL`;
const IS_NAMED = `EXISTS (SELECT 1 FROM mirror.forgotten_people
  WHERE email_sha256 IN (SELECT jsonb_array_elements_text($1 -> 'answer_names')))`;

const END = `
  WITH sync AS (
    UPDATE mirror.syncs SET ${COUNTS}, ${ENDED}, state = ${given('state')}, drift = ${DRIFT} WHERE id = ${SYNC}
  )
  UPDATE mirror.resource_states SET rows = rows + ${done('added')} - ${done('removed')},
    complete_at = CASE WHEN ${IS_WHOLE} THEN ${given('started_at', 'timestamptz')} ELSE complete_at END,
    first_complete_at = coalesce(first_complete_at,
      CASE WHEN ${IS_WHOLE} THEN greatest(${given('ended_at', 'timestamptz')}, ${LATEST}) END),
    attempted_at = ${given('started_at', 'timestamptz')}, outcome = ${given('state')},
    error_code = ${given('error_code')}, error = ${given('error')},
    forbidden_at = CASE WHEN ${IS_FAILED} THEN forbidden_at END,
    not_offered_at = CASE WHEN ${IS_FAILED} THEN not_offered_at END,
    refusals = CASE WHEN ${IS_FAILED} THEN refusals ELSE 0 END,
    open_sync = CASE WHEN ${given('is_left', 'boolean')} THEN ${SYNC} END,
    drift = drift + ${DRIFT},
    drift_at = CASE WHEN ${DRIFT} > 0 THEN ${given('started_at', 'timestamptz')} ELSE drift_at END,
    answer_status = coalesce(${given('answer_status', 'bigint')}, answer_status),
    answer_form = coalesce(${given('answer_form')}, answer_form),
    answer_text = CASE WHEN ${IS_ANSWERED} THEN CASE WHEN NOT ${IS_NAMED} THEN ${given('answer_text')} END
      ELSE answer_text END,
    answered_at = coalesce(${given('answered_at', 'timestamptz')}, answered_at),
    page_size = CASE WHEN ${given('is_sized', 'boolean')} THEN ${given('page_size', 'bigint')} ELSE page_size END,
    every_seconds = CASE WHEN ${given('is_paced', 'boolean')} THEN ${given('every_seconds', 'bigint')} ELSE every_seconds END,
    requests = coalesce(${given('calls', 'bigint')}, requests),
    owner_named = coalesce(${given('owner_named', 'bigint')}, owner_named),
    duration_ms = coalesce(${given('duration_ms', 'bigint')}, duration_ms),
    stamp_at = coalesce(${LATEST}, stamp_at), ${READ}
  WHERE ${WHOSE}
  RETURNING ${ANSWER}, 'drift', ${DRIFT})`;

const CLOSE_ROW = `
  UPDATE mirror.syncs SET ${COUNTS}, ${ENDED}, state = 'failed', drift = 0 WHERE id = ${SYNC}
  RETURNING '{}'::jsonb`;

export function createSyncs(perform: Perform): Syncs {
  return {
    commit: async <Answer>(sync: OpenSync, work: Work, ending: Ending | null): Promise<Done<Answer>> => {
      const from = performance.now();
      const enter = sync.id === null ? [ENTER] : [];
      const answer = await perform<Booked & Answer>(
        [
          ...GUARD,
          ...enter,
          ...work.statements,
          ...(ending === null ? [MIDDLE] : [END, ...(work.atEnd ?? [])]),
        ],
        { ...givenOf(sync), ...(ending && endingOf(sync, ending)), ...work.given },
        work.rows,
      );
      const { sync: syncId, latest, drift, added = 0, changed = 0, removed = 0, unchanged = 0 } = answer;
      const latestAt = latest === null ? null : formatInstant(Date.parse(latest));
      const ms = performance.now() - from;
      return { answer, syncId, latestAt, drift, added, changed, removed, unchanged, ms };
    },
    closeRow: async (sync, ending) => {
      if (sync.id === null) return;
      await perform([CLOSE_ROW], { ...givenOf(sync), ...endingOf(sync, ending) });
    },
  };
}

function givenOf({ request, part, id, latestAt, knownAt, counts }: OpenSync) {
  const { organizationId, resource, claim, trigger, startedAt } = request;
  return {
    organization_id: organizationId,
    resource,
    part,
    claim,
    trigger,
    started_at: formatInstant(startedAt),
    sync: id,
    latest: latestAt ?? knownAt,
    ...counts,
    ...causeColumns(request.cause),
  };
}

function endingOf(sync: OpenSync, ending: Ending) {
  const columns = endingColumns(sync, ending);
  const { answer_text: text } = columns;
  return {
    ...columns,
    state: ending.state,
    drifts: sync.drifts,
    ended_at: formatInstant(ending.endedAt),
    requests: ending.requests,
    bytes: ending.bytes,
    sync_answered_at: typeof ending.answeredAt === 'number' ? formatInstant(ending.answeredAt) : null,
    is_left: ending.isInterrupted && sync.isOpen,
    answer_names: text === null ? [] : addressesIn(text).flatMap(hashesOf),
  };
}
