import type { Tables } from '../store/contract/tables.js';
import type { Reader, Statement } from '../store/contract/reader.js';
import { count, ofOne, only, plain, sql, stoodAt } from './sql.js';

/** What nobody can read any more, or never could. */
export const UNREADABLE = plain("('no_access', 'not_offered')");

/** An organization that is known; its id is null where nobody has looked yet at what a webhook has named. */
export interface KnownOrganization
  extends Pick<Tables['coverage'], 'organization_id' | 'installation_id' | 'state'> {
  readonly name: string | null;
}

/** One of them, or all. */
export async function readKnown({ all }: Reader, organizationId: string | null) {
  return await all(sql<KnownOrganization>`SELECT organization_id, installation_id, organization_name AS name, state
    FROM mirror.coverage WHERE ${ofOne(organizationId)}
    ORDER BY organization_name NULLS FIRST, organization_id NULLS FIRST, installation_id`);
}

/** How many organizations any sum is a part of. Those that have removed the app are counted apart. */
export async function countKnown(reader: Reader): Promise<number> {
  return await count(reader, plain(`mirror.coverage WHERE state <> 'uninstalled'`));
}

/** Of how many of them, or of those that have removed the app, all lists of amounts are there that were ever to be read. */
export async function countSummed(reader: Reader, is: '<>' | '='): Promise<number> {
  const amounts = `AND resource IN ('warehouse', 'inventory', 'retirements')`;
  return await count(
    reader,
    plain(`mirror.coverage WHERE state ${is} 'uninstalled' AND organization_id IN (
      SELECT organization_id FROM mirror.resource_states WHERE first_complete_at IS NOT NULL ${amounts}
      EXCEPT SELECT organization_id FROM mirror.freshness WHERE state = 'never_read' ${amounts})`),
  );
}

/** How many of the known organizations the sums of a list cover. */
export interface ListCoverage {
  readonly organizations: number;
  readonly known: number;
  /** Organizations among them whose list is not fresh: its rows are as they were last seen. */
  readonly last_seen: number;
}

/** Organizations that have the app, and whose list was read completely at least once. */
export function selectInstalled(resource: string): Statement {
  return sql`(SELECT organization_id FROM mirror.resource_states
    WHERE resource = ${resource} AND first_complete_at IS NOT NULL AND organization_id IN (
      SELECT organization_id FROM mirror.coverage WHERE state <> 'uninstalled'))`;
}

export async function readListCoverage(reader: Reader, resource: string): Promise<ListCoverage> {
  const counts = await only(
    reader,
    sql<Omit<ListCoverage, 'known'>>`SELECT count(*) AS organizations,
      count(*) FILTER (WHERE state <> 'fresh') AS last_seen FROM mirror.freshness
    WHERE resource = ${resource} AND organization_id IN ${selectInstalled(resource)}`,
  );
  return { ...counts, known: await countKnown(reader) };
}

/** The same at an instant, those that had removed the app by then included: what had been read stays. */
export async function countKnownAt(reader: Reader, at: string): Promise<number> {
  const known = sql`SELECT DISTINCT organization_id FROM mirror.installations_history WHERE ${stoodAt(at)}`;
  return await count(reader, sql`(${known}) AS known`);
}

/** How much of what is to be mirrored is there. */
export async function readMirrored(reader: Reader) {
  const rowsOf = (from: string) => count(reader, plain(`mirror.${from}`));
  const unread = await rowsOf(`freshness WHERE state = 'never_read'`);
  return {
    organizations: await countKnown(reader),
    credits: (await rowsOf('warehouse_credits')) + (await rowsOf('inventory_credits')),
    retirements: await rowsOf('retirements'),
    certificates: await rowsOf(`certificates WHERE state = 'stored'`),
    /** Resources and certificates that nobody has read yet, and can. */
    unread: unread + (await rowsOf(`certificates_missing WHERE state = 'pending'`)),
  };
}
