CREATE VIEW mirror.credit_moves (number, learnt_at, organization_id, place, credit_id, part, project_id, vintage, serialization, before_micro, after_micro, moved_micro) AS
SELECT n.version, n.valid_from, n.organization_id, 'warehouse'::text COLLATE "C", n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0)::numeric - coalesce(p.amount_micro, 0)::numeric)) < 9000000000000000000 THEN (coalesce(n.amount_micro, 0)::numeric - coalesce(p.amount_micro, 0)::numeric)::bigint END
FROM mirror.warehouse_credits_history AS n LEFT JOIN mirror.warehouse_credits_past AS p ON p.closed_version = n.version
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'warehouse'::text COLLATE "C", p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL::bigint, CASE WHEN abs((0 - coalesce(p.amount_micro, 0)::numeric)) < 9000000000000000000 THEN (0 - coalesce(p.amount_micro, 0)::numeric)::bigint END
FROM mirror.warehouse_credits_past AS p
WHERE NOT EXISTS (SELECT 1 FROM mirror.warehouse_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM mirror.warehouse_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'inventory'::text COLLATE "C", n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0)::numeric - coalesce(p.amount_micro, 0)::numeric)) < 9000000000000000000 THEN (coalesce(n.amount_micro, 0)::numeric - coalesce(p.amount_micro, 0)::numeric)::bigint END
FROM mirror.inventory_credits_history AS n LEFT JOIN mirror.inventory_credits_past AS p ON p.closed_version = n.version
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'inventory'::text COLLATE "C", p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL::bigint, CASE WHEN abs((0 - coalesce(p.amount_micro, 0)::numeric)) < 9000000000000000000 THEN (0 - coalesce(p.amount_micro, 0)::numeric)::bigint END
FROM mirror.inventory_credits_past AS p
WHERE NOT EXISTS (SELECT 1 FROM mirror.inventory_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM mirror.inventory_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'held'::text COLLATE "C", n.credit_id, n.id, n.project_id, substring(n.serialization from '-([0-9]{4})$'), n.serialization,
  CASE WHEN p.version IS NOT NULL THEN CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END END, CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, CASE WHEN abs((coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0)::numeric - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)::numeric)) < 9000000000000000000 THEN (coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0)::numeric - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)::numeric)::bigint END
FROM mirror.reservations_history AS n LEFT JOIN mirror.reservations_past AS p ON p.closed_version = n.version
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'held'::text COLLATE "C", p.credit_id, p.id, p.project_id, substring(p.serialization from '-([0-9]{4})$'), p.serialization,
  CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, NULL::bigint, CASE WHEN abs((0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)::numeric)) < 9000000000000000000 THEN (0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)::numeric)::bigint END
FROM mirror.reservations_past AS p
WHERE NOT EXISTS (SELECT 1 FROM mirror.reservations AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM mirror.reservations_past AS n WHERE n.version = p.closed_version);
COMMENT ON VIEW mirror.credit_moves IS 'What each credit was seen to rise or fall by between two reads, in the warehouse, in the inventory and held. In and out of a place are not told by the registry: what came and went within one read is not seen.';
COMMENT ON COLUMN mirror.credit_moves.number IS 'number of the counter that the change took as it was committed';
COMMENT ON COLUMN mirror.credit_moves.learnt_at IS 'when the answer that showed it had arrived; the registry may have changed earlier';
COMMENT ON COLUMN mirror.credit_moves.organization_id IS 'the organization whose list it stood in';
COMMENT ON COLUMN mirror.credit_moves.place IS 'warehouse, inventory or held; a hold that is over counts nothing';
COMMENT ON COLUMN mirror.credit_moves.credit_id IS 'the registry''s id of the credit';
COMMENT ON COLUMN mirror.credit_moves.part IS 'which row of it: its inventory, or the id of the hold';
COMMENT ON COLUMN mirror.credit_moves.project_id IS 'the project that issued the credit';
COMMENT ON COLUMN mirror.credit_moves.vintage IS 'year of the reduction; of a hold the year that ends its serialization';
COMMENT ON COLUMN mirror.credit_moves.serialization IS 'what names the credit in public';
COMMENT ON COLUMN mirror.credit_moves.before_micro IS 'millionths of a tonne that stood there; null where the row is new or had no usable amount';
COMMENT ON COLUMN mirror.credit_moves.after_micro IS 'millionths of a tonne that stand there since; null where the row is gone or has no usable amount';
COMMENT ON COLUMN mirror.credit_moves.moved_micro IS 'after less before, null counted as nothing; null where that is too large';

CREATE VIEW mirror.balance_retirements (organization_id, reckoning, value, rows, amount_micro, counted_rows, counted_micro, ties) AS
WITH listed AS (
  SELECT organization_id, 'month'::text COLLATE "C" AS reckoning, coalesce((CASE WHEN created_at < '0001-01-01 00:00:00+00' THEN '0000' ELSE to_char(created_at AT TIME ZONE 'UTC', 'YYYY') END || to_char(created_at AT TIME ZONE 'UTC', '-MM')), '') AS value, amount_micro FROM mirror.retirements
  UNION ALL
  SELECT organization_id, 'beneficiary'::text COLLATE "C", coalesce(beneficiary, ''), amount_micro FROM mirror.retirements
),
certified AS (
  SELECT r.organization_id, CASE
      WHEN c.state = 'stored' THEN 'stored'
      WHEN c.state IS NULL AND r.version <= (SELECT retirement_version FROM mirror.certificate_mark) THEN 'missing'
      WHEN coalesce(r.beneficiary, '') = '' THEN 'unclaimed'
      ELSE 'pending'
    END COLLATE "C" AS value, r.amount_micro, c.state
  FROM mirror.retirements AS r LEFT JOIN mirror.certificates AS c ON c.organization_id = r.organization_id AND c.retirement_id = r.id
),
sides AS (
  SELECT organization_id, reckoning, value, count(*) AS rows, coalesce(sum(amount_micro), 0) AS micro, 0 AS counted, 0 AS counted_micro
  FROM listed GROUP BY organization_id, reckoning, value
  UNION ALL
  SELECT organization_id, kind, value, 0, 0, rows, tonnes * 1000000::numeric + micro
  FROM mirror.retirement_sums WHERE rows <> 0
  UNION ALL
  SELECT organization_id, 'certificate'::text COLLATE "C", value, count(*), coalesce(sum(amount_micro), 0),
    count(*) FILTER (WHERE value <> 'stored' AND state IS NULL AND value <> 'missing'), coalesce(sum(amount_micro), 0)
  FROM certified GROUP BY organization_id, value
  UNION ALL
  SELECT organization_id, 'certificate'::text COLLATE "C", 'stored'::text COLLATE "C", 0, 0, certificates, 0
  FROM mirror.certificate_sums WHERE state = 'stored'
  UNION ALL
  SELECT organization_id, 'certificate'::text COLLATE "C", 'unclaimed'::text COLLATE "C", 0, 0, count(*), 0
  FROM certified WHERE value = 'unclaimed' AND state IS NOT NULL GROUP BY organization_id
  UNION ALL
  SELECT s.organization_id, 'certificate'::text COLLATE "C", 'pending'::text COLLATE "C", 0, 0,
    s.certificates - (SELECT count(*) FROM certified AS c WHERE c.organization_id = s.organization_id AND c.value = 'unclaimed' AND c.state IS NOT NULL), 0
  FROM (SELECT organization_id, sum(certificates) AS certificates FROM mirror.certificate_sums WHERE state <> 'stored' GROUP BY organization_id) AS s
),
added AS (
  SELECT organization_id, reckoning, value, sum(rows)::bigint AS rows, sum(micro) AS micro,
    sum(counted)::bigint AS counted, sum(counted_micro) AS counted_micro
  FROM sides GROUP BY organization_id, reckoning, value
)
SELECT organization_id, reckoning, value, rows, CASE WHEN abs(micro) < 9000000000000000000 THEN micro::bigint END, counted, CASE WHEN abs(counted_micro) < 9000000000000000000 THEN counted_micro::bigint END, CASE WHEN rows = counted AND micro = counted_micro THEN 1 ELSE 0 END::bigint
FROM added WHERE rows <> 0 OR counted <> 0;
COMMENT ON VIEW mirror.balance_retirements IS 'Retirements added up in three ways: by month and by beneficiary as the sums that are kept with every write say it, and by what became of their certificates as the counters say it. Each must be what the rows themselves add up to.';
COMMENT ON COLUMN mirror.balance_retirements.organization_id IS 'who retired';
COMMENT ON COLUMN mirror.balance_retirements.reckoning IS 'month, beneficiary or certificate';
COMMENT ON COLUMN mirror.balance_retirements.value IS 'the month, the beneficiary, or stored, pending, unclaimed and missing; '''' where there is none';
COMMENT ON COLUMN mirror.balance_retirements.rows IS 'how many retirements are listed so';
COMMENT ON COLUMN mirror.balance_retirements.amount_micro IS 'millionths of a tonne that they add up to; null where that is too large';
COMMENT ON COLUMN mirror.balance_retirements.counted_rows IS 'how many there are by what is kept beside them';
COMMENT ON COLUMN mirror.balance_retirements.counted_micro IS 'millionths of a tonne by what is kept beside them; of certificates no amount is kept';
COMMENT ON COLUMN mirror.balance_retirements.ties IS '1 where both sides are the same, else 0';

CREATE VIEW mirror.balance_credits (organization_id, place, credit_id, part, moves, risen_micro, fallen_micro, listed_micro, ties) AS
WITH sides AS (
  SELECT organization_id, place, credit_id, part, greatest(coalesce(moved_micro, 0), 0) AS risen, greatest(0 - coalesce(moved_micro, 0), 0) AS fallen, 0 AS listed, number
  FROM mirror.credit_moves
  UNION ALL
  SELECT organization_id, 'warehouse'::text COLLATE "C", credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact ~ '^[0-9]{1,13}([.][0-9]*)?$' THEN (amount_exact::numeric * 1000000)::bigint ELSE amount_micro END, version FROM mirror.warehouse_credits
  UNION ALL
  SELECT organization_id, 'inventory'::text COLLATE "C", credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact ~ '^[0-9]{1,13}([.][0-9]*)?$' THEN (amount_exact::numeric * 1000000)::bigint ELSE amount_micro END, version FROM mirror.inventory_credits
  UNION ALL
  SELECT organization_id, 'held'::text COLLATE "C", credit_id, id, 0, 0, CASE WHEN coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN CASE WHEN amount_micro IS NOT NULL AND amount_exact ~ '^[0-9]{1,13}([.][0-9]*)?$' THEN (amount_exact::numeric * 1000000)::bigint ELSE amount_micro END ELSE 0 END, version FROM mirror.reservations AS r
),
added AS (
  SELECT organization_id, place, credit_id, part, count(*) FILTER (WHERE risen <> 0 OR fallen <> 0) AS moves,
    coalesce(sum(risen), 0) AS risen, coalesce(sum(fallen), 0) AS fallen, coalesce(sum(listed), 0) AS listed
  FROM sides GROUP BY organization_id, place, credit_id, part
)
SELECT organization_id, place, credit_id, part, moves, CASE WHEN abs(risen) < 9000000000000000000 THEN risen::bigint END, CASE WHEN abs(fallen) < 9000000000000000000 THEN fallen::bigint END, CASE WHEN abs(listed) < 9000000000000000000 THEN listed::bigint END, CASE WHEN risen - fallen = listed THEN 1 ELSE 0 END::bigint
FROM added;
COMMENT ON VIEW mirror.balance_credits IS 'Per credit and place: what it was seen to rise and to fall by since its first read adds up to what is listed now, by the registry''s own digits.';
COMMENT ON COLUMN mirror.balance_credits.organization_id IS 'the organization whose list it stands in';
COMMENT ON COLUMN mirror.balance_credits.place IS 'warehouse, inventory or held';
COMMENT ON COLUMN mirror.balance_credits.credit_id IS 'the registry''s id of the credit';
COMMENT ON COLUMN mirror.balance_credits.part IS 'which row of it: its inventory, or the id of the hold';
COMMENT ON COLUMN mirror.balance_credits.moves IS 'how often it was seen to move';
COMMENT ON COLUMN mirror.balance_credits.risen_micro IS 'millionths of a tonne that it was seen to rise by; null where that is too large';
COMMENT ON COLUMN mirror.balance_credits.fallen_micro IS 'millionths of a tonne that it was seen to fall by; null where that is too large';
COMMENT ON COLUMN mirror.balance_credits.listed_micro IS 'millionths of a tonne that are listed now; null where that is too large';
COMMENT ON COLUMN mirror.balance_credits.ties IS '1 where they add up, else 0';

CREATE VIEW mirror.balance_projects (project_id, project_name, vintage, begun_at, settled_at, opening_micro, closing_micro, fallen_micro, fall_micro, retirements, retired_micro, ties) AS
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
amounts AS (
  SELECT p.project_id, p.vintage,
    CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END AS opening,
    CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > now()) THEN s.amount_micro ELSE 0 END AS closing,
    CASE WHEN c.seen_at <= p.since AND s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > now()) THEN s.amount_micro ELSE 0 END AS closing_known,
    0 AS fallen, 0 AS fallen_new, 0 AS retired, 0 AS retirements, NULL::timestamptz(3) AS rose_at
  FROM stock AS s JOIN judged AS j ON j.organization_id = s.organization_id
  JOIN places AS p ON p.project_id = s.project_id AND p.vintage = s.vintage JOIN credits AS c ON c.credit_id = s.credit_id
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, greatest(0 - coalesce(m.moved_micro, 0), 0),
    CASE WHEN c.seen_at > p.since THEN greatest(0 - coalesce(m.moved_micro, 0), 0) ELSE 0 END, 0, 0,
    CASE WHEN m.moved_micro > 0 THEN m.learnt_at END
  FROM mirror.credit_moves AS m JOIN judged AS j ON j.organization_id = m.organization_id
  JOIN places AS p ON p.project_id = m.project_id AND p.vintage = m.vintage AND m.learnt_at > p.since JOIN credits AS c ON c.credit_id = m.credit_id
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
COMMENT ON VIEW mirror.balance_projects IS 'Per project and vintage: warehouse, inventory and held together, of all organizations whose three lists were ever read completely, fell by at least what these organizations have retired of it since. What was not listed anywhere when the period began counts by what it was seen to fall by. What an organization that is not mirrored gave, or the registry issued more of, makes it less: such a row is named, and is no fault of the mirror.';
COMMENT ON COLUMN mirror.balance_projects.project_id IS 'the project that issued the credits';
COMMENT ON COLUMN mirror.balance_projects.project_name IS 'its name, as it was sent with them';
COMMENT ON COLUMN mirror.balance_projects.vintage IS 'year of the reduction';
COMMENT ON COLUMN mirror.balance_projects.begun_at IS 'end of the last of the first complete reads: what was before is not known';
COMMENT ON COLUMN mirror.balance_projects.settled_at IS 'start of the oldest last complete read of those lists: what was retired after it is not counted yet';
COMMENT ON COLUMN mirror.balance_projects.opening_micro IS 'millionths of a tonne that stood there at the start';
COMMENT ON COLUMN mirror.balance_projects.closing_micro IS 'millionths of a tonne that stand there now';
COMMENT ON COLUMN mirror.balance_projects.fallen_micro IS 'millionths of a tonne that its rows were seen to fall by';
COMMENT ON COLUMN mirror.balance_projects.fall_micro IS 'millionths of a tonne that it fell by, moves from one place to another left out';
COMMENT ON COLUMN mirror.balance_projects.retirements IS 'how many retirements';
COMMENT ON COLUMN mirror.balance_projects.retired_micro IS 'millionths of a tonne that they add up to';
COMMENT ON COLUMN mirror.balance_projects.ties IS '1 where it fell by as much or more, 0 where it did not; null where a list has not been read since the last rise';

CREATE VIEW mirror.balance_serials (serialization, credit_id, other_credit_id, rows, ties) AS
WITH named AS (
  SELECT lower(serialization) AS serialization, credit_id FROM mirror.warehouse_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT lower(serialization), credit_id FROM mirror.inventory_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT lower(serialization), credit_id FROM mirror.reservations WHERE type = 'exPost' AND serialization IS NOT NULL
)
SELECT serialization, min(credit_id), max(credit_id), count(*), CASE WHEN min(credit_id) = max(credit_id) THEN 1 ELSE 0 END::bigint
FROM named GROUP BY serialization;
COMMENT ON VIEW mirror.balance_serials IS 'A serialization of issued credits stands for one credit, in whatever list and case. It names a token and no range: its length tells no amount.';
COMMENT ON COLUMN mirror.balance_serials.serialization IS 'what names the credit in public, in lower case';
COMMENT ON COLUMN mirror.balance_serials.credit_id IS 'the credit that it stands for; the first of several';
COMMENT ON COLUMN mirror.balance_serials.other_credit_id IS 'the last of several; the same where there is one';
COMMENT ON COLUMN mirror.balance_serials.rows IS 'how many rows name it';
COMMENT ON COLUMN mirror.balance_serials.ties IS '1 where it stands for one credit, else 0';
