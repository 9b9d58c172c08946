CREATE OR REPLACE VIEW mirror.credit_uses (organization_id, resource, id, serialization, project_id, vintage, amount_micro, begun_at, ended_at) AS
SELECT organization_id, 'reservations'::text COLLATE "C", id, serialization, project_id, substring(serialization from '-([0-9]{4})$'), amount_micro, created_at, coalesce(updated_at, reserved_to_at)
FROM mirror.reservations WHERE is_complete = 1 OR lower(state) = 'finished'
UNION ALL
SELECT organization_id, 'inventory_requests'::text COLLATE "C", id, serialization, project_id, vintage, amount_micro, created_at, updated_at
FROM mirror.inventory_requests
WHERE tx_id IS NOT NULL AND lower(action) IN ('retire', 'transfer_retire') AND coalesce(from_organization_id, organization_id) = organization_id;
COMMENT ON VIEW mirror.credit_uses IS 'What reservations and inventory requests of an organization have taken out of its lists for good: reservations that were finished, and requests to retire that were carried out. They explain retirements; what nobody reserved or requested here does not stand here.';
COMMENT ON COLUMN mirror.credit_uses.organization_id IS 'the organization whose list it stands in';
COMMENT ON COLUMN mirror.credit_uses.resource IS 'reservations or inventory_requests';
COMMENT ON COLUMN mirror.credit_uses.id IS 'the registry''s id of it';
COMMENT ON COLUMN mirror.credit_uses.serialization IS 'what names the credit in public';
COMMENT ON COLUMN mirror.credit_uses.project_id IS 'the project that issued the credit';
COMMENT ON COLUMN mirror.credit_uses.vintage IS 'year of the reduction; of a reservation the year that ends its serialization';
COMMENT ON COLUMN mirror.credit_uses.amount_micro IS 'millionths of a tonne; null where the amount is finer or larger than that holds';
COMMENT ON COLUMN mirror.credit_uses.begun_at IS 'when the registry says it was created';
COMMENT ON COLUMN mirror.credit_uses.ended_at IS 'when the registry says it last changed; where it says nothing, when the hold would have ended';

CREATE OR REPLACE VIEW mirror.credit_moves (number, learnt_at, organization_id, place, credit_id, part, project_id, vintage, serialization, before_micro, after_micro, moved_micro, type) AS
SELECT n.version, n.valid_from, n.organization_id, 'warehouse'::text COLLATE "C", n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0)::numeric - coalesce(p.amount_micro, 0)::numeric)) < 9000000000000000000 THEN (coalesce(n.amount_micro, 0)::numeric - coalesce(p.amount_micro, 0)::numeric)::bigint END, n.type
FROM mirror.warehouse_credits_history AS n LEFT JOIN mirror.warehouse_credits_past AS p ON p.closed_version = n.version
JOIN mirror.resource_states AS s ON s.organization_id = n.organization_id AND s.resource = 'warehouse' AND n.valid_from > s.first_complete_at
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'warehouse'::text COLLATE "C", p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL::bigint, CASE WHEN abs((0 - coalesce(p.amount_micro, 0)::numeric)) < 9000000000000000000 THEN (0 - coalesce(p.amount_micro, 0)::numeric)::bigint END, p.type
FROM mirror.warehouse_credits_past AS p
JOIN mirror.resource_states AS s ON s.organization_id = p.organization_id AND s.resource = 'warehouse' AND p.valid_to > s.first_complete_at
WHERE NOT EXISTS (SELECT 1 FROM mirror.warehouse_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM mirror.warehouse_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'inventory'::text COLLATE "C", n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0)::numeric - coalesce(p.amount_micro, 0)::numeric)) < 9000000000000000000 THEN (coalesce(n.amount_micro, 0)::numeric - coalesce(p.amount_micro, 0)::numeric)::bigint END, n.type
FROM mirror.inventory_credits_history AS n LEFT JOIN mirror.inventory_credits_past AS p ON p.closed_version = n.version
JOIN mirror.resource_states AS s ON s.organization_id = n.organization_id AND s.resource = 'inventory' AND n.valid_from > s.first_complete_at
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'inventory'::text COLLATE "C", p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL::bigint, CASE WHEN abs((0 - coalesce(p.amount_micro, 0)::numeric)) < 9000000000000000000 THEN (0 - coalesce(p.amount_micro, 0)::numeric)::bigint END, p.type
FROM mirror.inventory_credits_past AS p
JOIN mirror.resource_states AS s ON s.organization_id = p.organization_id AND s.resource = 'inventory' AND p.valid_to > s.first_complete_at
WHERE NOT EXISTS (SELECT 1 FROM mirror.inventory_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM mirror.inventory_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'held'::text COLLATE "C", n.credit_id, n.id, n.project_id, substring(n.serialization from '-([0-9]{4})$'), n.serialization,
  CASE WHEN p.version IS NOT NULL THEN CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END END, CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, CASE WHEN abs((coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0)::numeric - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)::numeric)) < 9000000000000000000 THEN (coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0)::numeric - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)::numeric)::bigint END, n.type
FROM mirror.reservations_history AS n LEFT JOIN mirror.reservations_past AS p ON p.closed_version = n.version
JOIN mirror.resource_states AS s ON s.organization_id = n.organization_id AND s.resource = 'reservations' AND n.valid_from > s.first_complete_at
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'held'::text COLLATE "C", p.credit_id, p.id, p.project_id, substring(p.serialization from '-([0-9]{4})$'), p.serialization,
  CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, NULL::bigint, CASE WHEN abs((0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)::numeric)) < 9000000000000000000 THEN (0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)::numeric)::bigint END, p.type
FROM mirror.reservations_past AS p
JOIN mirror.resource_states AS s ON s.organization_id = p.organization_id AND s.resource = 'reservations' AND p.valid_to > s.first_complete_at
WHERE NOT EXISTS (SELECT 1 FROM mirror.reservations AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM mirror.reservations_past AS n WHERE n.version = p.closed_version);
COMMENT ON VIEW mirror.credit_moves IS 'What each credit was seen to rise or fall by between two reads, in the warehouse, in the inventory and held, since the first complete read of that list: what that showed is the opening balance, and rose nowhere. In and out of a place are not told by the registry: what came and went within one read is not seen.';
COMMENT ON COLUMN mirror.credit_moves.type IS 'exPost (issued) or exAnte (expected)';

CREATE OR REPLACE VIEW mirror.balance_credits (organization_id, place, credit_id, part, moves, risen_micro, fallen_micro, listed_micro, ties, type, opening_micro, opening_at) AS
WITH sides AS (
  SELECT organization_id, place, credit_id, part, greatest(coalesce(moved_micro, 0), 0) AS risen, greatest(0 - coalesce(moved_micro, 0), 0) AS fallen, 0 AS listed, 0 AS opening, type
  FROM mirror.credit_moves
  UNION ALL
  SELECT organization_id, 'warehouse'::text COLLATE "C", credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact ~ '^[0-9]{1,13}([.][0-9]*)?$' THEN (amount_exact::numeric * 1000000)::bigint ELSE amount_micro END, 0, type FROM mirror.warehouse_credits AS l
  WHERE EXISTS (SELECT 1 FROM mirror.resource_states AS s WHERE s.organization_id = l.organization_id AND s.resource = 'warehouse' AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, 'warehouse'::text COLLATE "C", h.credit_id, h.inventory_id, 0, 0, 0, coalesce(h.amount_micro, 0), h.type FROM mirror.warehouse_credits_history AS h
  JOIN mirror.resource_states AS s ON s.organization_id = h.organization_id AND s.resource = 'warehouse' AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
  UNION ALL
  SELECT organization_id, 'inventory'::text COLLATE "C", credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact ~ '^[0-9]{1,13}([.][0-9]*)?$' THEN (amount_exact::numeric * 1000000)::bigint ELSE amount_micro END, 0, type FROM mirror.inventory_credits AS l
  WHERE EXISTS (SELECT 1 FROM mirror.resource_states AS s WHERE s.organization_id = l.organization_id AND s.resource = 'inventory' AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, 'inventory'::text COLLATE "C", h.credit_id, h.inventory_id, 0, 0, 0, coalesce(h.amount_micro, 0), h.type FROM mirror.inventory_credits_history AS h
  JOIN mirror.resource_states AS s ON s.organization_id = h.organization_id AND s.resource = 'inventory' AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
  UNION ALL
  SELECT organization_id, 'held'::text COLLATE "C", credit_id, id, 0, 0, CASE WHEN coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN CASE WHEN amount_micro IS NOT NULL AND amount_exact ~ '^[0-9]{1,13}([.][0-9]*)?$' THEN (amount_exact::numeric * 1000000)::bigint ELSE amount_micro END ELSE 0 END, 0, type FROM mirror.reservations AS r
  WHERE EXISTS (SELECT 1 FROM mirror.resource_states AS s WHERE s.organization_id = r.organization_id AND s.resource = 'reservations' AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, 'held'::text COLLATE "C", h.credit_id, h.id, 0, 0, 0, coalesce(CASE WHEN coalesce(h.is_complete, 0) = 0 AND lower(coalesce(h.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN h.amount_micro ELSE 0 END, 0), h.type FROM mirror.reservations_history AS h
  JOIN mirror.resource_states AS s ON s.organization_id = h.organization_id AND s.resource = 'reservations' AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
),
added AS (
  SELECT organization_id, place, credit_id, part, count(*) FILTER (WHERE risen <> 0 OR fallen <> 0) AS moves,
    coalesce(sum(risen), 0) AS risen, coalesce(sum(fallen), 0) AS fallen, coalesce(sum(listed), 0) AS listed, coalesce(sum(opening), 0) AS opening, max(type) AS type
  FROM sides GROUP BY organization_id, place, credit_id, part
)
SELECT a.organization_id, a.place, a.credit_id, a.part, a.moves, CASE WHEN abs(risen) < 9000000000000000000 THEN risen::bigint END, CASE WHEN abs(fallen) < 9000000000000000000 THEN fallen::bigint END, CASE WHEN abs(listed) < 9000000000000000000 THEN listed::bigint END, CASE WHEN opening + risen - fallen = listed THEN 1 ELSE 0 END::bigint, a.type, CASE WHEN abs(opening) < 9000000000000000000 THEN opening::bigint END, s.first_complete_at
FROM added AS a JOIN mirror.resource_states AS s ON s.organization_id = a.organization_id AND s.resource = CASE a.place WHEN 'held' THEN 'reservations' ELSE a.place END;
COMMENT ON VIEW mirror.balance_credits IS 'Per credit and place: what stood there at the end of the list''s first complete read, and what it was seen to rise and to fall by since, adds up to what is listed now, by the registry''s own digits. Lists that were never read completely are left out.';
COMMENT ON COLUMN mirror.balance_credits.type IS 'exPost (issued) or exAnte (expected)';
COMMENT ON COLUMN mirror.balance_credits.opening_micro IS 'millionths of a tonne that stood there when its list had first been read completely; null where that is too large';
COMMENT ON COLUMN mirror.balance_credits.opening_at IS 'when that was';

CREATE OR REPLACE VIEW mirror.balance_projects (project_id, project_name, vintage, begun_at, settled_at, opening_micro, closing_micro, fallen_micro, fall_micro, retirements, retired_micro, ties, risen_micro, explained_micro, unexplained_micro) AS
WITH stock AS (
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL::timestamptz(3) AS held_to FROM mirror.warehouse_credits_history WHERE coalesce(type, '') <> 'exAnte'
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL::timestamptz(3) AS held_to FROM mirror.inventory_credits_history WHERE coalesce(type, '') <> 'exAnte'
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, substring(serialization from '-([0-9]{4})$') AS vintage, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM mirror.reservations_history AS r WHERE coalesce(type, '') <> 'exAnte' AND coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
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
  SELECT m.*, c.seen_at FROM mirror.credit_moves AS m JOIN credits AS c ON c.credit_id = m.credit_id WHERE coalesce(m.type, '') <> 'exAnte'
),
amounts AS (
  SELECT p.project_id, p.vintage,
    CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END AS opening,
    CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > now()) THEN s.amount_micro ELSE 0 END AS closing,
    CASE WHEN s.seen_at <= p.since AND s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > now()) THEN s.amount_micro ELSE 0 END AS closing_known,
    0 AS fallen, 0 AS fallen_new, 0 AS retired, 0 AS retirements, 0 AS risen, 0 AS used, NULL::timestamptz(3) AS rose_at
  FROM seen AS s JOIN judged AS j ON j.organization_id = s.organization_id
  JOIN places AS p ON p.project_id = s.project_id AND p.vintage = s.vintage
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, greatest(0 - coalesce(m.moved_micro, 0), 0),
    CASE WHEN m.seen_at > p.since THEN greatest(0 - coalesce(m.moved_micro, 0), 0) ELSE 0 END, 0, 0,
    CASE WHEN m.seen_at <= p.since AND m.place <> 'held' THEN greatest(coalesce(m.moved_micro, 0), 0) ELSE 0 END, 0,
    CASE WHEN m.moved_micro > 0 THEN m.learnt_at END
  FROM moved AS m JOIN judged AS j ON j.organization_id = m.organization_id
  JOIN places AS p ON p.project_id = m.project_id AND p.vintage = m.vintage AND m.learnt_at > p.since
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, coalesce(r.amount_micro, 0), 1, 0, 0, NULL::timestamptz(3)
  FROM mirror.retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  JOIN places AS p ON p.project_id = r.project_id AND p.vintage = r.vintage AND r.created_at > p.since AND r.created_at <= p.settled_at
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, 0, 0, 0, coalesce(u.amount_micro, 0), NULL::timestamptz(3)
  FROM mirror.credit_uses AS u JOIN judged AS j ON j.organization_id = u.organization_id
  JOIN places AS p ON p.project_id = u.project_id AND p.vintage = u.vintage AND u.begun_at > p.since AND u.ended_at <= p.settled_at
),
added AS (
  SELECT project_id, vintage, coalesce(sum(opening), 0) AS opening, coalesce(sum(closing), 0) AS closing, coalesce(sum(closing_known), 0) AS closing_known,
    coalesce(sum(fallen), 0) AS fallen, coalesce(sum(fallen_new), 0) AS fallen_new, coalesce(sum(retired), 0) AS retired, coalesce(sum(risen), 0) AS risen, coalesce(sum(used), 0) AS used, sum(retirements)::bigint AS retirements, max(rose_at) AS rose_at
  FROM amounts GROUP BY project_id, vintage
),
told AS (
  SELECT project_id, vintage, opening, closing, fallen, opening - closing_known + fallen_new AS fall, risen, retired, retirements,
    greatest(least(retired, used), 0) AS explained, rose_at
  FROM added
)
SELECT a.project_id, p.project_name, a.vintage, p.since::timestamptz(3), p.settled_at::timestamptz(3), CASE WHEN abs(a.opening) < 9000000000000000000 THEN (a.opening)::bigint END, CASE WHEN abs(a.closing) < 9000000000000000000 THEN (a.closing)::bigint END, CASE WHEN abs(a.fallen) < 9000000000000000000 THEN (a.fallen)::bigint END,
  CASE WHEN abs(a.fall) < 9000000000000000000 THEN (a.fall)::bigint END, a.retirements, CASE WHEN abs(a.retired) < 9000000000000000000 THEN (a.retired)::bigint END,
  CASE WHEN a.fall + a.risen >= a.explained OR a.explained <= 0 THEN 1 WHEN a.rose_at >= p.settled_at THEN NULL ELSE 0 END::bigint,
  CASE WHEN abs(a.risen) < 9000000000000000000 THEN (a.risen)::bigint END, CASE WHEN abs(a.explained) < 9000000000000000000 THEN (a.explained)::bigint END, CASE WHEN abs(greatest(a.retired - greatest(a.explained, a.fall), 0)) < 9000000000000000000 THEN (greatest(a.retired - greatest(a.explained, a.fall), 0))::bigint END
FROM told AS a JOIN places AS p ON p.project_id = a.project_id AND p.vintage = a.vintage;
COMMENT ON VIEW mirror.balance_projects IS 'Per project and vintage, without what is exAnte: warehouse, inventory and held together, of all organizations whose three lists were ever read completely, fell by at least what these organizations have retired of it since by their own reservations and inventory requests. What else they retired may be of credits that an organization gave that is not mirrored: it is named, and nothing has to fall for it. What was not listed anywhere when the period began counts by what it was seen to fall by.';
COMMENT ON COLUMN mirror.balance_projects.ties IS '1 where what it fell and rose by is as much as is explained, or more, 0 where it is not; null where a list has not been read since the last rise';
COMMENT ON COLUMN mirror.balance_projects.risen_micro IS 'millionths of a tonne that warehouses and inventories were seen to rise by: from elsewhere, or from one another';
COMMENT ON COLUMN mirror.balance_projects.explained_micro IS 'millionths of a tonne of what was retired that reservations and inventory requests of these organizations explain';
COMMENT ON COLUMN mirror.balance_projects.unexplained_micro IS 'millionths of a tonne of what was retired that they do not explain, and that did not go from these lists in all: it came from elsewhere';

CREATE OR REPLACE VIEW mirror.credit_findings (finding, organization_id, resource, id, serialization, amount_exact, found) AS
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
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL::timestamptz(3) AS held_to FROM mirror.warehouse_credits_history WHERE coalesce(type, '') <> 'exAnte' AND lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL::timestamptz(3) AS held_to FROM mirror.inventory_credits_history WHERE coalesce(type, '') <> 'exAnte' AND lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM mirror.reservations_history WHERE coalesce(type, '') <> 'exAnte' AND lower(serialization) IN (SELECT serial FROM retired) AND coalesce(is_complete, 0) = 0 AND lower(coalesce(state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
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
used AS (
  SELECT p.serial, coalesce(sum(u.amount_micro), 0) AS micro
  FROM mirror.credit_uses AS u JOIN serials AS p ON p.serial = lower(u.serialization) AND u.begun_at > p.since AND u.ended_at <= p.settled_at GROUP BY p.serial
),
rises AS (
  SELECT p.serial, coalesce(sum(m.moved_micro), 0) AS micro
  FROM mirror.credit_moves AS m JOIN serials AS p ON p.serial = lower(m.serialization) AND m.learnt_at > p.since WHERE coalesce(m.type, '') <> 'exAnte' AND m.place <> 'held' AND m.moved_micro > 0 GROUP BY p.serial
),
listed AS (
  SELECT p.serial, p.since, p.settled_at FROM serials AS p JOIN stood AS s ON s.serial = p.serial JOIN taken AS x ON x.serial = p.serial
  JOIN used AS u ON u.serial = p.serial LEFT JOIN rises AS e ON e.serial = p.serial
  WHERE s.seen_at <= p.since AND least(x.micro, u.micro) > 0 AND s.opening - s.closing + coalesce(e.micro, 0) < least(x.micro, u.micro) AND (s.moved_at IS NULL OR s.moved_at < p.settled_at)
)
SELECT 'negative_amount'::text COLLATE "C", organization_id, resource, id, serialization, amount_exact, 'its amount is below zero'::text COLLATE "C"
FROM amounts WHERE amount < 0 OR fault = 'negative'
UNION ALL
SELECT 'serialization_twice'::text COLLATE "C", i.organization_id, i.resource, i.credit_id, i.serialization, i.amount_exact,
  'its serialization stands for credit ' || CASE WHEN i.credit_id = t.one THEN t.other ELSE t.one END || ' too'
FROM issued AS i JOIN twice AS t ON t.serial = i.serial
UNION ALL
SELECT 'listed_and_retired'::text COLLATE "C", r.organization_id, 'retirements'::text COLLATE "C", r.id, r.serialization, r.amount_exact,
  'less of its serialization has gone from the lists than reservations and requests have retired of it'::text COLLATE "C"
FROM retired AS r JOIN listed AS l ON l.serial = r.serial AND r.created_at > l.since AND r.created_at <= l.settled_at
WHERE EXISTS (SELECT 1 FROM mirror.credit_uses AS u WHERE lower(u.serialization) = r.serial AND u.amount_micro = r.amount_micro AND u.begun_at > l.since AND u.begun_at <= r.created_at)
UNION ALL
SELECT 'hold_outlived'::text COLLATE "C", r.organization_id, 'reservations'::text COLLATE "C", r.id, r.serialization, r.amount_exact,
  'it ended at ' || mirror.as_text(r.reserved_to_at) || ' and is listed as ' || r.state
FROM mirror.reservations AS r JOIN mirror.resource_states AS s ON s.organization_id = r.organization_id AND s.resource = 'reservations'
WHERE coalesce(r.is_complete, 0) = 0 AND lower(r.state) NOT IN ('finished', 'cancelled', 'expired')
  AND s.complete_at >= r.reserved_to_at + interval '1 hour';
COMMENT ON VIEW mirror.credit_findings IS 'What cannot be right in what the registry says of credits, a row each. An amount below zero; a serialization of issued credits that stands for two of them; what reservations and inventory requests have retired since the first reads and is listed as before; a hold that a complete read an hour after its end still showed with the state of one that stands. Every row of the lists is looked at.';
