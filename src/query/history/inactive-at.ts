import { sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { queryBuilder } from '../../store/sql/builder.js';
import type { NamedObject } from '../names.js';
import { buildOrganizationCondition, buildValidAtCondition } from '../read-one.js';

/** An organization whose credits could not be sold at an instant. */
export interface InactiveOrganization extends NamedObject {
  readonly state: 'suspended' | 'uninstalled';
}

/**
 * Reads the organizations that had suspended or removed the app, as far as the mirror had observed by an instant. A null id stands
 * for all organizations.
 */
export async function readInactiveAt(
  { all }: Reader,
  at: string,
  organizationId: string | null,
): Promise<InactiveOrganization[]> {
  // The names of the states happen to sort by activity: active, suspended, uninstalled.
  const states = queryBuilder
    .selectFrom('mirror.installations_history')
    .select(eb => [
      sql<string>`organization_id`.as('id'),
      eb.fn.min<'active' | InactiveOrganization['state']>('state').as('state'),
    ])
    .where('organization_id', 'is not', null)
    .where(buildOrganizationCondition(organizationId))
    .where(buildValidAtCondition(at))
    .groupBy('organization_id');
  const rows = await all(
    queryBuilder
      .selectFrom(states.as('installed'))
      .leftJoin('mirror.organizations_history as organization', join =>
        join.onRef('organization.id', '=', 'installed.id').on(buildValidAtCondition(at, 'organization')),
      )
      .select(['installed.id', 'installed.state', 'organization.full_name as name'])
      .where('installed.state', '<>', 'active')
      .orderBy('installed.id'),
  );
  return rows.flatMap(({ state, ...organization }) =>
    state === 'active' ? [] : [{ ...organization, state }],
  );
}
