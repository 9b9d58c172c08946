import { sql } from 'kysely';
import type { Sqlite } from '../open-database.js';
import { UNCHANGED_OUTCOME } from '../../../inbox/job.js';
import { choosePaceMs, RECENT_READS, computeStartTime } from '../../../inbox/pace.js';
import { tableRef, select, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';
import { prepareOn } from '../database.js';

/** The properties of a requested job on which its start time depends. */
export interface StartRequest {
  readonly dedupeKey: string;
  readonly onlyDuplicates: boolean;
}

type DedupeKey = { readonly dedupeKey: string };

const FIND_LAST_START = prepared(({ db }, { dedupeKey }: Params<DedupeKey>) =>
  db
    .selectFrom('inbox.jobs')
    .select(({ fn }) => fn.max('started_at').as('startedAt'))
    .where('dedupe_key', '=', dedupeKey),
);
const job = tableRef('inbox.jobs');
/** Lists the latest reads of a job. A read was in vain if only duplicates requested it and it found nothing new. */
const LIST_RECENT_READS = prepared((_, { dedupeKey }: Params<DedupeKey>) => {
  const inVain = sql<number>`${job.only_duplicates_asked} AND ${job.outcome} = ${UNCHANGED_OUTCOME}`;
  return sqlStatement`SELECT ${select({ inVain })} FROM ${job()}
    WHERE ${job.dedupe_key} = ${dedupeKey} AND ${job.state} = 'done' AND ${job.started_at} IS NOT NULL AND ${job.outcome} <> 'merged'
    ORDER BY ${job.started_at} DESC LIMIT ${RECENT_READS}`;
});

/**
 * Creates a function that returns the earliest time, in epoch milliseconds, at which a requested job may start without exceeding
 * the pace of its dedupe key.
 */
export function createEarliestStart(db: Sqlite): (request: StartRequest, now: number) => number {
  // The pace does not depend on the signed text, so an attacker who replays several captured deliveries causes no more reads
  // than with one.
  const lastStart = prepareOn(db, FIND_LAST_START);
  const recentReads = prepareOn(db, LIST_RECENT_READS);

  return ({ dedupeKey, onlyDuplicates }, now) => {
    const last = lastStart.get({ dedupeKey })?.startedAt ?? null;
    if (last === null) return now;
    const inVain = () => recentReads.all({ dedupeKey }).map(read => read.inVain === 1);
    return computeStartTime(Date.parse(last), choosePaceMs(onlyDuplicates, inVain), now);
  };
}
