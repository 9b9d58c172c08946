import type { Reader } from '../../engines/contract/reader.js';

/** How many organizations stand so with a resource, and when theirs was last read completely. */
export interface FreshnessSum {
  readonly state: string;
  readonly organizations: number;
  /** Null where none was. */
  readonly oldestAt: string | null;
  readonly newestAt: string | null;
}

/** Of one organization, or of all that are known; the states in the order of their names. */
export async function sumFreshness(
  { db }: Reader,
  resource: string,
  organizationId: string | null,
): Promise<FreshnessSum[]> {
  let asked = db.selectFrom('freshness').where('resource', 'in', [resource, '*']);
  if (organizationId !== null) asked = asked.where('organization_id', '=', organizationId);
  return await asked
    .groupBy('state')
    .select(eb => [
      'state',
      eb.fn.countAll<number>().as('organizations'),
      eb.fn.min('complete_at').as('oldestAt'),
      eb.fn.max('complete_at').as('newestAt'),
    ])
    .orderBy('state')
    .execute();
}
