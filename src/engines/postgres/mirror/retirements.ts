import { CERTIFICATES } from '../../../resources/certificates.js';
import { given, RUN } from './perform.js';
import { listed, names } from './versions.js';

/** PostgreSQL knows no year 0: it is the first before Christ there. */
export const monthOf = (instant: string): string =>
  `(CASE WHEN ${instant} < '0001-01-01 00:00:00+00' THEN '0000' ELSE to_char(${instant} AT TIME ZONE 'UTC', 'YYYY') END
  || to_char(${instant} AT TIME ZONE 'UTC', '-MM'))`;

/** Sums are kept beside the rows, in the statement that writes these. */
function sums(moves: string): string {
  return `,
  summed AS (
    INSERT INTO mirror.retirement_sums AS s (organization_id, kind, value, rows, rows_not_summed, tonnes, micro)
    SELECT ${given('organization_id')}, kind, value, sum(sign),
      coalesce(sum(sign) FILTER (WHERE amount_micro IS NULL), 0),
      coalesce(sum(sign * (amount_micro / 1000000)), 0), coalesce(sum(sign * (amount_micro % 1000000)), 0)
    FROM (${moves}) AS moves
    CROSS JOIN LATERAL (VALUES ('beneficiary', coalesce(beneficiary, '')),
      ('month', coalesce(${monthOf('created_at')}, ''))) AS kinds (kind, value)
    GROUP BY kind, value
    ON CONFLICT (organization_id, kind, value) DO UPDATE SET rows = s.rows + excluded.rows,
      rows_not_summed = s.rows_not_summed + excluded.rows_not_summed, tonnes = s.tonnes + excluded.tonnes,
      micro = s.micro + excluded.micro
  )`;
}

const these = (sign: number, relation: string) =>
  `SELECT ${sign} AS sign, beneficiary, created_at, amount_micro FROM ${relation}`;

export function enterSums(entered: string): string {
  return sums(these(1, entered));
}

export function writeSums(entered: string, moved: string): string {
  return sums(`${these(1, entered)} UNION ALL ${these(-1, moved)}`);
}

export function closeSums(closed: string): string {
  return sums(these(-1, closed));
}

/** From the rows as they stand. */
export const RECOUNT_SUMS: readonly string[] = [
  `DELETE FROM mirror.retirement_sums WHERE organization_id = ${given('organization_id')} RETURNING '{}'::jsonb`,
  `WITH standing AS (SELECT * FROM mirror.retirements WHERE organization_id = ${given('organization_id')})
  ${enterSums('standing')} SELECT '{}'::jsonb`,
];

/** A retirement that is gone takes its certificate to the past. It may have come after the answer without the retirement. */
export const RETIREMENT_VANISHES = `,
  certificates_gone AS (
    DELETE FROM mirror.certificates AS t USING closed AS c
    WHERE t.organization_id = c.organization_id AND t.retirement_id = c.id
    RETURNING t.*, c.at, c.number + ${given('closing', 'bigint')} AS number
  ),
  certificates_archived AS (
    INSERT INTO mirror.certificates_past (${names(CERTIFICATES)}, valid_to, closed_by, closed_version)
    SELECT ${listed(CERTIFICATES, 'g')}, greatest(g.at, g.valid_from + interval '1 millisecond'),
      ${RUN}, g.number
    FROM certificates_gone AS g WHERE g.state = 'stored'
  )`;
