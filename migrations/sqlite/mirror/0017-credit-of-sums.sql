DROP VIEW last_known_credits;
DROP VIEW available_credits;
DROP VIEW warehouse_sums;
-- Credits in the warehouses by organization, project, vintage, type and credit, whatever their freshness. Amounts are added in whole tonnes and in millionths beyond, so that no sum overflows.
CREATE VIEW warehouse_sums (
  organization_id, -- who owns the credits
  organization_name, -- its name
  project_id, -- the project that issued them
  project_name, -- its name
  vintage, -- year of the reduction
  type, -- exPost (issued) or exAnte (expected)
  amount, -- tonnes, to look at
  amount_micro, -- millionths of a tonne, exact; null where the sum is too large for that
  rows, -- how many rows of warehouse_credits
  rows_not_summed, -- how many of them have no amount_micro and are left out of the sum
  freshness, -- state of the organization's warehouse in the view freshness
  complete_at, -- start of the last complete read of the warehouse
  age_seconds, -- how long ago that was
  credit_id -- the credit, by which it is reserved
) AS
WITH sums AS (
  SELECT organization_id, project_id, vintage, type, credit_id,
    max(project_name) AS project_name,
    coalesce(sum(amount_micro / 1000000), 0) AS tonnes,
    coalesce(sum(amount_micro % 1000000), 0) AS micro,
    count(*) AS rows,
    count(*) - count(amount_micro) AS rows_not_summed
  FROM warehouse_credits
  GROUP BY organization_id, project_id, vintage, type, credit_id
)
SELECT s.organization_id, o.full_name, s.project_id, coalesce(p.full_name, s.project_name), s.vintage, s.type,
  s.tonnes + s.micro / 1000000.0,
  CASE WHEN abs(s.tonnes) < 9000000000000 THEN s.tonnes * 1000000 + s.micro END,
  s.rows, s.rows_not_summed, f.state, f.complete_at, f.age_seconds, s.credit_id
FROM sums AS s
LEFT JOIN freshness AS f ON f.organization_id = s.organization_id AND f.resource = 'warehouse'
LEFT JOIN organizations AS o ON o.id = s.organization_id
LEFT JOIN projects AS p ON p.id = s.project_id;

-- What can be sold now: active organizations, permitted and current. The registry has already taken held credits out.
CREATE VIEW available_credits (
  organization_id, -- who owns the credits
  organization_name, -- its name
  project_id, -- the project that issued them
  project_name, -- its name
  vintage, -- year of the reduction
  type, -- exPost (issued) or exAnte (expected)
  amount, -- tonnes, to look at
  amount_micro, -- millionths of a tonne, exact; null where the sum is too large for that
  rows, -- how many rows of warehouse_credits
  rows_not_summed, -- how many of them have no amount_micro and are left out of the sum
  freshness, -- always current here
  complete_at, -- start of the last complete read of the warehouse
  age_seconds, -- how long ago that was
  credit_id -- the credit, by which it is reserved
) AS
SELECT * FROM warehouse_sums WHERE freshness = 'current';

-- What was there when it was last seen, of every warehouse that is not current. Do not sell from it.
CREATE VIEW last_known_credits (
  organization_id, -- who owns the credits
  organization_name, -- its name
  project_id, -- the project that issued them
  project_name, -- its name
  vintage, -- year of the reduction
  type, -- exPost (issued) or exAnte (expected)
  amount, -- tonnes, to look at
  amount_micro, -- millionths of a tonne, exact; null where the sum is too large for that
  rows, -- how many rows of warehouse_credits
  rows_not_summed, -- how many of them have no amount_micro and are left out of the sum
  freshness, -- why it is not current
  complete_at, -- start of the last complete read of the warehouse
  age_seconds, -- how long ago that was
  credit_id -- the credit, by which it is reserved
) AS
SELECT * FROM warehouse_sums WHERE freshness IS NOT 'current';
