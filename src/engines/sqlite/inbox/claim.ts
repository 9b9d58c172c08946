import { sql } from 'kysely';
import type { JobRow } from '../../contract/inbox-tables.js';
import { type Sqlite, write } from '../open.js';
import { parameter, statement } from '../statement.js';
import { type ClaimedJob, type Held, LANES, type Lane, MAX_ATTEMPTS } from '../../../inbox/job.js';
import { queries, raw, toInstant } from './queries.js';

export interface ClaimOptions {
  readonly now: number;
  readonly leaseMs: number;
  /** How many jobs the caller can start at once. */
  readonly slots: number;
  readonly lanes?: readonly Lane[];
}

/** The oldest due jobs that one claim chooses among; the rest have their turn when these are gone. */
const CANDIDATES = 256;

export interface Claims {
  /** A lease that ends later than one that begins now was given by a clock that was ahead: it is cut to that length. */
  claimJobs(options: ClaimOptions): ClaimedJob[];
  /** False when the claim is no longer ours: stop, and write nothing more. */
  renewClaim(held: Held, until: number): boolean;
  /**
   * Note whose data the job reads, once that is known.
   * False when the claim is no longer ours, or when that organization is already being read in this lane.
   */
  bindOrganization(held: Held, organizationId: string, now: number): boolean;
  /** After an inbox.db was restored: start above the highest number that mirror.db has seen. */
  raiseClaims(above: number): void;
  /** A number for work outside the queue, above every other one and never given out again. */
  takeClaim(above: number): number;
}

type ClaimParameters = { now: string; until: string; slots: number; lanes: string };

export function createClaims(db: Sqlite): Claims {
  const bury = statement<{ now: string }>(db, buryWornOut());
  const shorten = statement<{ until: string }>(
    db,
    queries
      .updateTable('jobs')
      .set({ claimed_until: parameter<string>('until') })
      .where('state', '=', 'claimed')
      .where('claimed_until', '>', parameter<string>('until')),
  );
  const claim = statement<ClaimParameters, JobRow>(db, claimDue());
  const count = statement<{ claims: number }>(
    db,
    queries.updateTable('claims').set({ last: sql`last + ${parameter('claims')}` }),
  );
  const raise = statement<{ above: number }>(
    db,
    queries.updateTable('claims').set({ last: sql`max(last, ${parameter('above')})` }),
  );
  const take = statement<{ above: number }, { last: number }>(
    db,
    queries
      .updateTable('claims')
      .set({ last: sql`max(last, ${parameter('above')}) + 1` })
      .returning('last'),
  );
  const renew = statement<{ id: number; claim: number; until: string }>(
    db,
    queries
      .updateTable('jobs')
      .set({ claimed_until: parameter<string>('until') })
      .where('id', '=', parameter<number>('id'))
      .where('claim', '=', parameter<number>('claim'))
      .where('state', '=', 'claimed'),
  );
  const bind = statement<{ id: number; claim: number; organizationId: string; now: string }>(
    db,
    bindUnlessTaken(),
  );

  return {
    claimJobs: ({ now, leaseMs, slots, lanes = LANES }) => {
      if (slots < 1) return [];
      return write(db, () => {
        shorten.run({ until: toInstant(now + leaseMs) });
        bury.run({ now: toInstant(now) });
        const rows = claim.all({
          now: toInstant(now),
          until: toInstant(now + leaseMs),
          slots,
          lanes: JSON.stringify(lanes),
        });
        if (rows.length > 0) count.run({ claims: rows.length });
        return rows.map(claimedJob).toSorted((left, right) => left.claim - right.claim);
      });
    },
    renewClaim: ({ id, claim: number }, until) =>
      write(db, () => renew.run({ id, claim: number, until: toInstant(until) }) === 1),
    bindOrganization: ({ id, claim: number }, organizationId, now) =>
      write(db, () => bind.run({ id, claim: number, organizationId, now: toInstant(now) }) === 1),
    raiseClaims: above => {
      write(db, () => raise.run({ above }));
    },
    takeClaim: above => {
      const taken = write(db, () => take.get({ above }));
      if (taken === undefined) throw new Error('expected the counter of claims, got none');
      return taken.last;
    },
  };
}

/**
 * The claim, one statement. `live` are the claims that hold; `due` the oldest jobs that none of them excludes,
 * those whose lease ran out first, so that a lost claim is taken over and never run beside, parked ones too;
 * `chosen` at most one of each installation and of each organization, in fair order.
 */
function claimDue() {
  const now = parameter('now');
  const free = sql`
    lane IN (SELECT value FROM json_each(${parameter('lanes')}))
    AND NOT EXISTS (SELECT 1 FROM live WHERE live.lane = jobs.lane
      AND (live.installation_id = jobs.installation_id OR live.organization_id = jobs.organization_id))`;
  return raw(sql<JobRow>`
    WITH live AS MATERIALIZED (
      SELECT lane, installation_id, organization_id FROM jobs WHERE state = 'claimed' AND claimed_until > ${now}
    ), due AS MATERIALIZED (
      SELECT * FROM (SELECT * FROM jobs WHERE state = 'claimed' AND claimed_until <= ${now} AND ${free}
        ORDER BY claimed_until LIMIT ${sql.lit(CANDIDATES)})
      UNION ALL
      SELECT * FROM (SELECT * FROM jobs WHERE state = 'ready' AND run_at <= ${now} AND ${free}
        ORDER BY run_at LIMIT ${sql.lit(CANDIDATES)})
      UNION ALL
      SELECT * FROM (SELECT * FROM jobs WHERE state = 'parked' AND run_at <= ${now} AND ${free}
        ORDER BY run_at LIMIT ${sql.lit(CANDIDATES)})
    ), placed AS (
      SELECT id, run_at,
        (SELECT count(*) FROM live WHERE live.installation_id = due.installation_id) AS running,
        (SELECT max(started_at) FROM jobs AS earlier
          WHERE earlier.installation_id = due.installation_id AND earlier.lane = due.lane) AS started,
        row_number() OVER (PARTITION BY lane, coalesce(installation_id, 'job ' || id)
          ORDER BY state, run_at, id) AS of_installation,
        row_number() OVER (PARTITION BY lane, coalesce(organization_id, 'job ' || id)
          ORDER BY state, run_at, id) AS of_organization
      FROM due
    ), chosen AS MATERIALIZED (
      SELECT id, row_number() OVER (ORDER BY running, started NULLS FIRST, run_at, id) AS place
      FROM placed WHERE of_installation = 1 AND of_organization = 1
      ORDER BY place LIMIT ${parameter('slots')}
    )
    UPDATE jobs SET
      state = 'claimed', attempts = attempts + 1, started_at = ${now}, claimed_until = ${parameter('until')},
      claim = (SELECT last FROM claims) + chosen.place
    FROM chosen WHERE jobs.id = chosen.id
    RETURNING *`);
}

function buryWornOut() {
  const now = parameter('now');
  return raw(sql<never>`
    UPDATE jobs SET
      state = 'buried', finished_at = ${now}, claimed_until = NULL,
      last_error_code = iif(state = 'claimed', 'never_finished', last_error_code),
      last_error = iif(state = 'claimed',
        'claimed ' || attempts || ' times, and its process never came back from it', last_error)
    WHERE attempts >= ${sql.lit(MAX_ATTEMPTS)} AND id IN (
      SELECT id FROM jobs WHERE state = 'claimed' AND claimed_until <= ${now}
      UNION ALL
      SELECT id FROM jobs WHERE state = 'ready' AND run_at <= ${now})`);
}

function bindUnlessTaken() {
  const organization = parameter('organizationId');
  return raw(sql<never>`
    UPDATE jobs SET organization_id = ${organization}
    WHERE id = ${parameter('id')} AND claim = ${parameter('claim')} AND state = 'claimed'
      AND NOT EXISTS (SELECT 1 FROM jobs AS other
        WHERE other.state = 'claimed' AND other.claimed_until > ${parameter('now')} AND other.id <> jobs.id
          AND other.lane = jobs.lane AND other.organization_id = ${organization})`);
}

function claimedJob(row: JobRow): ClaimedJob {
  return {
    id: row.id,
    claim: row.claim ?? 0,
    kind: row.kind,
    organizationId: row.organization_id,
    installationId: row.installation_id,
    lane: row.lane,
    dedupeKey: row.dedupe_key,
    trigger: row.trigger,
    repeatsOnly: row.repeats_only === 1,
    payload: readPayload(row.payload),
    attempts: row.attempts,
    runAt: row.run_at,
    createdAt: row.created_at,
  };
}

function readPayload(text: string): Readonly<Record<string, unknown>> {
  const payload: unknown = JSON.parse(text);
  return isObject(payload) ? payload : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
