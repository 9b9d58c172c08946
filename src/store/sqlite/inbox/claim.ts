import {
  type ClaimedJob,
  type ClaimRequest,
  type Held,
  type Part,
  MAX_ATTEMPTS,
} from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/columns.js';
import { claimedJob } from '../../claimed-job.js';
import type { Tables } from '../../contract/tables.js';
import { type Sqlite, write } from '../open.js';
import { statement } from '../statement.js';
import type { Waiting } from './waiting.js';

/** The oldest due jobs that one claim chooses among; the rest have their turn when these are gone. */
const CANDIDATES = 256;

type Claims = Pick<InboxPort, 'claim' | 'renew' | 'bind' | 'raiseClaims' | 'takeClaim'>;
type ClaimParameters = { now: string; until: string; slots: number; part: Part };
type BindParameters = { id: number; claim: number; organizationId: string };

export function createClaims(db: Sqlite, waiting: Waiting, now: () => number): Claims {
  const fail = statement<{ now: string }>(db, FAIL_WORN_OUT);
  const shorten = statement<{ until: string }>(
    db,
    "UPDATE jobs SET claimed_until = @until WHERE state = 'running' AND claimed_until > @until",
  );
  const claimDue = statement<ClaimParameters, Tables['inbox.jobs']>(db, CLAIM_DUE);
  const count = statement<{ claims: number }>(db, 'UPDATE claims SET last = last + @claims');
  const raise = statement<{ above: number }>(db, 'UPDATE claims SET last = max(last, @above)');
  const takeNumber = statement<{ above: number }, { last: number }>(
    db,
    'UPDATE claims SET last = max(last, @above) + 1 RETURNING last',
  );
  const renew = statement<{ id: number; claim: number; until: string }>(
    db,
    "UPDATE jobs SET claimed_until = @until WHERE id = @id AND claim = @claim AND state = 'running'",
  );
  const stillHeld = statement<Held & { [name: string]: number }, { id: number }>(
    db,
    "SELECT id FROM jobs WHERE id = @id AND claim = @claim AND state = 'running'",
  );
  const bind = statement<BindParameters>(db, BIND_UNLESS_TAKEN);

  /** First what no claim may find: leases that are too long, and jobs that have failed too often. */
  function claimIn(parts: ClaimRequest['parts'], at: number, leaseMs: number): ClaimedJob[] {
    const [instant, until] = [formatInstant(at), formatInstant(at + leaseMs)];
    shorten.run({ until });
    fail.run({ now: instant });
    return parts.flatMap(({ part, slots }) => {
      const rows = claimDue.all({ now: instant, until, slots, part });
      if (rows.length > 0) count.run({ claims: rows.length });
      return rows.map(claimedJob).toSorted((left, right) => left.claim - right.claim);
    });
  }

  return {
    claim: async ({ parts, leaseMs }) => {
      const at = now();
      // Looked at before it is written: where nothing can be claimed nobody waits for a lock.
      const open = parts.filter(({ part, slots }) => slots > 0 && waiting.hasClaimable(part, at));
      const jobs = open.length === 0 ? [] : write(db, () => claimIn(open, at, leaseMs));
      const next = waiting.nextChangeAt(at);
      return {
        jobs,
        othersWait: parts.some(({ part, slots }) =>
          slots > 0 ? jobs.filter(job => job.part === part).length >= slots : waiting.hasClaimable(part, at),
        ),
        nextChangeInMs: next === null ? null : next - at,
      };
    },
    renew: async (held, leaseMs) => {
      const until = formatInstant(now() + leaseMs);
      return write(db, () =>
        held.flatMap(({ id, claim }) => (renew.run({ id, claim, until }) === 1 ? [] : [id])),
      );
    },
    bind: async ({ id, claim }, organizationId) =>
      write(db, () => {
        if (stillHeld.get({ id, claim }) === undefined) return 'lost';
        return bind.run({ id, claim, organizationId }) === 1 ? 'ours' : 'busy';
      }),
    raiseClaims: async above => void write(db, () => raise.run({ above })),
    takeClaim: async above => {
      const taken = write(db, () => takeNumber.get({ above }));
      if (taken === undefined) throw new Error('expected the counter of claims, got none');
      return taken.last;
    },
  };
}

const FREE = `
  part = @part
  AND NOT EXISTS (SELECT 1 FROM live WHERE live.part = jobs.part
    AND (live.installation_id = jobs.installation_id OR live.organization_id = jobs.organization_id))`;

/** What failed while the registry did not answer: see `tryFirst`. */
const FIRST = 'attempts > 0 AND run_at <= created_at';

/**
 * The claim, one statement. `live` are the claims that hold; `due` the oldest jobs that none of them excludes,
 * those whose lease ran out first, so that a lost claim is taken over and never run beside, then what failed while the
 * registry did not answer, paused ones too;
 * `chosen` at most one of each installation and of each organization, in fair order.
 */
const CLAIM_DUE = `
  WITH live AS MATERIALIZED (
    SELECT part, installation_id, organization_id FROM jobs WHERE state = 'running' AND claimed_until > @now
  ), due AS MATERIALIZED (
    SELECT * FROM (SELECT * FROM jobs WHERE state = 'running' AND claimed_until <= @now AND ${FREE}
      ORDER BY claimed_until LIMIT ${CANDIDATES})
    UNION ALL
    SELECT * FROM (SELECT * FROM jobs WHERE state = 'waiting' AND ${FIRST} AND run_at <= @now AND ${FREE}
      ORDER BY run_at LIMIT ${CANDIDATES})
    UNION ALL
    SELECT * FROM (SELECT * FROM jobs WHERE state = 'waiting' AND run_at <= @now AND NOT (${FIRST}) AND ${FREE}
      ORDER BY run_at LIMIT ${CANDIDATES})
    UNION ALL
    SELECT * FROM (SELECT * FROM jobs WHERE state = 'paused' AND run_at <= @now AND ${FREE}
      ORDER BY run_at LIMIT ${CANDIDATES})
  ), placed AS (
    SELECT id, run_at, ${FIRST} AS first,
      (SELECT count(*) FROM live WHERE live.installation_id = due.installation_id) AS running,
      (SELECT max(started_at) FROM jobs AS earlier
        WHERE earlier.installation_id = due.installation_id AND earlier.part = due.part) AS started,
      row_number() OVER (PARTITION BY coalesce(installation_id, 'job ' || id)
        ORDER BY state, run_at, id) AS of_installation,
      row_number() OVER (PARTITION BY coalesce(organization_id, 'job ' || id)
        ORDER BY state, run_at, id) AS of_organization
    FROM due
  ), chosen AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY running, first DESC, started NULLS FIRST, run_at, id) AS place
    FROM placed WHERE of_installation = 1 AND of_organization = 1
    ORDER BY place LIMIT @slots
  )
  UPDATE jobs SET
    state = 'running', attempts = attempts + 1, started_at = @now, claimed_until = @until,
    claim = (SELECT last FROM claims) + chosen.place
  FROM chosen WHERE jobs.id = chosen.id
  RETURNING *`;

const FAIL_WORN_OUT = `
  UPDATE jobs SET
    state = 'failed', finished_at = @now, claimed_until = NULL,
    error_or_pause_code = iif(state = 'running', 'never_finished', error_or_pause_code),
    last_error = iif(state = 'running',
      'started ' || attempts || ' times, and its process never came back', last_error)
  WHERE attempts >= ${MAX_ATTEMPTS} AND id IN (
    SELECT id FROM jobs WHERE state = 'running' AND claimed_until <= @now
    UNION ALL
    SELECT id FROM jobs WHERE state = 'waiting' AND run_at <= @now)`;

const BIND_UNLESS_TAKEN = `
  UPDATE jobs SET organization_id = @organizationId
  WHERE id = @id AND claim = @claim AND state = 'running'
    AND NOT EXISTS (SELECT 1 FROM jobs AS other
      WHERE other.state = 'running' AND other.id <> jobs.id
        AND other.part = jobs.part AND other.organization_id = @organizationId)`;
