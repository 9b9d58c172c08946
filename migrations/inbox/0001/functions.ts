const READ_COLUMNS = `job.id, job.part, job.state, job.priority, job.attempts, job.installation_id, job.organization_id,
    job.run_at, job.created_at, job.claimed_until`;
const RUNNING = `running AS MATERIALIZED (
    SELECT part, organization_id, installation_id FROM inbox.jobs WHERE state = 'running')`;
/** No running job excludes the job. An expired lease excludes others until its job is taken over, which happens first. */
const IS_FREE = `NOT EXISTS (SELECT FROM running WHERE running.part = job.part
      AND (running.organization_id = job.organization_id OR running.installation_id = job.installation_id))`;
const EACH_PART = "(VALUES ('data'), ('certificates')) AS lane (part)";
const EACH_PRIORITY = `(VALUES ('data', 1), ('data', 2), ('data', 3), ('certificates', 1), ('certificates', 2), ('certificates', 3)) AS lane (part, priority)`;
const IS_WAITING = "job.state = 'waiting' AND job.part = lane.part AND job.priority = lane.priority";
const IS_PAUSED = "job.state = 'paused' AND job.part = lane.part";
/** The job failed during an outage of the registry and is claimed before others. */
const IS_FIRST =
  "job.state = 'waiting' AND job.part = lane.part AND job.attempts > 0 AND job.run_at <= job.created_at";

/** Finds jobs in each lane. The search uses one range of one index, however many jobs wait. */
const search = (
  lanes: string,
  condition: string,
  limit: string,
) => `SELECT found.* FROM ${lanes} CROSS JOIN LATERAL (
      SELECT ${READ_COLUMNS} FROM inbox.jobs AS job WHERE ${condition} ORDER BY job.run_at LIMIT ${limit}) AS found`;
const findDue = (lanes: string, condition: string) =>
  search(lanes, `${condition} AND job.run_at <= now_at AND ${IS_FREE}`, "(given ->> 'limit')::int");
const findNext = (lanes: string, condition: string) =>
  search(lanes, `${condition} AND job.run_at > now_at`, '1');

const BY_INDEX =
  'SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off';
const NOW = "coalesce((given ->> 'at')::timestamptz, date_trunc('milliseconds', now()))";

const CLAIMS = `CREATE FUNCTION inbox.queue(given jsonb)
RETURNS TABLE (id bigint, part text, state text, priority bigint, attempts bigint, installation_id text, organization_id text,
  run_at timestamptz, created_at timestamptz, claimed_until timestamptz, last_started_at timestamptz)
LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
DECLARE
  now_at timestamptz := ${NOW};
BEGIN
  RETURN QUERY WITH ${RUNNING}
    SELECT job.*, (SELECT max(started_at) FROM inbox.jobs AS other
      WHERE other.installation_id = job.installation_id AND other.part = job.part)
    FROM (
      SELECT ${READ_COLUMNS} FROM inbox.jobs AS job WHERE job.state = 'running'
      UNION ALL ${[
        findDue(EACH_PART, IS_FIRST),
        findDue(EACH_PRIORITY, IS_WAITING),
        findDue(EACH_PART, IS_PAUSED),
        findNext(EACH_PRIORITY, IS_WAITING),
        findNext(EACH_PART, IS_PAUSED),
      ].join('\n      UNION ALL ')}
    ) AS job;
END
$$;
COMMENT ON FUNCTION inbox.queue IS 'Returns the running jobs, the oldest due jobs that no running job excludes, and the next jobs that become due. A job that failed during an outage of the registry may be returned twice.';

CREATE FUNCTION inbox.take(given jsonb, parts jsonb) RETURNS SETOF inbox.jobs
LANGUAGE plpgsql ${BY_INDEX} SET lock_timeout = '5s' AS $$
DECLARE
  now_at timestamptz := ${NOW};
  number bigint;
  lane record;
BEGIN
  PERFORM set_config('synchronous_commit', 'on', true);
  -- Claims are numbered one after the other. The row stays locked, so the next claim waits for this transaction.
  UPDATE inbox.claims SET last = last + (given ->> 'slots')::bigint RETURNING last - (given ->> 'slots')::bigint INTO number;
  FOR lane IN SELECT slots, ids FROM jsonb_to_recordset(parts) AS each (slots bigint, ids bigint[])
  LOOP
    -- A row of "locked" is found by its id and by nothing else: as long as statistics say that nothing waits, PostgreSQL
    -- takes the indexes of waiting jobs for empty, and goes through all their dead entries for each row.
    RETURN QUERY WITH ${RUNNING},
      locked AS MATERIALIZED (
        SELECT job.id AS locked_id, chosen.place FROM unnest(lane.ids) WITH ORDINALITY AS chosen (id, place)
        JOIN inbox.jobs AS job ON job.id = chosen.id
        WHERE job.attempts < (given ->> 'max_attempts')::int
          AND CASE WHEN job.state IN ('waiting', 'paused') THEN job.run_at WHEN job.state = 'running' THEN job.claimed_until END <= now_at
          AND (job.state = 'running' OR ${IS_FREE})
        ORDER BY chosen.place LIMIT lane.slots FOR UPDATE OF job SKIP LOCKED
      ),
      numbered AS (SELECT locked_id, row_number() OVER (ORDER BY place) AS nth FROM locked)
      UPDATE inbox.jobs AS job SET state = 'running', attempts = attempts + 1, started_at = now_at, claim = number + nth,
        claimed_until = now_at + (given ->> 'lease_ms')::double precision * interval '1 millisecond'
      FROM numbered WHERE job.id = locked_id RETURNING job.*;
    number := number + lane.slots;
  END LOOP;
END
$$;
COMMENT ON FUNCTION inbox.take IS 'Claims the first of the chosen jobs of each part that are still due and that no job excludes by now. Skips jobs that another transaction has locked.';

CREATE FUNCTION inbox.finish(given jsonb, ends jsonb) RETURNS SETOF bigint
LANGUAGE plpgsql ${BY_INDEX} SET lock_timeout = '5s' AS $$
DECLARE
  now_at timestamptz := ${NOW};
  ended record;
BEGIN
  PERFORM set_config('synchronous_commit', 'on', true);
  -- In the order of the keys, so that two callers cannot deadlock.
  PERFORM FROM inbox.jobs WHERE id = ANY (ARRAY(SELECT (value ->> 'id')::bigint FROM jsonb_array_elements(ends)))
    ORDER BY dedupe_key, id FOR UPDATE;
  FOR ended IN UPDATE inbox.jobs AS job SET state = 'done', claimed_until = NULL, finished_at = now_at, outcome = each.outcome
    FROM jsonb_to_recordset(ends) AS each (id bigint, claim bigint, outcome text, replaces_earlier boolean)
    WHERE job.id = each.id AND job.claim = each.claim AND job.state = 'running'
    RETURNING job.id, job.claim, job.dedupe_key, job.outcome, replaces_earlier
  LOOP
    RETURN NEXT ended.claim;
    CONTINUE WHEN NOT ended.replaces_earlier;
    DELETE FROM inbox.jobs AS earlier
    WHERE dedupe_key = ended.dedupe_key AND id < ended.id AND state = 'done' AND trigger = 'schedule' AND outcome = ended.outcome
      AND NOT EXISTS (SELECT FROM inbox.jobs AS merged
        WHERE merged.dedupe_key = earlier.dedupe_key AND merged.merged_into = earlier.id);
  END LOOP;
END
$$;
COMMENT ON FUNCTION inbox.finish IS 'Records that running jobs are done, and returns the claims of those that still ran under their claim. A job with "replaces_earlier" removes earlier jobs of the schedule with the same key and outcome, except those that another job was merged into.';
`;

/** The functions of the inbox on PostgreSQL: requests of jobs, claims, and storage of deliveries. */
export const FUNCTIONS = `-- Frequent operations are functions, so that each connection plans their statements once. The SET clauses make these plans use
-- indexes, whatever size the tables had at that time. They also make every plan look expensive, for which JIT would compile
-- each for most of a second, so JIT is off. The program passes the instant and its rules in "given", so that no rule is repeated here.

CREATE FUNCTION inbox.merged_payload(a jsonb, b jsonb) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN a ? 'resources' AND b ? 'resources'
    THEN a || b || jsonb_build_object('resources', (a -> 'resources') || (b -> 'resources'))
    ELSE (a || b) - 'resources' END::text
$$;
COMMENT ON FUNCTION inbox.merged_payload IS 'Returns the merged payload of two jobs. "resources" limits what a job reads, so it is kept only if both jobs have it.';

CREATE FUNCTION inbox.ask(given jsonb, wish jsonb) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  now_at timestamptz := given ->> 'at';
  start_at timestamptz := now_at;
  key text := wish ->> 'dedupe_key';
  duplicates boolean := wish ->> 'only_duplicates_asked';
  is_plain boolean := wish ->> 'payload' IS NULL AND wish ->> 'start_in_ms' IS NULL;
  last_at timestamptz;
  turn int := 0;
  found_id bigint;
BEGIN
  LOOP
    -- Returns a due job that the merge would not change. In a flood of deliveries most find one, so nothing is written.
    IF is_plain THEN
      SELECT id INTO found_id FROM inbox.jobs
      WHERE dedupe_key = key AND state IN ('waiting', 'paused') AND payload = '{}'
        AND ((state = 'waiting' AND run_at <= start_at) OR (duplicates AND (state = 'paused' OR attempts > 0)))
        AND (duplicates OR only_duplicates_asked = 0)
        AND trigger IN ('person', wish ->> 'trigger')
        AND coalesce(wish ->> 'organization_id', organization_id, '') = coalesce(organization_id, '')
        AND coalesce(wish ->> 'installation_id', installation_id, '') = coalesce(installation_id, '');
      IF FOUND THEN RETURN found_id; END IF;
    END IF;
    EXIT WHEN last_at IS NOT NULL;
    SELECT max(started_at) INTO last_at FROM inbox.jobs WHERE dedupe_key = key;
    EXIT WHEN last_at IS NULL;
    IF duplicates THEN
      SELECT coalesce(min(place) FILTER (WHERE useful) - 1, count(*)) INTO turn FROM (
        SELECT only_duplicates_asked = 0 OR outcome <> given ->> 'unchanged' AS useful,
          row_number() OVER (ORDER BY started_at DESC) AS place
        FROM inbox.jobs
        WHERE dedupe_key = key AND state = 'done' AND started_at IS NOT NULL AND outcome <> 'merged'
        ORDER BY started_at DESC LIMIT (given ->> 'reads_looked_at')::int) AS latest;
    END IF;
    start_at := greatest(now_at, least(last_at, now_at) + (given -> 'paces' ->> turn)::int * interval '1 millisecond');
    EXIT WHEN NOT duplicates;
  END LOOP;
  INSERT INTO inbox.jobs AS jobs (kind, organization_id, installation_id, part, dedupe_key, trigger, priority, payload,
    only_duplicates_asked, run_at, created_at)
  VALUES (
    wish ->> 'kind',
    coalesce(wish ->> 'organization_id', (SELECT known.organization_id FROM inbox.jobs AS known
      WHERE known.installation_id = wish ->> 'installation_id' AND known.organization_id IS NOT NULL LIMIT 1)),
    wish ->> 'installation_id', wish ->> 'part', key, wish ->> 'trigger',
    CASE
      WHEN wish ->> 'trigger' = 'person' OR wish ->> 'installation_id' IS NULL THEN 1
      WHEN last_at IS NULL THEN 2
      WHEN wish ->> 'trigger' = 'delivery' AND NOT duplicates THEN 1
      WHEN wish ->> 'trigger' = 'schedule' OR duplicates THEN 3
      ELSE 2
    END,
    coalesce(wish ->> 'payload', '{}'), duplicates::int,
    greatest(now_at + coalesce((wish ->> 'start_in_ms')::double precision, 0) * interval '1 millisecond', start_at), now_at)
  ON CONFLICT (dedupe_key) WHERE state IN ('waiting', 'paused') DO UPDATE SET
    state = 'waiting',
    run_at = CASE
      WHEN jobs.state = 'waiting' AND jobs.attempts > 0 AND excluded.trigger <> 'person'
        AND jobs.run_at <= now_at + (given ->> 'max_backoff_ms')::int * interval '1 millisecond' THEN jobs.run_at
      ELSE least(jobs.run_at, excluded.run_at) END,
    attempts = CASE jobs.state WHEN 'paused' THEN 0 ELSE jobs.attempts END,
    priority = least(jobs.priority, excluded.priority),
    trigger = CASE
      WHEN 'person' IN (jobs.trigger, excluded.trigger) THEN 'person'
      WHEN excluded.trigger = 'delivery' OR jobs.trigger = 'schedule' THEN excluded.trigger
      ELSE jobs.trigger END,
    only_duplicates_asked = CASE 'schedule'
      WHEN jobs.trigger THEN excluded.only_duplicates_asked
      WHEN excluded.trigger THEN jobs.only_duplicates_asked
      ELSE least(jobs.only_duplicates_asked, excluded.only_duplicates_asked) END,
    payload = inbox.merged_payload(jobs.payload::jsonb, excluded.payload::jsonb),
    organization_id = coalesce(excluded.organization_id, jobs.organization_id),
    installation_id = coalesce(excluded.installation_id, jobs.installation_id)
  RETURNING id INTO found_id;
  PERFORM pg_notify('carbon_mirror_jobs', '');
  RETURN found_id;
END
$$;
COMMENT ON FUNCTION inbox.ask IS 'Requests a job and returns its id. The request is merged into a waiting job with the same key, never into a running one, which may already have read the data that has changed since. A paused job becomes waiting again. A job that waits for a retry keeps its retry time, unless a person requests it, or that time is so late that it must come from a clock that was ahead. Duplicate deliveries change neither a paused job nor a retry time.';

CREATE FUNCTION inbox.enqueue(given jsonb, wishes json) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  wish record;
  ids jsonb := '{}';
BEGIN
  -- In the order of the keys, so that two callers cannot deadlock.
  FOR wish IN SELECT value::jsonb AS value, place FROM json_array_elements(wishes) WITH ORDINALITY AS each (value, place)
    ORDER BY value ->> 'dedupe_key' COLLATE "C", place
  LOOP
    IF (given ->> 'once')::boolean THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(wish.value ->> 'dedupe_key', 0));
      CONTINUE WHEN EXISTS (SELECT FROM inbox.jobs
        WHERE dedupe_key = wish.value ->> 'dedupe_key' AND created_at <= (given ->> 'at')::timestamptz);
    END IF;
    ids := ids || jsonb_build_object((wish.place - 1)::text, inbox.ask(given, wish.value));
  END LOOP;
  RETURN ids;
END
$$;
COMMENT ON FUNCTION inbox.enqueue IS 'Requests several jobs and returns their ids by the index of the request. With "once", skips jobs whose key was requested before.';

${CLAIMS}
CREATE FUNCTION inbox.unread_duplicate_at(now_at timestamptz, ms_ago jsonb, first_place int, installation text, since timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
  begun_at timestamptz;
BEGIN
  IF jsonb_array_length(ms_ago) < first_place THEN RETURN NULL; END IF;
  SELECT max(started_at) INTO begun_at FROM inbox.jobs WHERE installation_id = installation AND part = 'data';
  IF begun_at IS NULL OR begun_at <= since THEN RETURN NULL; END IF;
  RETURN (SELECT coalesce(min(at) FILTER (WHERE at >= begun_at), max(at)) FROM (
    SELECT now_at - post::double precision * interval '1 millisecond' AS at
    FROM jsonb_array_elements_text(ms_ago) WITH ORDINALITY AS each (post, place) WHERE place >= first_place) AS posts);
END
$$;
COMMENT ON FUNCTION inbox.unread_duplicate_at IS 'Returns when the first of the given posts arrived after the last read of their installation had started. NULL if no read started after the given instant.';

CREATE FUNCTION inbox.store(given jsonb, rows json) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
DECLARE
  now_at timestamptz := given ->> 'at';
  pace interval := (given -> 'paces' ->> 0)::int * interval '1 millisecond';
  answers jsonb;
BEGIN
  -- Locks existing rows in the order of their ids, so that two callers cannot deadlock.
  PERFORM FROM inbox.deliveries
    WHERE id = ANY (ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(given -> 'row_ids'))) ORDER BY id FOR UPDATE;
  PERFORM FROM inbox.signed_texts
    WHERE id = ANY (ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(given -> 'text_ids'))) ORDER BY id FOR UPDATE;
  -- "found" has the jobs that a request would not change, by the same rule as inbox.ask. "asked" requests the others too, in the
  -- order of their keys. There is one request for each installation, which counts as duplicate only if all its deliveries are.
  WITH came AS MATERIALIZED (
    SELECT given_row.*, text.id AS text_id,
      now_at - (ms_ago ->> 0)::double precision * interval '1 millisecond' AS first_at,
      now_at - (ms_ago ->> -1)::double precision * interval '1 millisecond' AS last_at,
      coalesce(abs(extract(epoch FROM now_at - greatest(text.last_received_at, row.received_at, row.last_duplicate_at)) * 1000
        - (ms_ago ->> 0)::double precision) < (given ->> 'duplicate_within_ms')::int, false) AS is_duplicate
    FROM json_to_recordset(rows) AS given_row (n int, stored_text_id bigint, row_id bigint, ms_ago jsonb, job_key text,
      event text, installation_id text, organization_id text, sha256 text, signed_data text, contradicted_fields text,
      verdict text, reason text, secret_index bigint)
    -- OFFSET 0 makes the planner look rows up by id, whatever size the tables had when this was planned.
    LEFT JOIN LATERAL (SELECT id, last_received_at FROM inbox.signed_texts AS t
      WHERE t.id = given_row.stored_text_id AND t.sha256 = given_row.sha256 OFFSET 0) AS text ON true
    LEFT JOIN LATERAL (SELECT received_at, last_duplicate_at FROM inbox.deliveries AS d
      WHERE d.id = given_row.row_id AND d.signed_text_sha256 = given_row.sha256 OFFSET 0) AS row ON true
  ),
  wishes AS (
    SELECT job_key, installation_id, bool_and(is_duplicate) AS only_duplicates_asked,
      coalesce((array_agg(organization_id ORDER BY n) FILTER (WHERE NOT is_duplicate))[1],
        (array_agg(organization_id ORDER BY n))[1]) AS organization_id
    FROM came WHERE job_key IS NOT NULL GROUP BY job_key, installation_id ORDER BY job_key COLLATE "C"
  ),
  found AS (
    SELECT wishes.*, (
      -- OFFSET 0 keeps the planner from using an index other than that of the key.
      SELECT id FROM (
        SELECT * FROM inbox.jobs WHERE dedupe_key = job_key AND state IN ('waiting', 'paused') OFFSET 0
      ) AS job
      WHERE state = 'waiting' AND payload = '{}' AND job.only_duplicates_asked = 0 AND trigger IN ('person', given ->> 'trigger')
        AND coalesce(wishes.organization_id, job.organization_id, '') = coalesce(job.organization_id, '')
        AND (run_at <= now_at OR run_at <= (
          SELECT least(max(started_at), now_at) + pace FROM inbox.jobs AS earlier WHERE earlier.dedupe_key = job_key))
    ) AS id FROM wishes
  ),
  asked AS MATERIALIZED (
    SELECT job_key, coalesce(id, inbox.ask(given, jsonb_build_object('kind', given ->> 'kind',
      'trigger', given ->> 'trigger', 'part', 'data', 'dedupe_key', job_key, 'installation_id', installation_id,
      'organization_id', organization_id, 'only_duplicates_asked', only_duplicates_asked))) AS id
    FROM found
  ),
  folded AS (
    UPDATE inbox.deliveries AS row SET
      duplicates = row.duplicates + jsonb_array_length(came.ms_ago),
      contradicted_fields = coalesce(row.contradicted_fields, came.contradicted_fields),
      last_duplicate_at = greatest(row.received_at, row.last_duplicate_at, came.last_at),
      unread_duplicate_at = coalesce(inbox.unread_duplicate_at(now_at, came.ms_ago, 1, row.installation_id,
        coalesce(row.unread_duplicate_at, row.received_at)), row.unread_duplicate_at)
    FROM came LEFT JOIN asked USING (job_key)
    WHERE row.id = ANY (ARRAY(SELECT row_id FROM came)) AND row.id = came.row_id AND row.signed_text_sha256 = came.sha256 AND row.secret_index = came.secret_index
      AND row.job_id IS NOT DISTINCT FROM asked.id AND came.first_at >= row.received_at
      AND came.last_at < row.received_at + (given ->> 'folded_within_ms')::int * interval '1 millisecond'
    RETURNING came.n, row.id, row.stored_text_id, row.job_id
  ),
  fresh AS MATERIALIZED (SELECT * FROM came WHERE NOT EXISTS (SELECT FROM folded WHERE folded.n = came.n)),
  touched AS (
    UPDATE inbox.signed_texts AS text SET last_received_at = first_at FROM fresh
    WHERE text.id = ANY (ARRAY(SELECT text_id FROM fresh)) AND text.id = text_id
    RETURNING text.id, text.sha256
  ),
  texts AS (
    INSERT INTO inbox.signed_texts (sha256, last_received_at, signed_data)
    SELECT sha256, first_at, signed_data FROM fresh WHERE text_id IS NULL ORDER BY n
    RETURNING id, sha256
  ),
  written AS (
    INSERT INTO inbox.deliveries (received_at, event, installation_id, signed_text_sha256, stored_text_id, contradicted_fields,
      verdict, ignored_reason, secret_index, job_id, duplicates, last_duplicate_at, unread_duplicate_at)
    SELECT first_at, event, installation_id, sha256, kept.id, contradicted_fields, verdict, reason, secret_index, asked.id,
      jsonb_array_length(ms_ago) - 1, CASE WHEN jsonb_array_length(ms_ago) > 1 THEN last_at END,
      CASE WHEN jsonb_array_length(ms_ago) > 1
        THEN inbox.unread_duplicate_at(now_at, ms_ago, 2, installation_id, first_at) END
    FROM fresh JOIN (SELECT * FROM texts UNION ALL SELECT * FROM touched) AS kept USING (sha256)
      LEFT JOIN asked USING (job_key) ORDER BY n
    RETURNING id, stored_text_id, job_id, signed_text_sha256 AS sha256
  )
  SELECT jsonb_agg(jsonb_build_object('rowId', id, 'textId', stored_text_id, 'jobId', job_id, 'stood', stood) ORDER BY n)
  INTO answers FROM (
    SELECT n, id, stored_text_id, job_id, true AS stood FROM folded
    UNION ALL
    SELECT n, id, written.stored_text_id, job_id, false FROM written JOIN fresh USING (sha256)
  ) AS stored;
  RETURN answers;
END
$$;
COMMENT ON FUNCTION inbox.store IS 'Stores a group of deliveries. Each input row stands for the posts with one text and one secret; no two input rows have the same text. Returns for each the id of its row, its text and its job, and whether the row existed before.';
`;
