import type { Reader } from '../store/contract/reader.js';
import { columns, first, sql, stoodAt, table } from './sql.js';

export interface Named {
  readonly id: string;
  readonly name: string | null;
}

/** Every organization of which the mirror holds or held anything, by the latest name that it knows. */
export async function readOrganizationNames({ all }: Reader) {
  return await all(sql<Named>`SELECT known.id, coalesce(o.full_name, (
      SELECT p.full_name FROM mirror.organizations_history AS p
      WHERE p.id = known.id AND p.valid_to IS NOT NULL ORDER BY p.valid_to DESC LIMIT 1)) AS name
    FROM (SELECT id FROM mirror.organizations
      UNION SELECT organization_id FROM mirror.installations WHERE organization_id IS NOT NULL
      UNION SELECT organization_id FROM mirror.resource_states) AS known
    LEFT JOIN mirror.organizations AS o ON o.id = known.id ORDER BY known.id`);
}

/** Every installation, by the name of its organization. */
export async function readInstallationNames({ all }: Reader) {
  return await all(sql<Named>`SELECT i.id, o.full_name AS name
    FROM mirror.installations AS i LEFT JOIN mirror.organizations AS o ON o.id = i.organization_id
    ORDER BY i.version`);
}

/** Those that are there, or were at an instant, by their names. */
export function named(of: 'organizations' | 'projects', at: string | null) {
  const from = at === null ? table(of) : sql`${table(`${of}_history`)} WHERE ${stoodAt(at)}`;
  return sql<Named>`SELECT id, full_name AS name FROM ${from} ORDER BY full_name, id`;
}

/** What an organization is called, or was at an instant; null where nobody knows. */
export async function readNameOf(reader: Reader, id: string, at: string | null): Promise<string | null> {
  const asked = sql<Named>`SELECT * FROM (${named('organizations', at)}) AS known WHERE id = ${id}`;
  return (await first(reader, asked))?.name ?? null;
}

export async function readProjectNames({ all }: Reader) {
  return await all(named('projects', null));
}

/** What the mirror was filled from; null before the first worker. */
export async function readOrigin(reader: Reader) {
  return await first(reader, sql`SELECT ${columns('origin', ['base_url', 'app_id'])} FROM mirror.origin`);
}
