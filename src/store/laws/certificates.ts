import type { Dialect } from '../dialect.js';
import { DAY_MS, differ, type Law } from './law.js';

/** Laws that hold whatever the clock did. */
const WITHOUT_CLOCK: readonly Law[] = [
  {
    law: 'the counters of certificates fit their rows',
    sql: differ(
      'SELECT organization_id, state, count(*) FROM certificates GROUP BY organization_id, state',
      'SELECT organization_id, state, certificates FROM certificate_sums WHERE certificates <> 0',
      "organization_id || ', ' || state",
    ),
  },
  {
    law: 'a certificate belongs to a retirement that is there',
    sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates AS c WHERE NOT EXISTS (
    SELECT 1 FROM retirements AS r WHERE r.organization_id = c.organization_id AND r.id = c.retirement_id)`,
  },
  {
    law: 'a retirement up to the mark has its certificate entered',
    sql: `SELECT organization_id || ', ' || id AS found FROM retirements AS r
    WHERE version <= (SELECT retirement_version FROM certificate_mark) AND NOT EXISTS (
      SELECT 1 FROM certificates AS c WHERE c.organization_id = r.organization_id AND c.retirement_id = r.id)`,
  },
  {
    law: 'a certificate was asked for by a version of its own retirement',
    sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates AS c
    WHERE NOT EXISTS (SELECT 1 FROM retirements_history AS r WHERE r.version = c.retirement_version
      AND r.organization_id = c.organization_id AND r.id = c.retirement_id)`,
  },
  {
    law: 'the file of a certificate is named by its retirement and its hash',
    sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates_history
    WHERE file IS NOT NULL AND file NOT IN (
      retirement_id || '-' || sha256 || '.pdf', retirement_id || '-' || substr(sha256, 1, 12) || '.pdf')`,
  },
  {
    law: 'a certificate is stored where a sync has fetched its file, and only there',
    sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates
    WHERE (state = 'stored') <> (sync_id IS NOT NULL)`,
  },
];

export function certificateLaws({ later }: Dialect): readonly Law[] {
  return [
    ...WITHOUT_CLOCK,
    {
      law: 'a certificate was fetched before it was checked last, and neither in the future',
      sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates_history
      WHERE fetched_at > ${later('checked_at', String(DAY_MS))} OR fetched_at > :soon OR checked_at > :soon`,
    },
  ];
}
