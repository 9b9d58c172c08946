-- A group whose texts are all new is what a busy door has nearly always: it is stored as sets, for half of what it costs row by row.

CREATE FUNCTION inbox.store_new(given jsonb, new_rows json) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  now_at timestamptz := given ->> 'at';
  pace interval := (given -> 'paces' ->> 0)::int * interval '1 millisecond';
  answers jsonb;
BEGIN
  -- "found": jobs that asking would not change, as inbox.ask finds them; "asked": the others too, in the order of their keys.
  WITH came AS MATERIALIZED (
    SELECT *, now_at - (ms_ago ->> 0)::double precision * interval '1 millisecond' AS first_at
    FROM json_to_recordset(new_rows) AS came (n int, ms_ago jsonb, job_key text, event text, installation_id text,
      organization_id text, digest text, signed_data text, outer_mismatch text, verdict text, reason text,
      secret_index bigint)
  ),
  wishes AS (
    SELECT job_key, installation_id, (array_agg(organization_id ORDER BY n))[1] AS organization_id
    FROM came WHERE job_key IS NOT NULL GROUP BY job_key, installation_id ORDER BY job_key COLLATE "C"
  ),
  found AS (
    SELECT wishes.*, (
      -- By its key, which no other index of theirs is as good at: OFFSET keeps the planner from weighing them.
      SELECT id FROM (
        SELECT * FROM inbox.jobs WHERE dedupe_key = job_key AND state IN ('ready', 'parked') OFFSET 0
      ) AS job
      WHERE state = 'ready' AND payload = '{}' AND repeats_only = 0 AND trigger IN ('person', given ->> 'trigger')
        AND coalesce(wishes.organization_id, job.organization_id, '') = coalesce(job.organization_id, '')
        AND (run_at <= now_at OR run_at <= (
          SELECT least(max(started_at), now_at) + pace FROM inbox.jobs AS earlier WHERE earlier.dedupe_key = job_key))
    ) AS id FROM wishes
  ),
  asked AS MATERIALIZED (
    SELECT job_key, coalesce(id, inbox.ask(given, jsonb_build_object('kind', given ->> 'kind',
      'trigger', given ->> 'trigger', 'lane', 'data', 'dedupe_key', job_key, 'installation_id', installation_id,
      'organization_id', organization_id, 'repeats_only', false))) AS id
    FROM found
  ),
  texts AS (
    INSERT INTO inbox.signed_texts (digest, last_received_at, signed_data)
    SELECT digest, first_at, signed_data FROM came ORDER BY n
    RETURNING id, digest
  ),
  written AS (
    INSERT INTO inbox.deliveries (received_at, event, installation_id, digest, text_id, outer_mismatch, verdict, reason,
      secret_index, job_id, repeats, last_received_at, unread_at)
    SELECT first_at, event, installation_id, digest, texts.id, outer_mismatch, verdict, reason, secret_index, asked.id,
      jsonb_array_length(ms_ago) - 1,
      CASE WHEN jsonb_array_length(ms_ago) > 1
        THEN now_at - (ms_ago ->> -1)::double precision * interval '1 millisecond' END,
      CASE WHEN jsonb_array_length(ms_ago) > 1
        THEN inbox.unread_at(now_at, ms_ago, 2, installation_id, first_at) END
    FROM came JOIN texts USING (digest) LEFT JOIN asked USING (job_key) ORDER BY n
    RETURNING id, text_id, job_id, digest
  )
  SELECT jsonb_agg(jsonb_build_object('rowId', written.id, 'textId', text_id, 'jobId', job_id, 'stood', false) ORDER BY n)
  INTO answers FROM written JOIN came USING (digest);
  RETURN answers;
END
$$;
COMMENT ON FUNCTION inbox.store_new IS 'What inbox.store does, for a group whose texts are none of them known and all different.';
