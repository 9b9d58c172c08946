CREATE OR REPLACE VIEW mirror.balance_projects (project_id, project_name, vintage, begun_at, settled_at, opening_micro, closing_micro, fallen_micro, fall_micro, retirements, retired_micro, ties) AS
WITH stock AS (
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL::timestamptz(3) AS held_to FROM mirror.warehouse_credits_history
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL::timestamptz(3) AS held_to FROM mirror.inventory_credits_history
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, substring(serialization from '-([0-9]{4})$') AS vintage, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM mirror.reservations_history AS r WHERE coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
),
judged AS (
  SELECT organization_id, max(first_complete_at) AS since, min(complete_at) AS settled_at FROM mirror.resource_states
  WHERE resource IN ('warehouse', 'inventory', 'reservations') GROUP BY organization_id HAVING count(first_complete_at) = 3
),
places AS (
  SELECT s.project_id, s.vintage, max(s.project_name) AS project_name, max(j.since) AS since, min(j.settled_at) AS settled_at
  FROM (SELECT DISTINCT organization_id, project_id, project_name, vintage FROM stock) AS s JOIN judged AS j ON j.organization_id = s.organization_id
  WHERE s.project_id IS NOT NULL AND s.vintage IS NOT NULL GROUP BY s.project_id, s.vintage
),
credits AS (
  SELECT credit_id, min(valid_from) AS seen_at FROM stock GROUP BY credit_id
),
-- Each credit meets its first sight alone, where the planner knows how many there are: among the joins below it takes them for few, and goes through all credits for each.
seen AS MATERIALIZED (
  SELECT s.*, c.seen_at FROM stock AS s JOIN credits AS c ON c.credit_id = s.credit_id
),
moved AS MATERIALIZED (
  SELECT m.*, c.seen_at FROM mirror.credit_moves AS m JOIN credits AS c ON c.credit_id = m.credit_id
),
amounts AS (
  SELECT p.project_id, p.vintage,
    CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END AS opening,
    CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > now()) THEN s.amount_micro ELSE 0 END AS closing,
    CASE WHEN s.seen_at <= p.since AND s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > now()) THEN s.amount_micro ELSE 0 END AS closing_known,
    0 AS fallen, 0 AS fallen_new, 0 AS retired, 0 AS retirements, NULL::timestamptz(3) AS rose_at
  FROM seen AS s JOIN judged AS j ON j.organization_id = s.organization_id
  JOIN places AS p ON p.project_id = s.project_id AND p.vintage = s.vintage
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, greatest(0 - coalesce(m.moved_micro, 0), 0),
    CASE WHEN m.seen_at > p.since THEN greatest(0 - coalesce(m.moved_micro, 0), 0) ELSE 0 END, 0, 0,
    CASE WHEN m.moved_micro > 0 THEN m.learnt_at END
  FROM moved AS m JOIN judged AS j ON j.organization_id = m.organization_id
  JOIN places AS p ON p.project_id = m.project_id AND p.vintage = m.vintage AND m.learnt_at > p.since
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, coalesce(r.amount_micro, 0), 1, NULL::timestamptz(3)
  FROM mirror.retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  JOIN places AS p ON p.project_id = r.project_id AND p.vintage = r.vintage AND r.created_at > p.since AND r.created_at <= p.settled_at
),
added AS (
  SELECT project_id, vintage, coalesce(sum(opening), 0) AS opening, coalesce(sum(closing), 0) AS closing, coalesce(sum(closing_known), 0) AS closing_known,
    coalesce(sum(fallen), 0) AS fallen, coalesce(sum(fallen_new), 0) AS fallen_new, coalesce(sum(retired), 0) AS retired, sum(retirements)::bigint AS retirements, max(rose_at) AS rose_at
  FROM amounts GROUP BY project_id, vintage
)
SELECT a.project_id, p.project_name, a.vintage, p.since::timestamptz(3), p.settled_at::timestamptz(3), CASE WHEN abs(a.opening) < 9000000000000000000 THEN a.opening::bigint END, CASE WHEN abs(a.closing) < 9000000000000000000 THEN a.closing::bigint END, CASE WHEN abs(a.fallen) < 9000000000000000000 THEN a.fallen::bigint END,
  CASE WHEN abs((a.opening - a.closing_known + a.fallen_new)) < 9000000000000000000 THEN (a.opening - a.closing_known + a.fallen_new)::bigint END, a.retirements, CASE WHEN abs(a.retired) < 9000000000000000000 THEN a.retired::bigint END,
  CASE WHEN a.retired <= 0 OR a.opening - a.closing_known + a.fallen_new >= a.retired THEN 1 WHEN a.rose_at >= p.settled_at THEN NULL ELSE 0 END::bigint
FROM added AS a JOIN places AS p ON p.project_id = a.project_id AND p.vintage = a.vintage;
