-- What cannot be right in what the registry says of credits, a row each. An amount below zero; a serialization of issued credits that stands for two of them; a hold that a complete read an hour after its end still showed as outstanding. Every row of the lists is looked at.
CREATE VIEW credit_findings (
  finding, -- negative_amount, serialization_twice or hold_outlived
  organization_id, -- whose list it stands in
  resource, -- which list, by its word in sync_runs
  id, -- id of the row: of a credit its credit_id
  serialization, -- what names the credit in public
  amount_exact, -- the registry's own digits; null where it sent no usable number
  found -- what is wrong, in words
) AS
WITH amounts AS (
  SELECT organization_id, 'warehouse' AS resource, credit_id AS id, serialization, amount, amount_exact FROM warehouse_credits
  UNION ALL
  SELECT organization_id, 'inventory', credit_id, serialization, amount, amount_exact FROM inventory_credits
  UNION ALL
  SELECT organization_id, 'reservations', id, serialization, amount, amount_exact FROM reservations
  UNION ALL
  SELECT organization_id, 'inventory_requests', id, serialization, amount, amount_exact FROM inventory_requests
  UNION ALL
  SELECT organization_id, 'retirements', id, serialization, amount, amount_exact FROM retirements
),
issued AS (
  SELECT organization_id, 'warehouse' AS resource, credit_id, lower(serialization) AS serial, serialization, amount_exact
  FROM warehouse_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT organization_id, 'inventory', credit_id, lower(serialization), serialization, amount_exact
  FROM inventory_credits WHERE type = 'exPost' AND serialization IS NOT NULL
),
twice AS (
  SELECT serial, min(credit_id) AS one, max(credit_id) AS other FROM issued GROUP BY serial HAVING min(credit_id) <> max(credit_id)
)
SELECT 'negative_amount', organization_id, resource, id, serialization, amount_exact, 'its amount is below zero'
FROM amounts WHERE amount < 0
UNION ALL
SELECT 'serialization_twice', i.organization_id, i.resource, i.credit_id, i.serialization, i.amount_exact,
  'its serialization stands for credit ' || CASE WHEN i.credit_id = t.one THEN t.other ELSE t.one END || ' too'
FROM issued AS i JOIN twice AS t ON t.serial = i.serial
UNION ALL
SELECT 'hold_outlived', r.organization_id, 'reservations', r.id, r.serialization, r.amount_exact,
  'it ended at ' || r.reserved_to_at || ' and is listed as ' || coalesce(r.state, 'outstanding')
FROM reservations AS r JOIN resource_states AS s ON s.organization_id = r.organization_id AND s.resource = 'reservations'
WHERE coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
  AND s.complete_at >= strftime('%Y-%m-%dT%H:%M:%fZ', r.reserved_to_at, '+1 hour');
