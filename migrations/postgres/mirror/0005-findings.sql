CREATE VIEW mirror.findings (finding, rows) AS
WITH found AS (
  SELECT finding, count(*) AS rows FROM mirror.credit_findings GROUP BY finding
),
kinds (finding) AS (
  VALUES ('negative_amount'), ('serialization_twice'), ('listed_and_retired'), ('hold_outlived')
)
SELECT 'balance_retirements'::text COLLATE "C", (SELECT count(*) FROM mirror.balance_retirements WHERE ties = 0)
UNION ALL
SELECT 'balance_credits'::text COLLATE "C", (SELECT count(*) FROM mirror.balance_credits WHERE ties = 0)
UNION ALL
SELECT 'balance_projects'::text COLLATE "C", (SELECT count(*) FROM mirror.balance_projects WHERE ties = 0)
UNION ALL
SELECT 'balance_serials'::text COLLATE "C", (SELECT count(*) FROM mirror.balance_serials WHERE ties = 0)
UNION ALL
SELECT 'restatements'::text COLLATE "C", (SELECT count(*) FROM mirror.restatements)
UNION ALL
SELECT k.finding COLLATE "C", coalesce(f.rows, 0)
FROM kinds AS k LEFT JOIN found AS f ON f.finding = k.finding;
COMMENT ON VIEW mirror.findings IS 'How many rows each balance, the restatements and the findings have at this moment, the balances those that do not tie. Every row of the lists is looked at.';
COMMENT ON COLUMN mirror.findings.finding IS 'name of the balance, restatements, or what is found in credit_findings';
COMMENT ON COLUMN mirror.findings.rows IS 'how many';

CREATE TABLE mirror.finding_counts (
  finding text COLLATE "C" PRIMARY KEY,
  rows bigint NOT NULL,
  counted_at timestamptz(3) NOT NULL
);
COMMENT ON TABLE mirror.finding_counts IS 'The same as a worker counted it last, so that nobody has to look at a million rows.';
COMMENT ON COLUMN mirror.finding_counts.finding IS 'as in the view findings';
COMMENT ON COLUMN mirror.finding_counts.rows IS 'how many';
COMMENT ON COLUMN mirror.finding_counts.counted_at IS 'when that was';
