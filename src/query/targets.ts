import type { Reader } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';
import { columns, first, ofOne, only, plain, sql } from './sql.js';

/** An installation by which the registry can be asked. */
export interface Target extends Pick<Tables['installations'], 'organization_id' | 'state'> {
  readonly installation_id: string;
}

/** All that are not uninstalled, or those of one organization. */
export async function readTargets({ all }: Reader, organizationId: string | null) {
  const wanted = organizationId === null ? plain(`state <> 'uninstalled'`) : ofOne(organizationId);
  return await all(sql<Target>`SELECT id AS installation_id, organization_id, state
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
