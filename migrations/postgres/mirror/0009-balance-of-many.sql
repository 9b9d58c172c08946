-- What nobody has claimed is added up once, not once for each organization.
CREATE OR REPLACE VIEW mirror.balance_retirements (organization_id, reckoning, value, rows, amount_micro, counted_rows, counted_micro, ties) AS
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
unclaimed AS (
  SELECT organization_id, count(*) AS rows FROM certified WHERE value = 'unclaimed' AND state IS NOT NULL GROUP BY organization_id
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
  SELECT organization_id, 'certificate'::text COLLATE "C", 'unclaimed'::text COLLATE "C", 0, 0, rows, 0
  FROM unclaimed
  UNION ALL
  SELECT s.organization_id, 'certificate'::text COLLATE "C", 'pending'::text COLLATE "C", 0, 0,
    s.certificates - coalesce(u.rows, 0), 0
  FROM (SELECT organization_id, sum(certificates) AS certificates FROM mirror.certificate_sums WHERE state <> 'stored' GROUP BY organization_id) AS s
  LEFT JOIN unclaimed AS u ON u.organization_id = s.organization_id
),
added AS (
  SELECT organization_id, reckoning, value, sum(rows)::bigint AS rows, sum(micro) AS micro,
    sum(counted)::bigint AS counted, sum(counted_micro) AS counted_micro
  FROM sides GROUP BY organization_id, reckoning, value
)
SELECT organization_id, reckoning, value, rows, CASE WHEN abs(micro) < 9000000000000000000 THEN micro::bigint END, counted, CASE WHEN abs(counted_micro) < 9000000000000000000 THEN counted_micro::bigint END, CASE WHEN rows = counted AND micro = counted_micro THEN 1 ELSE 0 END::bigint
FROM added WHERE rows <> 0 OR counted <> 0;
