import type { Dialect } from '../dialect.js';
import { DAY_MS, differ, type Law } from './law.js';

/** Laws that hold whatever the clock did. */
const WITHOUT_CLOCK: readonly Law[] = [
  {
    law: 'the counts in certificate_sums match the rows of certificates',
    sql: differ(
      'SELECT organization_id, state, count(*) FROM certificates GROUP BY organization_id, state',
      'SELECT organization_id, state, certificates FROM certificate_sums WHERE certificates <> 0',
      "organization_id || ', ' || state",
    ),
  },
  {
    law: 'each certificate belongs to an existing retirement',
    sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates AS c WHERE NOT EXISTS (
    SELECT 1 FROM retirements AS r WHERE r.organization_id = c.organization_id AND r.id = c.retirement_id)`,
  },
  {
    law: 'each retirement up to certificate_mark has a row in certificates',
    sql: `SELECT organization_id || ', ' || id AS found FROM retirements AS r
    WHERE version <= (SELECT retirement_version FROM certificate_mark) AND NOT EXISTS (
      SELECT 1 FROM certificates AS c WHERE c.organization_id = r.organization_id AND c.retirement_id = r.id)`,
  },
  {
    law: 'retirement_version of each certificate is a version of its own retirement',
    sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates AS c
    WHERE NOT EXISTS (SELECT 1 FROM retirements_history AS r WHERE r.version = c.retirement_version
      AND r.organization_id = c.organization_id AND r.id = c.retirement_id)`,
  },
  {
    law: 'each certificate file is named after its retirement and its hash',
    sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates_history
    WHERE file IS NOT NULL AND file NOT IN (
      retirement_id || '-' || sha256 || '.pdf', retirement_id || '-' || substr(sha256, 1, 12) || '.pdf')`,
  },
  {
    law: 'a certificate is stored if and only if it names the sync that downloaded it',
    sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates
    WHERE (state = 'stored') <> (sync_id IS NOT NULL)`,
  },
];

export function certificateLaws({ later }: Dialect): readonly Law[] {
  return [
    ...WITHOUT_CLOCK,
    {
      law: 'fetched_at of each certificate is not after checked_at, and neither is in the future',
      sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates_history
      WHERE fetched_at > ${later('checked_at', String(DAY_MS))} OR fetched_at > :soon OR checked_at > :soon`,
    },
  ];
}
