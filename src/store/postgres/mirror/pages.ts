import type { MirrorPort } from '../../../mirror/port.js';
import type { Postgres } from '../open.js';
import { given } from './perform.js';

/** Versions below zero are inserts of this transaction: -1 is the first. */
export const PUT_PAGES = `
  INSERT INTO mirror.read_pages
  SELECT ${given('organization_id')}, ${given('resource')}, p.page, p.digest, coalesce((
    SELECT string_agg(int8send(CASE WHEN v::bigint < 0 THEN ($2 -> 'versions' ->> (-v::int - 1))::bigint ELSE v::bigint END),
      ''::bytea ORDER BY place)
    FROM jsonb_array_elements_text(p.versions) WITH ORDINALITY AS each (v, place)
  ), ''::bytea)
  FROM jsonb_to_recordset($1 -> 'pages') AS p (page bigint, digest text, versions jsonb)
  ON CONFLICT (organization_id, resource, page) DO UPDATE SET digest = excluded.digest, versions = excluded.versions
  RETURNING '{}'::jsonb`;

export function createPages({ query }: Postgres): MirrorPort['pages'] {
  return async ({ organizationId, resource }, from, count) => {
    const rows = await query<{ page: number; digest: string; versions: Buffer }>(
      `SELECT page, digest, versions FROM mirror.read_pages
       WHERE organization_id = $1 AND resource = $2 AND page >= $3 AND page < $4`,
      [organizationId, resource, from, from + count],
    );
    return rows.map(row => ({ ...row, versions: unpack(row.versions) }));
  };
}

function unpack(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => Number(bytes.readBigInt64BE(index * 8)));
}
