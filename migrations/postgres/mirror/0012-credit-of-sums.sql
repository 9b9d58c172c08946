CREATE OR REPLACE VIEW mirror.warehouse_sums AS
WITH sums AS (
  SELECT organization_id, project_id, vintage, type, credit_id,
    max(project_name) AS project_name,
    coalesce(sum(amount_micro / 1000000), 0)::bigint AS tonnes,
    coalesce(sum(amount_micro % 1000000), 0)::bigint AS micro,
    count(*) AS rows,
    count(*) - count(amount_micro) AS rows_not_summed
  FROM mirror.warehouse_credits
  GROUP BY organization_id, project_id, vintage, type, credit_id
)
SELECT s.organization_id, o.full_name AS organization_name, s.project_id,
  coalesce(p.full_name, s.project_name) AS project_name, s.vintage, s.type,
  s.tonnes + s.micro / 1000000.0::double precision AS amount,
  CASE WHEN abs(s.tonnes) < 9000000000000 THEN s.tonnes * 1000000 + s.micro END AS amount_micro,
  s.rows, s.rows_not_summed, f.state AS freshness, f.complete_at, f.age_seconds, s.credit_id
FROM sums AS s
LEFT JOIN mirror.freshness AS f ON f.organization_id = s.organization_id AND f.resource = 'warehouse'
LEFT JOIN mirror.organizations AS o ON o.id = s.organization_id
LEFT JOIN mirror.projects AS p ON p.id = s.project_id;
COMMENT ON VIEW mirror.warehouse_sums IS 'Credits in the warehouses by organization, project, vintage, type and credit, whatever their freshness. Amounts are added in whole tonnes and in millionths beyond, so that no sum overflows.';
CREATE OR REPLACE VIEW mirror.available_credits AS
SELECT * FROM mirror.warehouse_sums WHERE freshness = 'current';
CREATE OR REPLACE VIEW mirror.last_known_credits AS
SELECT * FROM mirror.warehouse_sums WHERE freshness IS DISTINCT FROM 'current';
COMMENT ON COLUMN mirror.warehouse_sums.credit_id IS 'the credit, by which it is reserved';
COMMENT ON COLUMN mirror.available_credits.credit_id IS 'the credit, by which it is reserved';
COMMENT ON COLUMN mirror.last_known_credits.credit_id IS 'the credit, by which it is reserved';
