import type { MirrorPort } from '../../../mirror/port.js';
import type { Postgres } from '../open.js';

/** One statement: two workers that count at once leave one of their counts. */
const KEEP = `INSERT INTO mirror.finding_counts (finding, rows, counted_at)
  SELECT c.finding, c.rows, $2 FROM json_to_recordset($1) AS c (finding text, rows bigint) ORDER BY c.finding
  ON CONFLICT (finding) DO UPDATE SET rows = excluded.rows, counted_at = excluded.counted_at`;

export function createFindings({ query }: Postgres): Pick<MirrorPort, 'keepFindings'> {
  return {
    keepFindings: async (counts, at) => void (await query(KEEP, [JSON.stringify(counts), at])),
  };
}
