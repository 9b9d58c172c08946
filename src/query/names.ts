import type { Reader, Statement } from '../store/contract/reader.js';
import { columns, first, joined, largest, plain, sql, stoodAt, table } from './sql.js';

export interface NamedObject {
  readonly id: string;
  readonly name: string | null;
}

type Kind = 'organizations' | 'projects' | 'installations';

/** Those that are there, or were at an instant, by their names; an installation by that of its organization. */
function named(of: Kind, at: string | null) {
  if (of === 'installations')
    return sql<NamedObject>`SELECT i.id, coalesce(o.full_name, i.organization_id) AS name
      FROM mirror.installations AS i LEFT JOIN mirror.organizations AS o ON o.id = i.organization_id
      ORDER BY o.full_name NULLS FIRST, i.id`;
  const from = at === null ? table(of) : sql`${table(`${of}_history`)} WHERE ${stoodAt(at)}`;
  return sql<NamedObject>`SELECT id, full_name AS name FROM ${from} ORDER BY full_name, id`;
}

export async function readNames({ all }: Reader, of: Kind) {
  return await all(named(of, null));
}

/** Every organization of which the mirror holds or held anything, by the latest name that it knows. */
export async function readOrganizationNames({ all }: Reader) {
  return await all(sql<NamedObject>`SELECT known.id, coalesce(o.full_name, (
      SELECT p.full_name FROM mirror.organizations_history AS p
      WHERE p.id = known.id AND p.valid_to IS NOT NULL ORDER BY p.valid_to DESC LIMIT 1)) AS name
    FROM (SELECT id FROM mirror.organizations
      UNION SELECT organization_id FROM mirror.installations WHERE organization_id IS NOT NULL
      UNION SELECT organization_id FROM mirror.resource_states) AS known
    LEFT JOIN mirror.organizations AS o ON o.id = known.id ORDER BY known.id`);
}

/** What an organization is called, or was at an instant; null where nobody knows. */
export async function readNameOf(reader: Reader, id: string, at: string | null): Promise<string | null> {
  const asked = sql<NamedObject>`SELECT * FROM (${named('organizations', at)}) AS known WHERE id = ${id}`;
  return (await first(reader, asked))?.name ?? null;
}

/** What credits and retirements call a project, or called it at an instant; its id where they have no name for it, null where none is of it. */
export async function readProjectNamedBy(
  reader: Reader,
  id: string,
  at: string | null = null,
): Promise<string | null> {
  const of = (rows: string): Statement => {
    const from = at === null ? table(rows) : table(`${rows}_history`);
    const then = at === null ? plain('1 = 1') : stoodAt(at);
    return sql`SELECT coalesce(project_name, project_id) AS name FROM ${from} WHERE project_id = ${id} AND ${then}`;
  };
  const asked = joined(['warehouse_credits', 'inventory_credits', 'retirements'].map(of), ' UNION ALL ');
  return await largest(reader, 'name', sql`(${asked}) AS named`);
}

/** What the mirror was filled from; null before the first worker. */
export async function readOrigin(reader: Reader) {
  return await first(reader, sql`SELECT ${columns('origin', ['base_url', 'app_id'])} FROM mirror.origin`);
}

/** What may be chosen by its name. */
export interface NamedChoice {
  readonly value: string;
  readonly says: string;
}

/** More are not looked through by eye: then an id is asked for. */
export const MOST_CHOICES = 200;

/** Null where there are too many. */
export async function readChoices(
  { all }: Reader,
  of: Kind,
  at: string | null,
): Promise<NamedChoice[] | null> {
  const found = await all(sql`${named(of, at)} LIMIT ${MOST_CHOICES + 1}`);
  return found.length > MOST_CHOICES ? null : found.map(({ id, name }) => ({ value: id, says: name ?? id }));
}
