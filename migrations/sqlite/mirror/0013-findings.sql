-- How many rows each balance, the restatements and the findings have at this moment, the balances those that do not tie. Every row of the lists is looked at.
CREATE VIEW findings (
  finding, -- name of the balance, restatements, or what is found in credit_findings
  rows -- how many
) AS
WITH found AS (
  SELECT finding, count(*) AS rows FROM credit_findings GROUP BY finding
),
kinds (finding) AS (
  VALUES ('negative_amount'), ('serialization_twice'), ('listed_and_retired'), ('hold_outlived')
)
SELECT 'balance_retirements', (SELECT count(*) FROM balance_retirements WHERE ties = 0)
UNION ALL
SELECT 'balance_credits', (SELECT count(*) FROM balance_credits WHERE ties = 0)
UNION ALL
SELECT 'balance_projects', (SELECT count(*) FROM balance_projects WHERE ties = 0)
UNION ALL
SELECT 'balance_serials', (SELECT count(*) FROM balance_serials WHERE ties = 0)
UNION ALL
SELECT 'restatements', (SELECT count(*) FROM restatements)
UNION ALL
SELECT k.finding, coalesce(f.rows, 0)
FROM kinds AS k LEFT JOIN found AS f ON f.finding = k.finding;

-- The same as a worker counted it last, so that nobody has to look at a million rows.
CREATE TABLE finding_counts (
  finding TEXT PRIMARY KEY, -- as in the view findings
  rows INTEGER NOT NULL, -- how many
  counted_at TEXT NOT NULL -- when that was
) STRICT, WITHOUT ROWID;
