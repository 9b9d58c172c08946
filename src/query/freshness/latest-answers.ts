import { sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { tableRef, select, sqlStatement } from '../../store/sql/columns.js';

/**
 * Counts organizations by the HTTP status and the form of the registry's latest answer for each list. The form says, for example, whether
 * the answer had pages. Each group has the name of one organization as an example.
 */
export async function readLatestAnswers({ all }: Reader) {
  const list = tableRef('mirror.resource_states', 's');
  const organization = tableRef('mirror.organizations', 'o');
  const { resource, answer_status: status, answer_form: form } = list;
  return await all(sqlStatement`SELECT ${select({
    resource,
    // Both are set together with `last_answer_at`.
    status: sql<number>`${status}`,
    form: sql<string>`${form}`,
    organizations: sql<number>`count(*)`,
    last_answer_at: sql<string>`max(${list.last_answer_at})`,
    example: sql<string>`min(coalesce(${organization.full_name}, ${list.organization_id}))`,
    not_offered: sql<number>`count(${list.not_offered_at})`,
  })} FROM ${list()} LEFT JOIN ${organization()} ON ${organization.id} = ${list.organization_id}
    WHERE ${list.last_answer_at} IS NOT NULL GROUP BY ${resource}, ${status}, ${form}
    ORDER BY ${resource}, ${status} NULLS FIRST, ${form} NULLS FIRST`);
}
