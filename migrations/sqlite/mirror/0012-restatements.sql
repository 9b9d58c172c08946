-- What the registry changed or took back after the year was over that it is dated in, and each certificate that is another file than before, whenever that was. A change within the year is in the view changes alone.
CREATE VIEW restatements (
  number, -- number of the counter that the change took: the same as in changes
  learnt_at, -- when the answer that showed it had arrived; the registry may have changed earlier
  organization_id, -- whose retirement it is
  resource, -- retirements or certificates
  id, -- the retirement
  year, -- the year that the registry dated the retirement in before, in UTC; null where it sent no usable date
  change, -- changed or removed
  before, -- what stood there: of a retirement its amount in the registry's own digits, of a certificate the SHA-256 of the file
  after, -- what stands there since; null where it is gone
  sync_run_id -- the sync run that found it; old runs are removed in time
) AS
SELECT p.closed_version, p.valid_to, p.organization_id, 'retirements', p.id, substr(p.created_at, 1, 4),
  CASE WHEN (EXISTS (SELECT 1 FROM retirements AS n WHERE n.version = p.closed_version) OR EXISTS (SELECT 1 FROM retirements_past AS n WHERE n.version = p.closed_version)) THEN 'changed' ELSE 'removed' END,
  p.amount_exact, coalesce((SELECT n.amount_exact FROM retirements AS n WHERE n.version = p.closed_version), (SELECT n.amount_exact FROM retirements_past AS n WHERE n.version = p.closed_version)), p.closed_by
FROM retirements_past AS p
WHERE substr(p.created_at, 1, 4) < substr(p.valid_to, 1, 4)
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'certificates', p.retirement_id, substr(coalesce((SELECT r.created_at FROM retirements AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id), (SELECT max(r.created_at) FROM retirements_past AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id)), 1, 4),
  CASE WHEN (EXISTS (SELECT 1 FROM certificates AS n WHERE n.version = p.closed_version) OR EXISTS (SELECT 1 FROM certificates_past AS n WHERE n.version = p.closed_version)) THEN 'changed' ELSE 'removed' END,
  p.sha256, coalesce((SELECT n.sha256 FROM certificates AS n WHERE n.version = p.closed_version), (SELECT n.sha256 FROM certificates_past AS n WHERE n.version = p.closed_version)), p.closed_by
FROM certificates_past AS p
WHERE p.state = 'stored' AND coalesce((SELECT n.sha256 FROM certificates AS n WHERE n.version = p.closed_version), (SELECT n.sha256 FROM certificates_past AS n WHERE n.version = p.closed_version)) IS DISTINCT FROM p.sha256
  AND ((EXISTS (SELECT 1 FROM certificates AS n WHERE n.version = p.closed_version) OR EXISTS (SELECT 1 FROM certificates_past AS n WHERE n.version = p.closed_version)) OR substr(coalesce((SELECT r.created_at FROM retirements AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id), (SELECT max(r.created_at) FROM retirements_past AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id)), 1, 4) < substr(p.valid_to, 1, 4));

DROP VIEW credit_findings;
-- What cannot be right in what the registry says of credits, a row each. An amount below zero; a serialization of issued credits that stands for two of them; what was retired since the first reads and is listed as before; a hold that a complete read an hour after its end still showed as outstanding. Every row of the lists is looked at.
CREATE VIEW credit_findings (
  finding, -- negative_amount, serialization_twice, listed_and_retired or hold_outlived
  organization_id, -- whose list it stands in
  resource, -- which list, by its word in sync_runs
  id, -- id of the row: of a credit its credit_id
  serialization, -- what names the credit in public
  amount_exact, -- the registry's own digits; null where it sent no usable number
  found -- what is wrong, in words
) AS
WITH amounts AS (
  SELECT organization_id, 'warehouse' AS resource, credit_id AS id, serialization, amount, amount_exact, fault FROM warehouse_credits
  UNION ALL
  SELECT organization_id, 'inventory' AS resource, credit_id AS id, serialization, amount, amount_exact, fault FROM inventory_credits
  UNION ALL
  SELECT organization_id, 'reservations' AS resource, id AS id, serialization, amount, amount_exact, fault FROM reservations
  UNION ALL
  SELECT organization_id, 'inventory_requests' AS resource, id AS id, serialization, amount, amount_exact, fault FROM inventory_requests
  UNION ALL
  SELECT organization_id, 'retirements' AS resource, id AS id, serialization, amount, amount_exact, fault FROM retirements
),
issued AS (
  SELECT organization_id, 'warehouse' AS resource, credit_id, lower(serialization) AS serial, serialization, amount_exact FROM warehouse_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT organization_id, 'inventory' AS resource, credit_id, lower(serialization) AS serial, serialization, amount_exact FROM inventory_credits WHERE type = 'exPost' AND serialization IS NOT NULL
),
twice AS (
  SELECT serial, min(credit_id) AS one, max(credit_id) AS other FROM issued GROUP BY serial HAVING min(credit_id) <> max(credit_id)
),
judged AS (
  SELECT organization_id, max(first_complete_at) AS since, min(complete_at) AS settled_at FROM resource_states
  WHERE resource IN ('warehouse', 'inventory', 'reservations') GROUP BY organization_id HAVING count(first_complete_at) = 3
),
retired AS (
  SELECT r.organization_id, r.id, r.serialization, lower(r.serialization) AS serial, r.amount_micro, r.amount_exact, r.created_at
  FROM retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  WHERE r.created_at > j.since AND r.serialization IS NOT NULL
),
stock AS (
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL AS held_to FROM warehouse_credits_history WHERE lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL AS held_to FROM inventory_credits_history WHERE lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM reservations_history WHERE lower(serialization) IN (SELECT serial FROM retired) AND coalesce(is_complete, 0) = 0 AND lower(coalesce(state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
),
serials AS (
  SELECT s.serial, max(j.since) AS since, min(j.settled_at) AS settled_at
  FROM (SELECT DISTINCT organization_id, serial FROM stock) AS s JOIN judged AS j ON j.organization_id = s.organization_id GROUP BY s.serial
),
stood AS (
  SELECT p.serial, (coalesce(sum(CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END / 1000000), 0) * 1000000 + coalesce(sum(CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END % 1000000), 0)) AS opening,
    (coalesce(sum(CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) THEN s.amount_micro ELSE 0 END / 1000000), 0) * 1000000 + coalesce(sum(CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) THEN s.amount_micro ELSE 0 END % 1000000), 0)) AS closing,
    max(CASE WHEN s.valid_from > p.since THEN s.valid_from END) AS moved_at, min(s.valid_from) AS seen_at
  FROM stock AS s JOIN judged AS j ON j.organization_id = s.organization_id JOIN serials AS p ON p.serial = s.serial GROUP BY p.serial
),
taken AS (
  SELECT p.serial, (coalesce(sum(r.amount_micro / 1000000), 0) * 1000000 + coalesce(sum(r.amount_micro % 1000000), 0)) AS micro
  FROM retired AS r JOIN serials AS p ON p.serial = r.serial AND r.created_at > p.since AND r.created_at <= p.settled_at GROUP BY p.serial
),
listed AS (
  SELECT p.serial, p.since, p.settled_at FROM serials AS p JOIN stood AS s ON s.serial = p.serial JOIN taken AS x ON x.serial = p.serial
  WHERE s.seen_at <= p.since AND x.micro > 0 AND s.opening - s.closing < x.micro AND (s.moved_at IS NULL OR s.moved_at < p.settled_at)
)
SELECT 'negative_amount', organization_id, resource, id, serialization, amount_exact, 'its amount is below zero'
FROM amounts WHERE amount < 0 OR fault = 'negative'
UNION ALL
SELECT 'serialization_twice', i.organization_id, i.resource, i.credit_id, i.serialization, i.amount_exact,
  'its serialization stands for credit ' || CASE WHEN i.credit_id = t.one THEN t.other ELSE t.one END || ' too'
FROM issued AS i JOIN twice AS t ON t.serial = i.serial
UNION ALL
SELECT 'listed_and_retired', r.organization_id, 'retirements', r.id, r.serialization, r.amount_exact,
  'less of its serialization has gone from the lists than was retired of it'
FROM retired AS r JOIN listed AS l ON l.serial = r.serial AND r.created_at > l.since AND r.created_at <= l.settled_at
UNION ALL
SELECT 'hold_outlived', r.organization_id, 'reservations', r.id, r.serialization, r.amount_exact,
  'it ended at ' || r.reserved_to_at || ' and is listed as ' || coalesce(r.state, 'outstanding')
FROM reservations AS r JOIN resource_states AS s ON s.organization_id = r.organization_id AND s.resource = 'reservations'
WHERE coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
  AND s.complete_at >= strftime('%Y-%m-%dT%H:%M:%fZ', r.reserved_to_at, '+1 hour');
