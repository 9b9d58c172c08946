import { oneIf, SURE, view, whole, wholeOrNull } from '../../schema.js';
import { CREDIT, CREDITS_AND_MOVES, MICRO } from './credits.js';
import { RESTATEMENTS } from './restatements.js';

const BALANCE_RETIREMENTS = view(
  'mirror.balance_retirements',
  "Sums of retirements that are calculated twice and must agree. By month and by beneficiary: from amount_micro and from the registry's own digits. By state of the certificate: from the rows and from the counters.",
  {
    organization_id: ['text', 'id of the organization that retired the credits', SURE],
    reckoning: ['text', 'what the sum is grouped by: month, beneficiary or certificate', SURE],
    value: ['text', "month, beneficiary, or state of the certificates; '' if there is none", SURE],
    rows: ['int', 'number of retirements, from the rows', SURE],
    amount_micro: ['large', `sum of amount_micro, in ${MICRO}; NULL if it is too large`],
    counted_rows: ['int', 'number of retirements in the second calculation', SURE],
    counted_micro: [
      'large',
      `sum of the registry's own digits, in ${MICRO}; for certificates, which have no amount counter, equal to amount_micro. NULL if it is too large`,
    ],
    balanced: ['int', '1 if both calculations agree, else 0', SURE],
    difference_micro: ['large', `amount_micro minus counted_micro, in ${MICRO}; NULL if it is too large`],
  },
  ({ mirror, word, bytewise, month, microOf, sum }) => `WITH retired AS (
  SELECT organization_id, created_at, beneficiary, amount_micro, ${microOf('amount_exact', 'amount_micro')} AS digits_micro
  FROM ${mirror}retirements
),
-- Each retirement with the state of its certificate. One that is older than the mark should have a row in certificates, or it is missing.
certified AS (
  SELECT r.organization_id, ${bytewise(`CASE
      WHEN c.state = 'stored' THEN 'stored'
      WHEN c.state IS NULL AND r.version <= (SELECT retirement_version FROM ${mirror}certificate_mark) THEN 'missing'
      WHEN coalesce(r.beneficiary, '') = '' THEN 'unclaimed'
      ELSE 'pending'
    END`)} AS value, r.amount_micro, c.state
  FROM ${mirror}retirements AS r
    LEFT JOIN ${mirror}certificates AS c ON c.organization_id = r.organization_id AND c.retirement_id = r.id
),
-- The counters do not tell unclaimed certificates from pending ones.
unclaimed AS (
  SELECT organization_id, count(*) AS rows FROM certified
  WHERE value = 'unclaimed' AND state IS NOT NULL GROUP BY organization_id
),
not_stored AS (
  SELECT organization_id, sum(certificates) AS certificates FROM ${mirror}certificate_sums
  WHERE state <> 'stored' GROUP BY organization_id
),
sides AS (
  SELECT organization_id, ${word('month')} AS reckoning, coalesce(${month('created_at')}, '') AS value,
    count(*) AS rows, ${sum('amount_micro')} AS micro, count(*) AS counted_rows, ${sum('digits_micro')} AS counted_micro
  FROM retired GROUP BY 1, 3
  UNION ALL
  SELECT organization_id, ${word('beneficiary')}, coalesce(beneficiary, ''),
    count(*), ${sum('amount_micro')}, count(*), ${sum('digits_micro')}
  FROM retired GROUP BY 1, 3
  UNION ALL
  -- Retirements that are newer than the mark have no counter yet, so they count as themselves.
  SELECT organization_id, ${word('certificate')}, value,
    count(*), ${sum('amount_micro')}, count(*) FILTER (WHERE state IS NULL AND value <> 'missing'), ${sum('amount_micro')}
  FROM certified GROUP BY 1, 3
  UNION ALL
  SELECT organization_id, ${word('certificate')}, ${word('stored')}, 0, 0, certificates, 0
  FROM ${mirror}certificate_sums WHERE state = 'stored'
  UNION ALL
  SELECT organization_id, ${word('certificate')}, ${word('unclaimed')}, 0, 0, rows, 0
  FROM unclaimed
  UNION ALL
  SELECT n.organization_id, ${word('certificate')}, ${word('pending')}, 0, 0, n.certificates - coalesce(u.rows, 0), 0
  FROM not_stored AS n LEFT JOIN unclaimed AS u ON u.organization_id = n.organization_id
),
added AS (
  SELECT organization_id, reckoning, value,
    ${whole('sum(rows)')} AS rows, sum(micro) AS micro, ${whole('sum(counted_rows)')} AS counted_rows, sum(counted_micro) AS counted_micro
  FROM sides GROUP BY organization_id, reckoning, value
)
SELECT organization_id, reckoning, value, rows, ${wholeOrNull('micro')}, counted_rows, ${wholeOrNull('counted_micro')},
  ${oneIf('rows = counted_rows AND micro = counted_micro')},
  ${wholeOrNull('(micro - counted_micro)')}
FROM added WHERE rows <> 0 OR counted_rows <> 0`,
);

const BALANCE_CREDITS = view(
  'mirror.balance_credits',
  "Balance of each credit in each place. Opening amount plus increases minus decreases must equal the amount that is listed now in the registry's own digits. The opening amount is that at the end of the first complete read. Lists that were never read completely are left out.",
  {
    organization_id: CREDIT.organization_id,
    place: CREDIT.place,
    credit_id: CREDIT.credit_id,
    part: CREDIT.part,
    moves: ['int', 'number of observed moves', SURE],
    risen_micro: ['large', `sum of the increases, in ${MICRO}; NULL if it is too large`],
    fallen_micro: ['large', `sum of the decreases, in ${MICRO}; NULL if it is too large`],
    listed_micro: [
      'large',
      `amount that is listed now, in ${MICRO}; 0 for reservations that have expired. NULL if it is too large`,
    ],
    balanced: ['int', '1 if the amounts add up, else 0', SURE],
    difference_micro: ['large', `listed amount minus expected amount, in ${MICRO}; NULL if it is too large`],
    type: CREDIT.type,
    opening_micro: [
      'large',
      `amount at the end of the first complete read of the list, in ${MICRO}; NULL if it is too large`,
    ],
    opening_at: ['instant', 'end of the first complete read of the list', SURE],
  },
  ({ mirror, greatest, microOf, sum, now }) => `WITH sides AS (
  SELECT organization_id, place, credit_id, part, type,
    ${greatest('coalesce(moved_micro, 0)', '0')} AS risen, ${greatest('0 - coalesce(moved_micro, 0)', '0')} AS fallen, 0 AS listed, 0 AS opening
  FROM ${mirror}credit_moves
  UNION ALL
  -- A reservation that has expired counts as 0. If the clock was set back, the current time is before the read.
  SELECT l.organization_id, l.place, l.credit_id, l.part, l.type, 0, 0,
    CASE WHEN l.ends_at <= ${greatest(now, 'l.valid_from')} THEN 0 ELSE ${microOf('l.amount_exact', 'l.amount_micro')} END, 0
  FROM ${mirror}listed_and_reserved_credits AS l
  WHERE EXISTS (
    SELECT 1 FROM ${mirror}resource_states AS s
    WHERE s.organization_id = l.organization_id AND s.resource = l.resource AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, h.place, h.credit_id, h.part, h.type, 0, 0, 0,
    CASE WHEN h.ends_at <= s.first_complete_at THEN 0 ELSE coalesce(h.amount_micro, 0) END
  FROM ${mirror}credit_versions AS h CROSS JOIN ${mirror}resource_states AS s
  WHERE s.organization_id = h.organization_id AND s.resource = h.resource
    AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
),
added AS (
  SELECT organization_id, place, credit_id, part, max(type) AS type,
    count(*) FILTER (WHERE risen <> 0 OR fallen <> 0) AS moves,
    ${sum('risen')} AS risen, ${sum('fallen')} AS fallen, ${sum('listed')} AS listed, ${sum('opening')} AS opening
  FROM sides GROUP BY organization_id, place, credit_id, part
)
SELECT a.organization_id, a.place, a.credit_id, a.part, a.moves,
  ${wholeOrNull('risen')}, ${wholeOrNull('fallen')}, ${wholeOrNull('listed')},
  ${oneIf('opening + risen - fallen = listed')},
  ${wholeOrNull('(listed - opening - risen + fallen)')},
  a.type, ${wholeOrNull('opening')}, s.first_complete_at
FROM added AS a JOIN ${mirror}resource_states AS s
  ON s.organization_id = a.organization_id AND s.resource = CASE a.place WHEN 'reserved' THEN 'reservations' ELSE a.place END`,
);

const CREDIT_PERIODS = view(
  'mirror.credit_periods',
  'Organizations whose warehouse, inventory and reservations were all read completely, and the period that these reads cover.',
  {
    organization_id: ['text', 'id of the organization', SURE],
    begun_at: ['instant', 'when the first complete reads of the three lists had ended', SURE],
    settled_at: ['instant', 'start of the oldest of the last complete reads of the three lists', SURE],
  },
  ({
    mirror,
    as,
  }) => `SELECT organization_id, ${as('instant', 'max(first_complete_at)')}, ${as('instant', 'min(as_of)')}
FROM ${mirror}resource_states
WHERE resource IN ('warehouse', 'inventory', 'reservations')
GROUP BY organization_id HAVING count(first_complete_at) = 3`,
);

const RETIRED_SERIALIZATIONS = view(
  'mirror.retired_serializations',
  'Serializations of which reservations or inventory requests retired a part in a period, and the amounts that their credits had then, over all places and organizations. opening_micro minus listed_micro plus risen_micro should be at least used_micro. Serializations that were not listed at the start, or that came to a list after the end, are left out.',
  {
    serialization: ['text', 'public serial number of the credits, in lower case', SURE],
    begun_at: [
      'instant',
      'start of the period: the latest begun_at of its organizations in credit_periods',
      SURE,
    ],
    settled_at: [
      'instant',
      'end of the period: the earliest settled_at of its organizations in credit_periods',
      SURE,
    ],
    opening_micro: ['large', `amount at the start of the period, in ${MICRO}; NULL if it is too large`],
    listed_micro: ['large', `amount that is listed now, in ${MICRO}; NULL if it is too large`],
    risen_micro: [
      'large',
      `sum of the observed increases of warehouses and inventories since the start, including moves between them, in ${MICRO}; NULL if it is too large`,
    ],
    used_micro: [
      'large',
      `amount that was retired in the period, as far as reservations and requests explain it, in ${MICRO}; NULL if it is too large`,
    ],
  },
  ({ mirror, word, as, sum, least, now }) => `WITH retired AS MATERIALIZED (
  SELECT lower(r.serialization) AS serial, r.amount_micro, r.created_at
  FROM ${mirror}retirements AS r JOIN ${mirror}credit_periods AS p ON p.organization_id = r.organization_id
  WHERE r.created_at > p.begun_at AND r.serialization IS NOT NULL
    AND lower(r.serialization) IN (SELECT lower(u.serialization) FROM ${mirror}credit_uses AS u)
),
-- Materialized, because a planner that expects one organization would read all versions again for each.
-- The EXISTS spares reading them at all if nothing was retired.
versions AS MATERIALIZED (
  SELECT organization_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, ends_at
  FROM ${mirror}credit_versions
  WHERE coalesce(type, '') <> 'exAnte' AND ends_at IS DISTINCT FROM valid_from
    AND EXISTS (SELECT 1 FROM retired) AND lower(serialization) IN (SELECT serial FROM retired)
),
-- One list of events for each serialization instead of joins: a planner that expects one row would scan all others for each.
events AS (
  SELECT v.serial, ${word('version')} AS kind, v.amount_micro, v.valid_from AS begun_at, v.valid_to AS ended_at, v.ends_at AS ends_at, p.begun_at AS since, p.settled_at AS until
  FROM versions AS v JOIN ${mirror}credit_periods AS p ON p.organization_id = v.organization_id
  UNION ALL
  SELECT serial, ${word('retirement')}, amount_micro, created_at, created_at, ${as('instant', 'NULL')}, ${as('instant', 'NULL')}, ${as('instant', 'NULL')}
  FROM retired
  UNION ALL
  SELECT lower(serialization), ${word('use')}, amount_micro, begun_at, ended_at, ${as('instant', 'NULL')}, ${as('instant', 'NULL')}, ${as('instant', 'NULL')}
  FROM ${mirror}credit_uses
  WHERE EXISTS (SELECT 1 FROM retired) AND lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT lower(serialization), ${word('increase')}, moved_micro, observed_at, observed_at, ${as('instant', 'NULL')}, ${as('instant', 'NULL')}, ${as('instant', 'NULL')}
  FROM ${mirror}credit_moves
  WHERE coalesce(type, '') <> 'exAnte' AND place <> 'reserved' AND moved_micro > 0
    AND EXISTS (SELECT 1 FROM retired) AND lower(serialization) IN (SELECT serial FROM retired)
),
dated AS (
  SELECT e.*, max(since) OVER (PARTITION BY serial) AS period_begun_at, min(until) OVER (PARTITION BY serial) AS period_ended_at
  FROM events AS e
),
amounts AS (
  SELECT serial, period_begun_at, period_ended_at,
    CASE WHEN kind = 'version' THEN begun_at END AS listed_from,
    CASE WHEN kind = 'version' AND begun_at <= period_begun_at AND (ended_at IS NULL OR ended_at > period_begun_at)
      AND (ends_at IS NULL OR ends_at > period_begun_at) THEN amount_micro ELSE 0 END AS opening,
    CASE WHEN kind = 'version' AND ended_at IS NULL
      AND (ends_at IS NULL OR ends_at > ${now}) THEN amount_micro ELSE 0 END AS listed,
    CASE WHEN kind = 'increase' AND begun_at > period_begun_at THEN amount_micro ELSE 0 END AS risen,
    CASE WHEN kind = 'retirement' AND begun_at > period_begun_at AND ended_at <= period_ended_at THEN amount_micro ELSE 0 END AS retired,
    CASE WHEN kind = 'use' AND begun_at > period_begun_at AND ended_at <= period_ended_at THEN amount_micro ELSE 0 END AS used
  FROM dated
),
added AS (
  SELECT serial, period_begun_at, period_ended_at, min(listed_from) AS first_listed_at, max(listed_from) AS last_listed_at,
    ${sum('opening')} AS opening, ${sum('listed')} AS listed, ${sum('risen')} AS risen, ${sum('retired')} AS retired, ${sum('used')} AS used
  FROM amounts GROUP BY serial, period_begun_at, period_ended_at
)
SELECT serial, ${as('instant', 'period_begun_at')}, ${as('instant', 'period_ended_at')}, ${wholeOrNull('opening')}, ${wholeOrNull('listed')}, ${wholeOrNull('risen')}, ${wholeOrNull(least('retired', 'used'))}
FROM added
WHERE first_listed_at <= period_begun_at AND ${least('retired', 'used')} > 0
  AND (last_listed_at < period_ended_at OR last_listed_at <= period_begun_at)`,
);

const CREDIT_FINDINGS = view(
  'mirror.credit_findings',
  "Contradictions in the registry's data about credits, one row each. negative_amount: an amount below zero. serialization_twice: a serialization that two issued credits share, in any list and regardless of upper and lower case. listed_and_retired: credits that a reservation or an inventory request retired since the first reads, but that are still listed. reservation_outlived: a reservation that a complete read still showed as open at least an hour after it had expired. The query reads every row of the lists.",
  {
    finding: [
      'text',
      'kind of contradiction: negative_amount, serialization_twice, listed_and_retired or reservation_outlived',
      SURE,
    ],
    organization_id: ['text', 'id of the organization whose list contains the row', SURE],
    resource: ['text', 'resource of the row, as in syncs.resource', SURE],
    id: ['text', 'id of the row; credit_id for credits', SURE],
    serialization: ['text', 'public serial number of the credit'],
    amount_exact: [
      'text',
      "amount in tonnes, in the registry's own digits; NULL if it sent no usable number",
    ],
    found: ['text', 'what is wrong, in words', SURE],
  },
  ({ mirror, word, asText, later }) => `WITH amounts AS (
  SELECT organization_id, ${word('warehouse')} AS resource, credit_id AS id, serialization, amount, amount_exact, fault FROM ${mirror}warehouse_credits
  UNION ALL
  SELECT organization_id, ${word('inventory')}, credit_id, serialization, amount, amount_exact, fault FROM ${mirror}inventory_credits
  UNION ALL
  SELECT organization_id, ${word('reservations')}, id, serialization, amount, amount_exact, fault FROM ${mirror}reservations
  UNION ALL
  SELECT organization_id, ${word('inventory_requests')}, id, serialization, amount, amount_exact, fault FROM ${mirror}inventory_requests
  UNION ALL
  SELECT organization_id, ${word('retirements')}, id, serialization, amount, amount_exact, fault FROM ${mirror}retirements
),
issued AS (
  SELECT organization_id, resource, CASE place WHEN 'reserved' THEN part ELSE credit_id END AS id, credit_id,
    lower(serialization) AS serial, serialization, amount_exact
  FROM ${mirror}listed_and_reserved_credits WHERE type = 'exPost' AND serialization IS NOT NULL
),
shared AS (
  SELECT serial, min(credit_id) AS lowest, max(credit_id) AS highest
  FROM issued GROUP BY serial HAVING min(credit_id) <> max(credit_id)
)
SELECT ${word('negative_amount')}, organization_id, resource, id, serialization, amount_exact, ${word('its amount is below zero')}
FROM amounts
WHERE amount < 0 OR fault = 'negative'
UNION ALL
SELECT ${word('serialization_twice')}, i.organization_id, i.resource, i.id, i.serialization, i.amount_exact,
  'its serialization stands for credit ' || CASE WHEN i.credit_id = s.lowest THEN s.highest ELSE s.lowest END || ' too'
FROM issued AS i JOIN shared AS s ON s.serial = i.serial
UNION ALL
-- The lists fell by less than was retired. Of its retirements, those that a reservation or request explains are named.
SELECT ${word('listed_and_retired')}, r.organization_id, ${word('retirements')}, r.id, r.serialization, r.amount_exact,
  ${word('less of its serialization has gone from the lists than reservations and requests have retired of it')}
FROM ${mirror}retired_serializations AS s
  JOIN ${mirror}retirements AS r ON lower(r.serialization) = s.serialization AND r.created_at > s.begun_at AND r.created_at <= s.settled_at
  JOIN ${mirror}credit_periods AS p ON p.organization_id = r.organization_id AND r.created_at > p.begun_at
WHERE s.opening_micro - s.listed_micro + s.risen_micro < s.used_micro
  AND EXISTS (
    SELECT 1 FROM ${mirror}credit_uses AS u
    WHERE lower(u.serialization) = s.serialization AND u.amount_micro = r.amount_micro
      AND u.begun_at > s.begun_at AND u.begun_at <= r.created_at)
UNION ALL
SELECT ${word('reservation_outlived')}, r.organization_id, ${word('reservations')}, r.id, r.serialization, r.amount_exact,
  'it ended at ' || ${asText('r.reserved_to_at')} || ' and is listed as ' || r.state
FROM ${mirror}reservations AS r
  JOIN ${mirror}resource_states AS s ON s.organization_id = r.organization_id AND s.resource = 'reservations'
WHERE coalesce(r.is_complete, 0) = 0 AND lower(r.state) NOT IN ('finished', 'cancelled', 'expired')
  AND s.as_of >= ${later('r.reserved_to_at', '3600000')}`,
);

const FINDINGS = view(
  'mirror.findings',
  'Number of rows of each kind of finding at this moment: unbalanced rows of each balance, restatements, and rows of credit_findings. The query reads every row of the lists. To count one kind alone, select it by its name.',
  {
    finding: ['text', 'name of the balance view, restatements, or credit_findings.finding', SURE],
    rows: ['int', 'number of rows', SURE],
  },
  ({
    mirror,
    word,
  }) => `SELECT ${word('balance_retirements')}, (SELECT count(*) FROM ${mirror}balance_retirements WHERE balanced = 0)
UNION ALL
SELECT ${word('balance_credits')}, (SELECT count(*) FROM ${mirror}balance_credits WHERE balanced = 0)
UNION ALL
SELECT ${word('restatements')}, (SELECT count(*) FROM ${mirror}restatements)
UNION ALL
SELECT ${word('negative_amount')}, (SELECT count(*) FROM ${mirror}credit_findings WHERE finding = 'negative_amount')
UNION ALL
SELECT ${word('serialization_twice')}, (SELECT count(*) FROM ${mirror}credit_findings WHERE finding = 'serialization_twice')
UNION ALL
SELECT ${word('listed_and_retired')}, (SELECT count(*) FROM ${mirror}credit_findings WHERE finding = 'listed_and_retired')
UNION ALL
SELECT ${word('reservation_outlived')}, (SELECT count(*) FROM ${mirror}credit_findings WHERE finding = 'reservation_outlived')`,
);

export const BALANCE = [
  ...CREDITS_AND_MOVES,
  BALANCE_RETIREMENTS,
  BALANCE_CREDITS,
  CREDIT_PERIODS,
  RETIRED_SERIALIZATIONS,
  CREDIT_FINDINGS,
  RESTATEMENTS,
  FINDINGS,
] as const;
