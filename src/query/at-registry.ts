import type { Reader } from '../store/contract/reader.js';
import type { Row, Tables, Value } from '../store/contract/tables.js';
import { type ResourceEntry, listKeyColumns } from '../resources/entry.js';
import { LIST_RESOURCES } from '../resources/lists.js';
import { UNREADABLE } from './coverage.js';
import { columns, first, ofOne, only, plain, sql, table } from './sql.js';

/** Something that stands at the registry by itself, and is asked for by its id. */
export interface ComparedObject {
  readonly organization_id: string;
  readonly installation_id: string;
  readonly key: string;
  /** Null for what the mirror says is not there. */
  readonly kept: string | null;
}

/** Each with its state; null where it is uninstalled. */
export async function readInstallations({ all }: Reader) {
  return await all(sql<ComparedObject>`SELECT coalesce(organization_id, '') AS organization_id, id AS installation_id, id AS key,
      CASE state WHEN 'uninstalled' THEN NULL ELSE state || ' ' || document END AS kept
    FROM mirror.installations ORDER BY id`);
}

const ACTIVE = plain(`SELECT organization_id, max(id) AS id FROM mirror.installations
  WHERE state = 'active' GROUP BY organization_id`);

/** By way of the organizations that name them. */
export async function readProjects({ all }: Reader) {
  return await all(sql<ComparedObject>`SELECT min(r.organization_id) AS organization_id, min(i.id) AS installation_id,
      p.id AS key, p.document AS kept
    FROM mirror.projects AS p
      JOIN mirror.project_states AS s ON s.project_id = p.id AND s.state = 'readable'
      JOIN mirror.project_references AS r ON r.project_id = p.id
      JOIN (${ACTIVE}) AS i ON i.organization_id = r.organization_id
    GROUP BY p.id, p.document ORDER BY p.id`);
}

/** So many versions after one, past ones too, whole. */
export async function readVersions({ all }: Reader, of: string, after: Value, limit: number) {
  const history = table(`${of}_history`);
  return await all(
    sql<Row>`SELECT * FROM ${history} WHERE version > ${after} ORDER BY version LIMIT ${limit}`,
  );
}

/** The key and the registry's object of every row of an organization. */
export function readDocuments({ stream }: Reader, entry: ResourceEntry, organizationId: string) {
  const wanted = plain([...listKeyColumns(entry), 'document'].join(', '));
  const owner = plain(entry.scope ?? 'id');
  return stream(sql<Row>`SELECT ${wanted} FROM ${table(entry.table)} WHERE ${owner} = ${organizationId}`);
}

interface Readable {
  readonly organization_id: string;
  readonly installation_id: string;
  readonly resource: string;
}

/** Everything that was read completely and that an active installation lets us read again. */
export async function readReadable({ all }: Reader) {
  return await all(sql<Readable>`SELECT f.organization_id, i.id AS installation_id, f.resource
    FROM mirror.freshness AS f JOIN (${ACTIVE}) AS i ON i.organization_id = f.organization_id
    WHERE f.as_of IS NOT NULL AND f.state NOT IN ${UNREADABLE} ORDER BY f.organization_id, f.resource`);
}

interface NotCompared extends Pick<Tables['freshness'], 'resource' | 'reason'> {
  readonly organization_id: string | null;
  readonly name: string | null;
  readonly installation_id: string;
  readonly state: string;
}

/** Lists that the mirror keeps or would keep, and that nobody can read again or has read completely. */
export async function readNotCompared({ all }: Reader) {
  return await all(sql<NotCompared>`SELECT c.organization_id, c.installation_id, c.organization_name AS name,
      coalesce(f.resource, '*') AS resource, coalesce(f.state, c.state) AS state, f.reason
    FROM mirror.coverage AS c LEFT JOIN mirror.freshness AS f ON f.organization_id = c.organization_id
    WHERE (f.as_of IS NULL OR f.state IN ${UNREADABLE})
      AND (f.resource IS NULL OR f.resource IN ${[...LIST_RESOURCES, '*']})
    ORDER BY c.organization_id NULLS FIRST, c.installation_id, f.resource`);
}

/** An installation by which the registry can be asked. */
export interface InstallationTarget extends Pick<Tables['installations'], 'organization_id' | 'state'> {
  readonly installation_id: string;
}

/** All that are not uninstalled, or those of one organization. */
export async function readTargets({ all }: Reader, organizationId: string | null) {
  const wanted = organizationId === null ? plain(`state <> 'uninstalled'`) : ofOne(organizationId);
  return await all(sql<InstallationTarget>`SELECT id AS installation_id, organization_id, state
    FROM mirror.installations WHERE ${wanted} ORDER BY organization_id NULLS FIRST, id`);
}

/** The newest installation of an organization, an active one first. */
export async function readInstalled(reader: Reader, organizationId: string) {
  const asked = sql`SELECT ${columns('installations', ['id', 'document'])} FROM mirror.installations
    WHERE organization_id = ${organizationId}
    ORDER BY CASE state WHEN 'active' THEN 0 ELSE 1 END, version DESC LIMIT 1`;
  return await first(reader, asked);
}

/** The first credit in the warehouse of an organization. */
export async function readFirstCredit(reader: Reader, organizationId: string): Promise<string | null> {
  const asked = sql<{ first: string | null }>`SELECT min(credit_id) AS first FROM mirror.warehouse_credits
    WHERE organization_id = ${organizationId}`;
  return (await only(reader, asked)).first;
}
