-- What reservations and inventory requests of an organization have taken out of its lists for good: reservations that were finished, and requests to retire that were carried out. They explain retirements; what nobody reserved or requested here does not stand here.
CREATE VIEW credit_uses (
  organization_id, -- the organization whose list it stands in
  resource, -- reservations or inventory_requests
  id, -- the registry's id of it
  serialization, -- what names the credit in public
  project_id, -- the project that issued the credit
  vintage, -- year of the reduction; of a reservation the year that ends its serialization
  amount_micro, -- millionths of a tonne; null where the amount is finer or larger than that holds
  begun_at, -- when the registry says it was created
  ended_at -- when the registry says it last changed; where it says nothing, when the hold would have ended
) AS
SELECT organization_id, 'reservations', id, serialization, project_id, CASE WHEN serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(serialization, -4) END, amount_micro, created_at, coalesce(updated_at, reserved_to_at)
FROM reservations WHERE is_complete = 1 OR lower(state) = 'finished'
UNION ALL
SELECT organization_id, 'inventory_requests', id, serialization, project_id, vintage, amount_micro, created_at, updated_at
FROM inventory_requests
WHERE tx_id IS NOT NULL AND lower(action) IN ('retire', 'transfer_retire') AND coalesce(from_organization_id, organization_id) = organization_id;

DROP VIEW credit_moves;
-- What each credit was seen to rise or fall by between two reads, in the warehouse, in the inventory and held, since the first complete read of that list: what that showed is the opening balance, and rose nowhere. In and out of a place are not told by the registry: what came and went within one read is not seen.
CREATE VIEW credit_moves (
  number, -- number of the counter that the change took as it was committed
  learnt_at, -- when the answer that showed it had arrived; the registry may have changed earlier
  organization_id, -- the organization whose list it stood in
  place, -- warehouse, inventory or held; a hold that is over counts nothing
  credit_id, -- the registry's id of the credit
  part, -- which row of it: its inventory, or the id of the hold
  project_id, -- the project that issued the credit
  vintage, -- year of the reduction; of a hold the year that ends its serialization
  serialization, -- what names the credit in public
  before_micro, -- millionths of a tonne that stood there; null where the row is new or had no usable amount
  after_micro, -- millionths of a tonne that stand there since; null where the row is gone or has no usable amount
  moved_micro, -- after less before, null counted as nothing; null where that is too large
  type -- exPost (issued) or exAnte (expected)
) AS
SELECT n.version, n.valid_from, n.organization_id, 'warehouse', n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0)) AS INTEGER) END, n.type
FROM warehouse_credits_history AS n LEFT JOIN warehouse_credits_past AS p ON p.closed_version = n.version
JOIN resource_states AS s ON s.organization_id = n.organization_id AND s.resource = 'warehouse' AND n.valid_from > s.first_complete_at
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'warehouse', p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL, CASE WHEN abs((0 - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((0 - coalesce(p.amount_micro, 0)) AS INTEGER) END, p.type
FROM warehouse_credits_past AS p
JOIN resource_states AS s ON s.organization_id = p.organization_id AND s.resource = 'warehouse' AND p.valid_to > s.first_complete_at
WHERE NOT EXISTS (SELECT 1 FROM warehouse_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM warehouse_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'inventory', n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0)) AS INTEGER) END, n.type
FROM inventory_credits_history AS n LEFT JOIN inventory_credits_past AS p ON p.closed_version = n.version
JOIN resource_states AS s ON s.organization_id = n.organization_id AND s.resource = 'inventory' AND n.valid_from > s.first_complete_at
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'inventory', p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL, CASE WHEN abs((0 - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((0 - coalesce(p.amount_micro, 0)) AS INTEGER) END, p.type
FROM inventory_credits_past AS p
JOIN resource_states AS s ON s.organization_id = p.organization_id AND s.resource = 'inventory' AND p.valid_to > s.first_complete_at
WHERE NOT EXISTS (SELECT 1 FROM inventory_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM inventory_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'held', n.credit_id, n.id, n.project_id, CASE WHEN n.serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(n.serialization, -4) END, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END END, CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, CASE WHEN abs((coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0) - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0))) < 9000000000000000000 THEN CAST((coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0) - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)) AS INTEGER) END, n.type
FROM reservations_history AS n LEFT JOIN reservations_past AS p ON p.closed_version = n.version
JOIN resource_states AS s ON s.organization_id = n.organization_id AND s.resource = 'reservations' AND n.valid_from > s.first_complete_at
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'held', p.credit_id, p.id, p.project_id, CASE WHEN p.serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(p.serialization, -4) END, p.serialization,
  CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, NULL, CASE WHEN abs((0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0))) < 9000000000000000000 THEN CAST((0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)) AS INTEGER) END, p.type
FROM reservations_past AS p
JOIN resource_states AS s ON s.organization_id = p.organization_id AND s.resource = 'reservations' AND p.valid_to > s.first_complete_at
WHERE NOT EXISTS (SELECT 1 FROM reservations AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM reservations_past AS n WHERE n.version = p.closed_version);

DROP VIEW balance_credits;
-- Per credit and place: what stood there at the end of the list's first complete read, and what it was seen to rise and to fall by since, adds up to what is listed now, by the registry's own digits. Lists that were never read completely are left out.
CREATE VIEW balance_credits (
  organization_id, -- the organization whose list it stands in
  place, -- warehouse, inventory or held
  credit_id, -- the registry's id of the credit
  part, -- which row of it: its inventory, or the id of the hold
  moves, -- how often it was seen to move
  risen_micro, -- millionths of a tonne that it was seen to rise by; null where that is too large
  fallen_micro, -- millionths of a tonne that it was seen to fall by; null where that is too large
  listed_micro, -- millionths of a tonne that are listed now; null where that is too large
  ties, -- 1 where they add up, else 0
  type, -- exPost (issued) or exAnte (expected)
  opening_micro, -- millionths of a tonne that stood there when its list had first been read completely; null where that is too large
  opening_at -- when that was
) AS
WITH sides AS (
  SELECT organization_id, place, credit_id, part, max(coalesce(moved_micro, 0), 0) AS risen, max(0 - coalesce(moved_micro, 0), 0) AS fallen, 0 AS listed, 0 AS opening, type
  FROM credit_moves
  UNION ALL
  SELECT organization_id, 'warehouse', credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END, 0, type FROM warehouse_credits AS l
  WHERE EXISTS (SELECT 1 FROM resource_states AS s WHERE s.organization_id = l.organization_id AND s.resource = 'warehouse' AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, 'warehouse', h.credit_id, h.inventory_id, 0, 0, 0, coalesce(h.amount_micro, 0), h.type FROM warehouse_credits_history AS h
  JOIN resource_states AS s ON s.organization_id = h.organization_id AND s.resource = 'warehouse' AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
  UNION ALL
  SELECT organization_id, 'inventory', credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END, 0, type FROM inventory_credits AS l
  WHERE EXISTS (SELECT 1 FROM resource_states AS s WHERE s.organization_id = l.organization_id AND s.resource = 'inventory' AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, 'inventory', h.credit_id, h.inventory_id, 0, 0, 0, coalesce(h.amount_micro, 0), h.type FROM inventory_credits_history AS h
  JOIN resource_states AS s ON s.organization_id = h.organization_id AND s.resource = 'inventory' AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
  UNION ALL
  SELECT organization_id, 'held', credit_id, id, 0, 0, CASE WHEN coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END ELSE 0 END, 0, type FROM reservations AS r
  WHERE EXISTS (SELECT 1 FROM resource_states AS s WHERE s.organization_id = r.organization_id AND s.resource = 'reservations' AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, 'held', h.credit_id, h.id, 0, 0, 0, coalesce(CASE WHEN coalesce(h.is_complete, 0) = 0 AND lower(coalesce(h.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN h.amount_micro ELSE 0 END, 0), h.type FROM reservations_history AS h
  JOIN resource_states AS s ON s.organization_id = h.organization_id AND s.resource = 'reservations' AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
),
added AS (
  SELECT organization_id, place, credit_id, part, count(*) FILTER (WHERE risen <> 0 OR fallen <> 0) AS moves,
    (coalesce(sum(risen / 1000000), 0) * 1000000 + coalesce(sum(risen % 1000000), 0)) AS risen, (coalesce(sum(fallen / 1000000), 0) * 1000000 + coalesce(sum(fallen % 1000000), 0)) AS fallen, (coalesce(sum(listed / 1000000), 0) * 1000000 + coalesce(sum(listed % 1000000), 0)) AS listed, (coalesce(sum(opening / 1000000), 0) * 1000000 + coalesce(sum(opening % 1000000), 0)) AS opening, max(type) AS type
  FROM sides GROUP BY organization_id, place, credit_id, part
)
SELECT a.organization_id, a.place, a.credit_id, a.part, a.moves, CASE WHEN abs(risen) < 9000000000000000000 THEN CAST(risen AS INTEGER) END, CASE WHEN abs(fallen) < 9000000000000000000 THEN CAST(fallen AS INTEGER) END, CASE WHEN abs(listed) < 9000000000000000000 THEN CAST(listed AS INTEGER) END, CASE WHEN opening + risen - fallen = listed THEN 1 ELSE 0 END, a.type, CASE WHEN abs(opening) < 9000000000000000000 THEN CAST(opening AS INTEGER) END, s.first_complete_at
FROM added AS a JOIN resource_states AS s ON s.organization_id = a.organization_id AND s.resource = CASE a.place WHEN 'held' THEN 'reservations' ELSE a.place END;

DROP VIEW balance_projects;
-- Per project and vintage, without what is exAnte: warehouse, inventory and held together, of all organizations whose three lists were ever read completely, fell by at least what these organizations have retired of it since by their own reservations and inventory requests. What else they retired may be of credits that an organization gave that is not mirrored: it is named, and nothing has to fall for it. What was not listed anywhere when the period began counts by what it was seen to fall by.
CREATE VIEW balance_projects (
  project_id, -- the project that issued the credits
  project_name, -- its name, as it was sent with them
  vintage, -- year of the reduction
  begun_at, -- end of the last of the first complete reads: what was before is not known
  settled_at, -- start of the oldest last complete read of those lists: what was retired after it is not counted yet
  opening_micro, -- millionths of a tonne that stood there at the start
  closing_micro, -- millionths of a tonne that stand there now
  fallen_micro, -- millionths of a tonne that its rows were seen to fall by
  fall_micro, -- millionths of a tonne that it fell by, moves from one place to another left out
  retirements, -- how many retirements
  retired_micro, -- millionths of a tonne that they add up to
  ties, -- 1 where what it fell and rose by is as much as is explained, or more, 0 where it is not; null where a list has not been read since the last rise
  risen_micro, -- millionths of a tonne that warehouses and inventories were seen to rise by: from elsewhere, or from one another
  explained_micro, -- millionths of a tonne of what was retired that reservations and inventory requests of these organizations explain
  unexplained_micro -- millionths of a tonne of what was retired that they do not explain, and that did not go from these lists in all: it came from elsewhere
) AS
WITH stock AS (
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL AS held_to FROM warehouse_credits_history WHERE coalesce(type, '') <> 'exAnte'
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL AS held_to FROM inventory_credits_history WHERE coalesce(type, '') <> 'exAnte'
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, CASE WHEN serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(serialization, -4) END AS vintage, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM reservations_history AS r WHERE coalesce(type, '') <> 'exAnte' AND coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
),
judged AS (
  SELECT organization_id, max(first_complete_at) AS since, min(complete_at) AS settled_at FROM resource_states
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
amounts AS (
  SELECT p.project_id, p.vintage,
    CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END AS opening,
    CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) THEN s.amount_micro ELSE 0 END AS closing,
    CASE WHEN c.seen_at <= p.since AND s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) THEN s.amount_micro ELSE 0 END AS closing_known,
    0 AS fallen, 0 AS fallen_new, 0 AS retired, 0 AS retirements, 0 AS risen, 0 AS used, NULL AS rose_at
  FROM stock AS s JOIN judged AS j ON j.organization_id = s.organization_id
  JOIN places AS p ON p.project_id = s.project_id AND p.vintage = s.vintage JOIN credits AS c ON c.credit_id = s.credit_id
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, max(0 - coalesce(m.moved_micro, 0), 0),
    CASE WHEN c.seen_at > p.since THEN max(0 - coalesce(m.moved_micro, 0), 0) ELSE 0 END, 0, 0,
    CASE WHEN c.seen_at <= p.since AND m.place <> 'held' THEN max(coalesce(m.moved_micro, 0), 0) ELSE 0 END, 0,
    CASE WHEN m.moved_micro > 0 THEN m.learnt_at END
  FROM credit_moves AS m JOIN judged AS j ON j.organization_id = m.organization_id
  JOIN places AS p ON p.project_id = m.project_id AND p.vintage = m.vintage AND m.learnt_at > p.since JOIN credits AS c ON c.credit_id = m.credit_id
  WHERE coalesce(m.type, '') <> 'exAnte'
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, coalesce(r.amount_micro, 0), 1, 0, 0, NULL
  FROM retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  JOIN places AS p ON p.project_id = r.project_id AND p.vintage = r.vintage AND r.created_at > p.since AND r.created_at <= p.settled_at
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, 0, 0, 0, coalesce(u.amount_micro, 0), NULL
  FROM credit_uses AS u JOIN judged AS j ON j.organization_id = u.organization_id
  JOIN places AS p ON p.project_id = u.project_id AND p.vintage = u.vintage AND u.begun_at > p.since AND u.ended_at <= p.settled_at
),
added AS (
  SELECT project_id, vintage, (coalesce(sum(opening / 1000000), 0) * 1000000 + coalesce(sum(opening % 1000000), 0)) AS opening, (coalesce(sum(closing / 1000000), 0) * 1000000 + coalesce(sum(closing % 1000000), 0)) AS closing, (coalesce(sum(closing_known / 1000000), 0) * 1000000 + coalesce(sum(closing_known % 1000000), 0)) AS closing_known,
    (coalesce(sum(fallen / 1000000), 0) * 1000000 + coalesce(sum(fallen % 1000000), 0)) AS fallen, (coalesce(sum(fallen_new / 1000000), 0) * 1000000 + coalesce(sum(fallen_new % 1000000), 0)) AS fallen_new, (coalesce(sum(retired / 1000000), 0) * 1000000 + coalesce(sum(retired % 1000000), 0)) AS retired, (coalesce(sum(risen / 1000000), 0) * 1000000 + coalesce(sum(risen % 1000000), 0)) AS risen, (coalesce(sum(used / 1000000), 0) * 1000000 + coalesce(sum(used % 1000000), 0)) AS used, sum(retirements) AS retirements, max(rose_at) AS rose_at
  FROM amounts GROUP BY project_id, vintage
),
told AS (
  SELECT project_id, vintage, opening, closing, fallen, opening - closing_known + fallen_new AS fall, risen, retired, retirements,
    max(min(retired, used), 0) AS explained, rose_at
  FROM added
)
SELECT a.project_id, p.project_name, a.vintage, p.since, p.settled_at, CASE WHEN abs(a.opening) < 9000000000000000000 THEN CAST(a.opening AS INTEGER) END, CASE WHEN abs(a.closing) < 9000000000000000000 THEN CAST(a.closing AS INTEGER) END, CASE WHEN abs(a.fallen) < 9000000000000000000 THEN CAST(a.fallen AS INTEGER) END,
  CASE WHEN abs(a.fall) < 9000000000000000000 THEN CAST(a.fall AS INTEGER) END, a.retirements, CASE WHEN abs(a.retired) < 9000000000000000000 THEN CAST(a.retired AS INTEGER) END,
  CASE WHEN a.fall + a.risen >= a.explained OR a.explained <= 0 THEN 1 WHEN a.rose_at >= p.settled_at THEN NULL ELSE 0 END,
  CASE WHEN abs(a.risen) < 9000000000000000000 THEN CAST(a.risen AS INTEGER) END, CASE WHEN abs(a.explained) < 9000000000000000000 THEN CAST(a.explained AS INTEGER) END, CASE WHEN abs(max(a.retired - max(a.explained, a.fall), 0)) < 9000000000000000000 THEN CAST(max(a.retired - max(a.explained, a.fall), 0) AS INTEGER) END
FROM told AS a JOIN places AS p ON p.project_id = a.project_id AND p.vintage = a.vintage;

DROP VIEW credit_findings;
-- What cannot be right in what the registry says of credits, a row each. An amount below zero; a serialization of issued credits that stands for two of them; what reservations and inventory requests have retired since the first reads and is listed as before; a hold that a complete read an hour after its end still showed with the state of one that stands. Every row of the lists is looked at.
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
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL AS held_to FROM warehouse_credits_history WHERE coalesce(type, '') <> 'exAnte' AND lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL AS held_to FROM inventory_credits_history WHERE coalesce(type, '') <> 'exAnte' AND lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM reservations_history WHERE coalesce(type, '') <> 'exAnte' AND lower(serialization) IN (SELECT serial FROM retired) AND coalesce(is_complete, 0) = 0 AND lower(coalesce(state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
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
used AS (
  SELECT p.serial, (coalesce(sum(u.amount_micro / 1000000), 0) * 1000000 + coalesce(sum(u.amount_micro % 1000000), 0)) AS micro
  FROM credit_uses AS u JOIN serials AS p ON p.serial = lower(u.serialization) AND u.begun_at > p.since AND u.ended_at <= p.settled_at GROUP BY p.serial
),
rises AS (
  SELECT p.serial, (coalesce(sum(m.moved_micro / 1000000), 0) * 1000000 + coalesce(sum(m.moved_micro % 1000000), 0)) AS micro
  FROM credit_moves AS m JOIN serials AS p ON p.serial = lower(m.serialization) AND m.learnt_at > p.since WHERE coalesce(m.type, '') <> 'exAnte' AND m.place <> 'held' AND m.moved_micro > 0 GROUP BY p.serial
),
listed AS (
  SELECT p.serial, p.since, p.settled_at FROM serials AS p JOIN stood AS s ON s.serial = p.serial JOIN taken AS x ON x.serial = p.serial
  JOIN used AS u ON u.serial = p.serial LEFT JOIN rises AS e ON e.serial = p.serial
  WHERE s.seen_at <= p.since AND min(x.micro, u.micro) > 0 AND s.opening - s.closing + coalesce(e.micro, 0) < min(x.micro, u.micro) AND (s.moved_at IS NULL OR s.moved_at < p.settled_at)
)
SELECT 'negative_amount', organization_id, resource, id, serialization, amount_exact, 'its amount is below zero'
FROM amounts WHERE amount < 0 OR fault = 'negative'
UNION ALL
SELECT 'serialization_twice', i.organization_id, i.resource, i.credit_id, i.serialization, i.amount_exact,
  'its serialization stands for credit ' || CASE WHEN i.credit_id = t.one THEN t.other ELSE t.one END || ' too'
FROM issued AS i JOIN twice AS t ON t.serial = i.serial
UNION ALL
SELECT 'listed_and_retired', r.organization_id, 'retirements', r.id, r.serialization, r.amount_exact,
  'less of its serialization has gone from the lists than reservations and requests have retired of it'
FROM retired AS r JOIN listed AS l ON l.serial = r.serial AND r.created_at > l.since AND r.created_at <= l.settled_at
WHERE EXISTS (SELECT 1 FROM credit_uses AS u WHERE lower(u.serialization) = r.serial AND u.amount_micro = r.amount_micro AND u.begun_at > l.since AND u.begun_at <= r.created_at)
UNION ALL
SELECT 'hold_outlived', r.organization_id, 'reservations', r.id, r.serialization, r.amount_exact,
  'it ended at ' || r.reserved_to_at || ' and is listed as ' || r.state
FROM reservations AS r JOIN resource_states AS s ON s.organization_id = r.organization_id AND s.resource = 'reservations'
WHERE coalesce(r.is_complete, 0) = 0 AND lower(r.state) NOT IN ('finished', 'cancelled', 'expired')
  AND s.complete_at >= strftime('%Y-%m-%dT%H:%M:%fZ', r.reserved_to_at, '+1 hour');
