CREATE VIEW mirror.restatements (number, learnt_at, organization_id, resource, id, year, change, before, after, sync_run_id) AS
SELECT p.closed_version, p.valid_to, p.organization_id, 'retirements'::text COLLATE "C", p.id, (CASE WHEN p.created_at < '0001-01-01 00:00:00+00' THEN '0000' ELSE to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY') END) COLLATE "C",
  CASE WHEN (EXISTS (SELECT 1 FROM mirror.retirements AS n WHERE n.version = p.closed_version) OR EXISTS (SELECT 1 FROM mirror.retirements_past AS n WHERE n.version = p.closed_version)) THEN 'changed' ELSE 'removed' END COLLATE "C",
  p.amount_exact, coalesce((SELECT n.amount_exact FROM mirror.retirements AS n WHERE n.version = p.closed_version), (SELECT n.amount_exact FROM mirror.retirements_past AS n WHERE n.version = p.closed_version)), p.closed_by
FROM mirror.retirements_past AS p
WHERE (CASE WHEN p.created_at < '0001-01-01 00:00:00+00' THEN '0000' ELSE to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY') END) COLLATE "C" < (CASE WHEN p.valid_to < '0001-01-01 00:00:00+00' THEN '0000' ELSE to_char(p.valid_to AT TIME ZONE 'UTC', 'YYYY') END) COLLATE "C"
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'certificates'::text COLLATE "C", p.retirement_id, (CASE WHEN coalesce((SELECT r.created_at FROM mirror.retirements AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id), (SELECT max(r.created_at) FROM mirror.retirements_past AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id)) < '0001-01-01 00:00:00+00' THEN '0000' ELSE to_char(coalesce((SELECT r.created_at FROM mirror.retirements AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id), (SELECT max(r.created_at) FROM mirror.retirements_past AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id)) AT TIME ZONE 'UTC', 'YYYY') END) COLLATE "C",
  CASE WHEN (EXISTS (SELECT 1 FROM mirror.certificates AS n WHERE n.version = p.closed_version) OR EXISTS (SELECT 1 FROM mirror.certificates_past AS n WHERE n.version = p.closed_version)) THEN 'changed' ELSE 'removed' END COLLATE "C",
  p.sha256, coalesce((SELECT n.sha256 FROM mirror.certificates AS n WHERE n.version = p.closed_version), (SELECT n.sha256 FROM mirror.certificates_past AS n WHERE n.version = p.closed_version)), p.closed_by
FROM mirror.certificates_past AS p
WHERE p.state = 'stored' AND coalesce((SELECT n.sha256 FROM mirror.certificates AS n WHERE n.version = p.closed_version), (SELECT n.sha256 FROM mirror.certificates_past AS n WHERE n.version = p.closed_version)) IS DISTINCT FROM p.sha256
  AND ((EXISTS (SELECT 1 FROM mirror.certificates AS n WHERE n.version = p.closed_version) OR EXISTS (SELECT 1 FROM mirror.certificates_past AS n WHERE n.version = p.closed_version)) OR (CASE WHEN coalesce((SELECT r.created_at FROM mirror.retirements AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id), (SELECT max(r.created_at) FROM mirror.retirements_past AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id)) < '0001-01-01 00:00:00+00' THEN '0000' ELSE to_char(coalesce((SELECT r.created_at FROM mirror.retirements AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id), (SELECT max(r.created_at) FROM mirror.retirements_past AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id)) AT TIME ZONE 'UTC', 'YYYY') END) COLLATE "C" < (CASE WHEN p.valid_to < '0001-01-01 00:00:00+00' THEN '0000' ELSE to_char(p.valid_to AT TIME ZONE 'UTC', 'YYYY') END) COLLATE "C");
COMMENT ON VIEW mirror.restatements IS 'What the registry changed or took back after the year was over that it is dated in, and each certificate that is another file than before, whenever that was. A change within the year is in the view changes alone.';
COMMENT ON COLUMN mirror.restatements.number IS 'number of the counter that the change took: the same as in changes';
COMMENT ON COLUMN mirror.restatements.learnt_at IS 'when the answer that showed it had arrived; the registry may have changed earlier';
COMMENT ON COLUMN mirror.restatements.organization_id IS 'whose retirement it is';
COMMENT ON COLUMN mirror.restatements.resource IS 'retirements or certificates';
COMMENT ON COLUMN mirror.restatements.id IS 'the retirement';
COMMENT ON COLUMN mirror.restatements.year IS 'the year that the registry dated the retirement in before, in UTC; null where it sent no usable date';
COMMENT ON COLUMN mirror.restatements.change IS 'changed or removed';
COMMENT ON COLUMN mirror.restatements.before IS 'what stood there: of a retirement its amount in the registry''s own digits, of a certificate the SHA-256 of the file';
COMMENT ON COLUMN mirror.restatements.after IS 'what stands there since; null where it is gone';
COMMENT ON COLUMN mirror.restatements.sync_run_id IS 'the sync run that found it; old runs are removed in time';

DROP VIEW mirror.credit_findings;
CREATE VIEW mirror.credit_findings (finding, organization_id, resource, id, serialization, amount_exact, found) AS
WITH amounts AS (
  SELECT organization_id, 'warehouse'::text COLLATE "C" AS resource, credit_id AS id, serialization, amount, amount_exact, fault FROM mirror.warehouse_credits
  UNION ALL
  SELECT organization_id, 'inventory'::text COLLATE "C" AS resource, credit_id AS id, serialization, amount, amount_exact, fault FROM mirror.inventory_credits
  UNION ALL
  SELECT organization_id, 'reservations'::text COLLATE "C" AS resource, id AS id, serialization, amount, amount_exact, fault FROM mirror.reservations
  UNION ALL
  SELECT organization_id, 'inventory_requests'::text COLLATE "C" AS resource, id AS id, serialization, amount, amount_exact, fault FROM mirror.inventory_requests
  UNION ALL
  SELECT organization_id, 'retirements'::text COLLATE "C" AS resource, id AS id, serialization, amount, amount_exact, fault FROM mirror.retirements
),
issued AS (
  SELECT organization_id, 'warehouse'::text COLLATE "C" AS resource, credit_id, lower(serialization) AS serial, serialization, amount_exact FROM mirror.warehouse_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT organization_id, 'inventory'::text COLLATE "C" AS resource, credit_id, lower(serialization) AS serial, serialization, amount_exact FROM mirror.inventory_credits WHERE type = 'exPost' AND serialization IS NOT NULL
),
twice AS (
  SELECT serial, min(credit_id) AS one, max(credit_id) AS other FROM issued GROUP BY serial HAVING min(credit_id) <> max(credit_id)
),
judged AS (
  SELECT organization_id, max(first_complete_at) AS since, min(complete_at) AS settled_at FROM mirror.resource_states
  WHERE resource IN ('warehouse', 'inventory', 'reservations') GROUP BY organization_id HAVING count(first_complete_at) = 3
),
retired AS (
  SELECT r.organization_id, r.id, r.serialization, lower(r.serialization) AS serial, r.amount_micro, r.amount_exact, r.created_at
  FROM mirror.retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  WHERE r.created_at > j.since AND r.serialization IS NOT NULL
),
stock AS (
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL::timestamptz(3) AS held_to FROM mirror.warehouse_credits_history WHERE lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL::timestamptz(3) AS held_to FROM mirror.inventory_credits_history WHERE lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM mirror.reservations_history WHERE lower(serialization) IN (SELECT serial FROM retired) AND coalesce(is_complete, 0) = 0 AND lower(coalesce(state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
),
serials AS (
  SELECT s.serial, max(j.since) AS since, min(j.settled_at) AS settled_at
  FROM (SELECT DISTINCT organization_id, serial FROM stock) AS s JOIN judged AS j ON j.organization_id = s.organization_id GROUP BY s.serial
),
stood AS (
  SELECT p.serial, coalesce(sum(CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END), 0) AS opening,
    coalesce(sum(CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > now()) THEN s.amount_micro ELSE 0 END), 0) AS closing,
    max(CASE WHEN s.valid_from > p.since THEN s.valid_from END) AS moved_at, min(s.valid_from) AS seen_at
  FROM stock AS s JOIN judged AS j ON j.organization_id = s.organization_id JOIN serials AS p ON p.serial = s.serial GROUP BY p.serial
),
taken AS (
  SELECT p.serial, coalesce(sum(r.amount_micro), 0) AS micro
  FROM retired AS r JOIN serials AS p ON p.serial = r.serial AND r.created_at > p.since AND r.created_at <= p.settled_at GROUP BY p.serial
),
listed AS (
  SELECT p.serial, p.since, p.settled_at FROM serials AS p JOIN stood AS s ON s.serial = p.serial JOIN taken AS x ON x.serial = p.serial
  WHERE s.seen_at <= p.since AND x.micro > 0 AND s.opening - s.closing < x.micro AND (s.moved_at IS NULL OR s.moved_at < p.settled_at)
)
SELECT 'negative_amount'::text COLLATE "C", organization_id, resource, id, serialization, amount_exact, 'its amount is below zero'::text COLLATE "C"
FROM amounts WHERE amount < 0 OR fault = 'negative'
UNION ALL
SELECT 'serialization_twice'::text COLLATE "C", i.organization_id, i.resource, i.credit_id, i.serialization, i.amount_exact,
  'its serialization stands for credit ' || CASE WHEN i.credit_id = t.one THEN t.other ELSE t.one END || ' too'
FROM issued AS i JOIN twice AS t ON t.serial = i.serial
UNION ALL
SELECT 'listed_and_retired'::text COLLATE "C", r.organization_id, 'retirements'::text COLLATE "C", r.id, r.serialization, r.amount_exact,
  'less of its serialization has gone from the lists than was retired of it'::text COLLATE "C"
FROM retired AS r JOIN listed AS l ON l.serial = r.serial AND r.created_at > l.since AND r.created_at <= l.settled_at
UNION ALL
SELECT 'hold_outlived'::text COLLATE "C", r.organization_id, 'reservations'::text COLLATE "C", r.id, r.serialization, r.amount_exact,
  'it ended at ' || mirror.as_text(r.reserved_to_at) || ' and is listed as ' || coalesce(r.state, 'outstanding')
FROM mirror.reservations AS r JOIN mirror.resource_states AS s ON s.organization_id = r.organization_id AND s.resource = 'reservations'
WHERE coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
  AND s.complete_at >= r.reserved_to_at + interval '1 hour';
COMMENT ON VIEW mirror.credit_findings IS 'What cannot be right in what the registry says of credits, a row each. An amount below zero; a serialization of issued credits that stands for two of them; what was retired since the first reads and is listed as before; a hold that a complete read an hour after its end still showed as outstanding. Every row of the lists is looked at.';
COMMENT ON COLUMN mirror.credit_findings.finding IS 'negative_amount, serialization_twice, listed_and_retired or hold_outlived';
COMMENT ON COLUMN mirror.credit_findings.organization_id IS 'whose list it stands in';
COMMENT ON COLUMN mirror.credit_findings.resource IS 'which list, by its word in sync_runs';
COMMENT ON COLUMN mirror.credit_findings.id IS 'id of the row: of a credit its credit_id';
COMMENT ON COLUMN mirror.credit_findings.serialization IS 'what names the credit in public';
COMMENT ON COLUMN mirror.credit_findings.amount_exact IS 'the registry''s own digits; null where it sent no usable number';
COMMENT ON COLUMN mirror.credit_findings.found IS 'what is wrong, in words';
