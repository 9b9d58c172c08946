import type { Reader } from '../store/contract/reader.js';
import { count, NULLS_FIRST, ofOne, stoodAt } from './sql.js';

/** An organization that is known. */
export interface Known {
  /** Null where nobody has looked yet at what a webhook has named. */
  readonly organizationId: string | null;
  readonly installationId: string;
  readonly name: string | null;
  readonly state: string;
}

/** One of them, or all. */
export async function readKnown({ db }: Reader, organizationId: string | null): Promise<Known[]> {
  return await db
    .selectFrom('coverage')
    .where(ofOne(organizationId))
    .select([
      'organization_id as organizationId',
      'installation_id as installationId',
      'organization_name as name',
      'state',
    ])
    .orderBy('organization_name', NULLS_FIRST)
    .orderBy('organization_id', NULLS_FIRST)
    .orderBy('installation_id')
    .execute();
}

/** How many organizations any sum is a part of. Those that have removed the app are counted apart. */
export async function countKnown({ db }: Reader): Promise<number> {
  return await count(db.selectFrom('coverage').where('state', '<>', 'uninstalled'));
}

/** The same at an instant, those that had removed the app by then included: what had been read stays. */
export async function countKnownAt({ db }: Reader, at: string): Promise<number> {
  const known = db
    .selectFrom('installations_history')
    .where(stoodAt(at))
    .select('organization_id')
    .distinct();
  return await count(db.selectFrom(known.as('known')));
}
