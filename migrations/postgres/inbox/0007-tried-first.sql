-- What failed while the registry did not answer is due since it was first asked for, once the registry answers again: it comes first.
CREATE INDEX jobs_tried_first ON inbox.jobs (run_at) WHERE state = 'ready' AND attempts > 0 AND run_at <= created_at;

CREATE OR REPLACE FUNCTION inbox.take(now_at timestamptz, until_at timestamptz, wanted_lane text, slots int, candidates int)
RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  taken_jobs jsonb;
BEGIN
  -- "due" are the oldest jobs that no claim excludes, those whose lease ran out first, so that a lost claim is taken over
  -- and never run beside, then what failed while the registry did not answer, parked ones too; "chosen" at most one of each installation and of each organization, in fair
  -- order; "held" those that nobody else is at.
  WITH claimed AS MATERIALIZED (
    SELECT organization_id, installation_id, lane, claimed_until FROM inbox.jobs WHERE state = 'claimed'
  ),
  due AS MATERIALIZED (
    (SELECT * FROM inbox.jobs AS job WHERE state = 'claimed' AND claimed_until <= now_at AND lane = wanted_lane
      ORDER BY claimed_until LIMIT candidates)
    UNION ALL
    (SELECT * FROM inbox.jobs AS job WHERE state = 'ready' AND attempts > 0 AND run_at <= created_at AND run_at <= now_at
      AND lane = wanted_lane
      AND NOT EXISTS (SELECT FROM claimed AS other WHERE other.lane = job.lane
        AND other.organization_id = job.organization_id)
      AND NOT EXISTS (SELECT FROM claimed AS other WHERE other.lane = job.lane
        AND other.installation_id = job.installation_id)
      ORDER BY run_at LIMIT candidates)
    UNION ALL
    (SELECT * FROM inbox.jobs AS job WHERE state = 'ready' AND run_at <= now_at AND NOT (attempts > 0 AND run_at <= created_at)
      AND lane = wanted_lane
      AND NOT EXISTS (SELECT FROM claimed AS other WHERE other.lane = job.lane
        AND other.organization_id = job.organization_id)
      AND NOT EXISTS (SELECT FROM claimed AS other WHERE other.lane = job.lane
        AND other.installation_id = job.installation_id)
      ORDER BY run_at LIMIT candidates)
    UNION ALL
    (SELECT * FROM inbox.jobs AS job WHERE state = 'parked' AND run_at <= now_at AND lane = wanted_lane
      AND NOT EXISTS (SELECT FROM claimed AS other WHERE other.lane = job.lane
        AND other.organization_id = job.organization_id)
      AND NOT EXISTS (SELECT FROM claimed AS other WHERE other.lane = job.lane
        AND other.installation_id = job.installation_id)
      ORDER BY run_at LIMIT candidates)
  ),
  placed AS (
    SELECT id, run_at, attempts > 0 AND run_at <= created_at AS first,
      (SELECT count(*) FROM claimed AS live WHERE live.claimed_until > now_at
        AND live.installation_id = due.installation_id) AS running,
      (SELECT max(earlier.started_at) FROM inbox.jobs AS earlier
        WHERE earlier.installation_id = due.installation_id AND earlier.lane = wanted_lane) AS started,
      row_number() OVER (PARTITION BY coalesce(installation_id, 'job ' || id)
        ORDER BY state, run_at, id) AS of_installation,
      row_number() OVER (PARTITION BY coalesce(organization_id, 'job ' || id)
        ORDER BY state, run_at, id) AS of_organization
    FROM due
  ),
  chosen AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY running, first DESC, started NULLS FIRST, run_at, id) AS place
    FROM placed WHERE of_installation = 1 AND of_organization = 1
  ),
  held AS MATERIALIZED (
    SELECT job.id, place FROM chosen JOIN inbox.jobs AS job USING (id)
    -- One expression, so that a row is found by its id and by nothing else: as long as the statistics say that nothing waits,
    -- the planner takes the indexes of what waits for empty, and goes through all that is dead in them for each row.
    WHERE CASE WHEN job.state IN ('ready', 'parked') THEN job.run_at WHEN job.state = 'claimed' THEN job.claimed_until END
      <= now_at
    ORDER BY place LIMIT slots
    FOR UPDATE OF job SKIP LOCKED
  ),
  counted AS (
    UPDATE inbox.claims SET last = last + (SELECT count(*) FROM held) WHERE EXISTS (SELECT FROM held)
    RETURNING last - (SELECT count(*) FROM held) AS before
  ),
  numbered AS (SELECT id, before + row_number() OVER (ORDER BY place) AS number FROM held, counted),
  taken AS (
    UPDATE inbox.jobs AS job SET
      state = 'claimed', attempts = attempts + 1, started_at = now_at, claimed_until = until_at, claim = number
    FROM numbered WHERE job.id = numbered.id
    RETURNING job.*
  )
  SELECT coalesce(jsonb_agg(to_jsonb(taken) ORDER BY claim), '[]') INTO taken_jobs FROM taken;
  RETURN taken_jobs;
END
$$;
