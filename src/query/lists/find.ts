import type { Reader, Statement } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { type ResourceEntry, getIdColumn, findOwnerColumn } from '../../resources/entry.js';
import { findResourceOfTable } from '../../resources/resources.js';
import { plain, sql, table } from '../sql.js';
import { beginsWith, inSql } from './filter.js';

/** Where it is looked for: among all that is shown, where nothing is said. */
export interface IdSearchScope {
  readonly from?: string;
  readonly organizationId?: string | null;
}

/** The whole names that begin so, two at most: one is meant, of two nobody knows which. Of what is gone, too, where that is asked for. */
export async function readBeginnings(
  { all }: Reader,
  entry: ResourceEntry,
  text: string,
  { from = entry.display.source, organizationId = null }: IdSearchScope = {},
): Promise<string[]> {
  const name = plain(getIdColumn(entry));
  const rows = await all(sql<{ name: string }>`SELECT DISTINCT ${name} AS name FROM ${table(from)}
    WHERE ${ofWhom(entry, organizationId)} AND ${name} >= ${text} AND ${name} < ${`${text}\u{10ffff}`}
    ORDER BY name LIMIT 2`);
  return rows.map(row => row.name);
}

/** Every row of this name: a credit may stand in several organizations. */
export async function readByName(
  { all }: Reader,
  entry: ResourceEntry,
  name: string,
  { from = entry.display.source, organizationId = null }: IdSearchScope = {},
) {
  return await all(sql<Row>`SELECT * FROM ${table(from)}
    WHERE ${ofWhom(entry, organizationId)} AND ${plain(getIdColumn(entry))} = ${name} ORDER BY valid_from, version`);
}

/** Every version of them, oldest first; `valid_to` is null for what is still true. */
export async function readHistory(
  reader: Reader,
  entry: ResourceEntry,
  name: string,
  organizationId: string | null = null,
) {
  return await readByName(reader, entry, name, { from: `${entry.table}_history`, organizationId });
}

function ofWhom(entry: ResourceEntry, organizationId: string | null): Statement {
  if (organizationId === null) return ofAnyOrganization(entry);
  const owner = findOwnerColumn(entry);
  return owner === null ? isNamedBy(organizationId) : sql`${plain(owner)} = ${organizationId}`;
}

/** What belongs to nobody is of every organization that names it, as it does projects. */
export function isNamedBy(organizationId: string): Statement {
  return sql`id IN (SELECT project_id FROM mirror.project_references WHERE organization_id = ${organizationId})`;
}

/** Where keys begin with the organization, one row is searched for in all of them. */
export function ofAnyOrganization(entry: ResourceEntry | null): Statement {
  if (entry?.scope !== 'organization_id') return plain('1 = 1');
  return sql`organization_id IN (SELECT organization_id FROM mirror.resource_states WHERE resource = ${listOf(entry)})`;
}

/** The list that must have been read where there are rows. A certificate comes with its retirement. */
function listOf(entry: ResourceEntry): string {
  return entry.table === 'certificates' ? 'retirements' : findResourceOfTable(entry);
}

/** Ids of the projects that credits and retirements name, and that begin so; two at most. */
export async function readNamedProjects({ all }: Reader, text: string): Promise<string[]> {
  const rows = await all(sql<{ id: string }>`SELECT DISTINCT project_id AS id FROM mirror.project_references
    WHERE ${inSql(beginsWith('project_id', text))} ORDER BY id LIMIT 2`);
  return rows.map(({ id }) => id);
}
