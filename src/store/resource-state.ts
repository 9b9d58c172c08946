import type { Cause, Ending, Opening, OpenSync } from '../mirror/port.js';
import { formatInstant, text } from '../resources/columns.js';
import type { Tables } from './contract/tables.js';

type State = Tables['resource_states'];

export interface OpeningRow
  extends Pick<
    State,
    | 'resource'
    | 'rows'
    | 'open_sync'
    | 'doubted_at'
    | 'doubted'
    | 'stamp_at'
    | 'owner_named'
    | 'refusals'
    | 'attempted_at'
    | 'as_of'
    | 'duration_ms'
    | 'page_size'
    | 'every_seconds'
    | 'outcome'
    | 'page_digests'
  > {
  readonly declined: Opening['declined'];
  readonly is_strange: boolean | number;
}

/** Columns of `resource_states` as every engine asks for them. */
export const OPENING = `resource, rows, open_sync, doubted_at, doubted, stamp_at, owner_named, CASE
    WHEN not_offered_at IS NOT NULL THEN 'not_offered'
    WHEN no_permission_at IS NOT NULL AND refusals > 0 THEN 'refused'
  END AS declined, refusals, attempted_at, as_of, duration_ms, page_size, every_seconds,
  outcome, page_digests, answer_text IS NOT NULL AS is_strange`;

export function openingOf(row: OpeningRow): Opening {
  return {
    rows: row.rows,
    isBroken: row.open_sync !== null,
    doubtedAt: row.doubted_at,
    doubted: row.doubted,
    stampAt: row.stamp_at,
    isOwnerNamed: row.owner_named === 1,
    outcome: row.outcome,
    pageDigests: row.page_digests,
    declined: row.declined,
    refusals: row.refusals,
    attemptedAt: milliseconds(row.attempted_at),
    dataAsOf: milliseconds(row.as_of),
    durationMs: row.duration_ms ?? 0,
    everyMs: row.every_seconds === null ? null : row.every_seconds * 1000,
    isStrange: Boolean(row.is_strange),
    pageSize: row.page_size,
  };
}

/** What the end of a read says of its resource; null where that stays as it was. */
export function endingColumns({ request }: OpenSync, ending: Ending) {
  const { endedAt, state, fault, requests, pageSize, everySeconds, ownerNamed, answer = null } = ending;
  const isWhole = state === 'complete';
  return {
    /** A retry that answers none of itself leaves what failed before it as it is. */
    is_for_webhook: Number(
      request.trigger === 'delivery' || typeof request.cause?.newestDeliveryId === 'number',
    ),
    error_code: fault?.code ?? null,
    error: fault?.message ?? null,
    duration_ms: isWhole ? Math.max(0, endedAt - request.startedAt) : null,
    /** Whether `page_digests` is to be written. */
    is_listed: Number(ending.pageDigests !== undefined),
    page_digests: ending.pageDigests ?? null,
    /** Whether `page_size` is to be written. */
    is_sized: Number(pageSize !== undefined),
    page_size: pageSize ?? null,
    is_paced: Number(isWhole && everySeconds !== undefined),
    every_seconds: everySeconds ?? null,
    calls: isWhole ? requests : null,
    owner_named: ownerNamed !== undefined && (isWhole || ownerNamed) ? Number(ownerNamed) : null,
    answer_status: answer?.status ?? null,
    answer_form: answer?.form ?? null,
    answer_text: text(answer?.text ?? null),
    last_answer_at: answer === null ? null : formatInstant(answer.at),
  };
}

export type EndingColumns = ReturnType<typeof endingColumns>;

/** What a sync says of who asked for it. */
export function causeColumns(cause: Cause | undefined) {
  return { job_id: cause?.jobId ?? null, newest_delivery_id: cause?.newestDeliveryId ?? null };
}

export function milliseconds(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}
