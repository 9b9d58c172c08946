-- What each credit was seen to rise or fall by between two reads, in the warehouse, in the inventory and held. In and out of a place are not told by the registry: what came and went within one read is not seen.
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
  moved_micro -- after less before, null counted as nothing; null where that is too large
) AS
SELECT n.version, n.valid_from, n.organization_id, 'warehouse', n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0)) AS INTEGER) END
FROM warehouse_credits_history AS n LEFT JOIN warehouse_credits_past AS p ON p.closed_version = n.version
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'warehouse', p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL, CASE WHEN abs((0 - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((0 - coalesce(p.amount_micro, 0)) AS INTEGER) END
FROM warehouse_credits_past AS p
WHERE NOT EXISTS (SELECT 1 FROM warehouse_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM warehouse_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'inventory', n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0)) AS INTEGER) END
FROM inventory_credits_history AS n LEFT JOIN inventory_credits_past AS p ON p.closed_version = n.version
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'inventory', p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL, CASE WHEN abs((0 - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((0 - coalesce(p.amount_micro, 0)) AS INTEGER) END
FROM inventory_credits_past AS p
WHERE NOT EXISTS (SELECT 1 FROM inventory_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM inventory_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'held', n.credit_id, n.id, n.project_id, CASE WHEN n.serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(n.serialization, -4) END, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END END, CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, CASE WHEN abs((coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0) - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0))) < 9000000000000000000 THEN CAST((coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0) - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)) AS INTEGER) END
FROM reservations_history AS n LEFT JOIN reservations_past AS p ON p.closed_version = n.version
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'held', p.credit_id, p.id, p.project_id, CASE WHEN p.serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(p.serialization, -4) END, p.serialization,
  CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, NULL, CASE WHEN abs((0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0))) < 9000000000000000000 THEN CAST((0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)) AS INTEGER) END
FROM reservations_past AS p
WHERE NOT EXISTS (SELECT 1 FROM reservations AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM reservations_past AS n WHERE n.version = p.closed_version);

-- Retirements added up in three ways: by month and by beneficiary as the sums that are kept with every write say it, and by what became of their certificates as the counters say it. Each must be what the rows themselves add up to.
CREATE VIEW balance_retirements (
  organization_id, -- who retired
  reckoning, -- month, beneficiary or certificate
  value, -- the month, the beneficiary, or stored, pending, unclaimed and missing; '' where there is none
  rows, -- how many retirements are listed so
  amount_micro, -- millionths of a tonne that they add up to; null where that is too large
  counted_rows, -- how many there are by what is kept beside them
  counted_micro, -- millionths of a tonne by what is kept beside them; of certificates no amount is kept
  ties -- 1 where both sides are the same, else 0
) AS
WITH listed AS (
  SELECT organization_id, 'month' AS reckoning, coalesce(substr(created_at, 1, 7), '') AS value, amount_micro FROM retirements
  UNION ALL
  SELECT organization_id, 'beneficiary', coalesce(beneficiary, ''), amount_micro FROM retirements
),
certified AS (
  SELECT r.organization_id, CASE
      WHEN c.state = 'stored' THEN 'stored'
      WHEN c.state IS NULL AND r.version <= (SELECT retirement_version FROM certificate_mark) THEN 'missing'
      WHEN coalesce(r.beneficiary, '') = '' THEN 'unclaimed'
      ELSE 'pending'
    END AS value, r.amount_micro, c.state
  FROM retirements AS r LEFT JOIN certificates AS c ON c.organization_id = r.organization_id AND c.retirement_id = r.id
),
sides AS (
  SELECT organization_id, reckoning, value, count(*) AS rows, (coalesce(sum(amount_micro / 1000000), 0) * 1000000 + coalesce(sum(amount_micro % 1000000), 0)) AS micro, 0 AS counted, 0 AS counted_micro
  FROM listed GROUP BY organization_id, reckoning, value
  UNION ALL
  SELECT organization_id, kind, value, 0, 0, rows, tonnes * 1000000 + micro
  FROM retirement_sums WHERE rows <> 0
  UNION ALL
  SELECT organization_id, 'certificate', value, count(*), (coalesce(sum(amount_micro / 1000000), 0) * 1000000 + coalesce(sum(amount_micro % 1000000), 0)),
    count(*) FILTER (WHERE value <> 'stored' AND state IS NULL AND value <> 'missing'), (coalesce(sum(amount_micro / 1000000), 0) * 1000000 + coalesce(sum(amount_micro % 1000000), 0))
  FROM certified GROUP BY organization_id, value
  UNION ALL
  SELECT organization_id, 'certificate', 'stored', 0, 0, certificates, 0
  FROM certificate_sums WHERE state = 'stored'
  UNION ALL
  SELECT organization_id, 'certificate', 'unclaimed', 0, 0, count(*), 0
  FROM certified WHERE value = 'unclaimed' AND state IS NOT NULL GROUP BY organization_id
  UNION ALL
  SELECT s.organization_id, 'certificate', 'pending', 0, 0,
    s.certificates - (SELECT count(*) FROM certified AS c WHERE c.organization_id = s.organization_id AND c.value = 'unclaimed' AND c.state IS NOT NULL), 0
  FROM (SELECT organization_id, sum(certificates) AS certificates FROM certificate_sums WHERE state <> 'stored' GROUP BY organization_id) AS s
),
added AS (
  SELECT organization_id, reckoning, value, sum(rows) AS rows, sum(micro) AS micro,
    sum(counted) AS counted, sum(counted_micro) AS counted_micro
  FROM sides GROUP BY organization_id, reckoning, value
)
SELECT organization_id, reckoning, value, rows, CASE WHEN abs(micro) < 9000000000000000000 THEN CAST(micro AS INTEGER) END, counted, CASE WHEN abs(counted_micro) < 9000000000000000000 THEN CAST(counted_micro AS INTEGER) END, CASE WHEN rows = counted AND micro = counted_micro THEN 1 ELSE 0 END
FROM added WHERE rows <> 0 OR counted <> 0;

-- Per credit and place: what it was seen to rise and to fall by since its first read adds up to what is listed now, by the registry's own digits.
CREATE VIEW balance_credits (
  organization_id, -- the organization whose list it stands in
  place, -- warehouse, inventory or held
  credit_id, -- the registry's id of the credit
  part, -- which row of it: its inventory, or the id of the hold
  moves, -- how often it was seen to move
  risen_micro, -- millionths of a tonne that it was seen to rise by; null where that is too large
  fallen_micro, -- millionths of a tonne that it was seen to fall by; null where that is too large
  listed_micro, -- millionths of a tonne that are listed now; null where that is too large
  ties -- 1 where they add up, else 0
) AS
WITH sides AS (
  SELECT organization_id, place, credit_id, part, max(coalesce(moved_micro, 0), 0) AS risen, max(0 - coalesce(moved_micro, 0), 0) AS fallen, 0 AS listed, number
  FROM credit_moves
  UNION ALL
  SELECT organization_id, 'warehouse', credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END, version FROM warehouse_credits
  UNION ALL
  SELECT organization_id, 'inventory', credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END, version FROM inventory_credits
  UNION ALL
  SELECT organization_id, 'held', credit_id, id, 0, 0, CASE WHEN coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END ELSE 0 END, version FROM reservations AS r
),
added AS (
  SELECT organization_id, place, credit_id, part, count(*) FILTER (WHERE risen <> 0 OR fallen <> 0) AS moves,
    (coalesce(sum(risen / 1000000), 0) * 1000000 + coalesce(sum(risen % 1000000), 0)) AS risen, (coalesce(sum(fallen / 1000000), 0) * 1000000 + coalesce(sum(fallen % 1000000), 0)) AS fallen, (coalesce(sum(listed / 1000000), 0) * 1000000 + coalesce(sum(listed % 1000000), 0)) AS listed
  FROM sides GROUP BY organization_id, place, credit_id, part
)
SELECT organization_id, place, credit_id, part, moves, CASE WHEN abs(risen) < 9000000000000000000 THEN CAST(risen AS INTEGER) END, CASE WHEN abs(fallen) < 9000000000000000000 THEN CAST(fallen AS INTEGER) END, CASE WHEN abs(listed) < 9000000000000000000 THEN CAST(listed AS INTEGER) END, CASE WHEN risen - fallen = listed THEN 1 ELSE 0 END
FROM added;

-- Per project and vintage: warehouse, inventory and held together, of all organizations whose three lists were ever read completely, fell by at least what these organizations have retired of it since. What was not listed anywhere when the period began counts by what it was seen to fall by. What an organization that is not mirrored gave, or the registry issued more of, makes it less: such a row is named, and is no fault of the mirror.
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
  ties -- 1 where it fell by as much or more, 0 where it did not; null where a list has not been read since the last rise
) AS
WITH stock AS (
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL AS held_to FROM warehouse_credits_history
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL AS held_to FROM inventory_credits_history
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, CASE WHEN serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(serialization, -4) END AS vintage, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM reservations_history AS r WHERE coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
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
    0 AS fallen, 0 AS fallen_new, 0 AS retired, 0 AS retirements, NULL AS rose_at
  FROM stock AS s JOIN judged AS j ON j.organization_id = s.organization_id
  JOIN places AS p ON p.project_id = s.project_id AND p.vintage = s.vintage JOIN credits AS c ON c.credit_id = s.credit_id
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, max(0 - coalesce(m.moved_micro, 0), 0),
    CASE WHEN c.seen_at > p.since THEN max(0 - coalesce(m.moved_micro, 0), 0) ELSE 0 END, 0, 0,
    CASE WHEN m.moved_micro > 0 THEN m.learnt_at END
  FROM credit_moves AS m JOIN judged AS j ON j.organization_id = m.organization_id
  JOIN places AS p ON p.project_id = m.project_id AND p.vintage = m.vintage AND m.learnt_at > p.since JOIN credits AS c ON c.credit_id = m.credit_id
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, coalesce(r.amount_micro, 0), 1, NULL
  FROM retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  JOIN places AS p ON p.project_id = r.project_id AND p.vintage = r.vintage AND r.created_at > p.since AND r.created_at <= p.settled_at
),
added AS (
  SELECT project_id, vintage, (coalesce(sum(opening / 1000000), 0) * 1000000 + coalesce(sum(opening % 1000000), 0)) AS opening, (coalesce(sum(closing / 1000000), 0) * 1000000 + coalesce(sum(closing % 1000000), 0)) AS closing, (coalesce(sum(closing_known / 1000000), 0) * 1000000 + coalesce(sum(closing_known % 1000000), 0)) AS closing_known,
    (coalesce(sum(fallen / 1000000), 0) * 1000000 + coalesce(sum(fallen % 1000000), 0)) AS fallen, (coalesce(sum(fallen_new / 1000000), 0) * 1000000 + coalesce(sum(fallen_new % 1000000), 0)) AS fallen_new, (coalesce(sum(retired / 1000000), 0) * 1000000 + coalesce(sum(retired % 1000000), 0)) AS retired, sum(retirements) AS retirements, max(rose_at) AS rose_at
  FROM amounts GROUP BY project_id, vintage
)
SELECT a.project_id, p.project_name, a.vintage, p.since, p.settled_at, CASE WHEN abs(a.opening) < 9000000000000000000 THEN CAST(a.opening AS INTEGER) END, CASE WHEN abs(a.closing) < 9000000000000000000 THEN CAST(a.closing AS INTEGER) END, CASE WHEN abs(a.fallen) < 9000000000000000000 THEN CAST(a.fallen AS INTEGER) END,
  CASE WHEN abs((a.opening - a.closing_known + a.fallen_new)) < 9000000000000000000 THEN CAST((a.opening - a.closing_known + a.fallen_new) AS INTEGER) END, a.retirements, CASE WHEN abs(a.retired) < 9000000000000000000 THEN CAST(a.retired AS INTEGER) END,
  CASE WHEN a.retired <= 0 OR a.opening - a.closing_known + a.fallen_new >= a.retired THEN 1 WHEN a.rose_at >= p.settled_at THEN NULL ELSE 0 END
FROM added AS a JOIN places AS p ON p.project_id = a.project_id AND p.vintage = a.vintage;

-- A serialization of issued credits stands for one credit, in whatever list and case. It names a token and no range: its length tells no amount.
CREATE VIEW balance_serials (
  serialization, -- what names the credit in public, in lower case
  credit_id, -- the credit that it stands for; the first of several
  other_credit_id, -- the last of several; the same where there is one
  rows, -- how many rows name it
  ties -- 1 where it stands for one credit, else 0
) AS
WITH named AS (
  SELECT lower(serialization) AS serialization, credit_id FROM warehouse_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT lower(serialization), credit_id FROM inventory_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT lower(serialization), credit_id FROM reservations WHERE type = 'exPost' AND serialization IS NOT NULL
)
SELECT serialization, min(credit_id), max(credit_id), count(*), CASE WHEN min(credit_id) = max(credit_id) THEN 1 ELSE 0 END
FROM named GROUP BY serialization;
