import { SURE, view } from '../../schema.js';

/** The columns whose change restates a retirement, and their kinds. The name of the project is not one of them. */
const FACTS = [
  ['project_id', 'text'],
  ['serialization', 'text'],
  ['vintage', 'text'],
  ['amount_exact', 'text'],
  ['fault', 'text'],
  ['reason', 'text'],
  ['beneficiary', 'text'],
  ['comment', 'text'],
  ['is_claimed', 'int'],
  ['created_at', 'instant'],
] as const;

export const RESTATEMENTS = view(
  'mirror.restatements',
  'Restatements: retirements that the registry changed or removed after the year of their date had ended, certificates that were replaced by another file at any time, and certificates that were removed after that year. Changes within the year and new names of projects appear only in the view changes.',
  {
    number: ['int', 'number of the change, as in changes', SURE],
    observed_at: [
      'instant',
      'when the mirror observed the change; the registry may have made it earlier',
      SURE,
    ],
    organization_id: ['text', 'id of the organization that owns the retirement', SURE],
    resource: ['text', 'retirements or certificates', SURE],
    id: ['text', 'id of the retirement', SURE],
    year: [
      'text',
      'year of the retirement before the change, in UTC; NULL if the registry sent no usable date',
    ],
    change: ['text', 'changed or removed', SURE],
    before: [
      'text',
      'value before the change: amount_exact of the retirement, or SHA-256 of the certificate',
    ],
    after: ['text', 'value after the change; NULL if the retirement or certificate was removed'],
    sync_id: ['int', 'sync that observed the change (syncs.id)'],
  },
  ({ mirror, bytewise, cell, year }) => {
    const isRestated = FACTS.map(
      ([name, kind]) =>
        `${cell('p', name, kind)} IS DISTINCT FROM coalesce(n.${name}, ${cell('q', name, kind)})`,
    ).join('\n    OR ');
    return `-- p is the version before the change. The version after it is current (n) or past itself (q), or there is none.
SELECT p.closed_version, p.valid_to, p.organization_id, p.resource, p.key,
  ${year(cell('p', 'created_at', 'instant'))},
  ${bytewise("CASE p.is_removed WHEN 0 THEN 'changed' ELSE 'removed' END")},
  ${cell('p', 'amount_exact', 'text')},
  coalesce(n.amount_exact, ${cell('q', 'amount_exact', 'text')}),
  p.closed_by
FROM ${mirror}past AS p
  LEFT JOIN ${mirror}retirements AS n ON n.version = p.closed_version
  LEFT JOIN ${mirror}past AS q ON q.version = p.closed_version
WHERE p.resource = 'retirements'
  AND ${year(cell('p', 'created_at', 'instant'))} < ${year('p.valid_to')}
  AND (${isRestated})
UNION ALL
SELECT number, observed_at, organization_id, resource, id, year,
  ${bytewise("CASE is_removed WHEN 0 THEN 'changed' ELSE 'removed' END")},
  before, after, closed_by
FROM (
  SELECT p.closed_version AS number, p.valid_to AS observed_at, p.organization_id, p.resource, p.key AS id, p.is_removed, p.closed_by,
    ${cell('p', 'sha256', 'text')} AS before,
    coalesce(n.sha256, ${cell('q', 'sha256', 'text')}) AS after,
    -- A certificate has no date of its own. If its retirement was removed, the latest date that it had counts.
    ${year(`coalesce(r.created_at, (
      SELECT max(${cell('o', 'created_at', 'instant')}) FROM ${mirror}past AS o
      WHERE o.resource = 'retirements' AND o.organization_id = p.organization_id AND o.key = p.key))`)} AS year
  FROM ${mirror}past AS p
    LEFT JOIN ${mirror}certificates AS n ON n.version = p.closed_version
    LEFT JOIN ${mirror}past AS q ON q.version = p.closed_version
    LEFT JOIN ${mirror}retirements AS r ON r.organization_id = p.organization_id AND r.id = p.key
  WHERE p.resource = 'certificates'
) AS files
WHERE after IS DISTINCT FROM before AND (is_removed = 0 OR year < ${year('observed_at')})`;
  },
);
