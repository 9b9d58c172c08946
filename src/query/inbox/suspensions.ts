import { sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { queryBuilder } from '../../store/sql/builder.js';
import type { TypeAmount } from '../answer/answer.js';
import { totalsOfSums } from '../answer/totals.js';
import { sumWarehouses } from '../sums.js';

/** The organizations that have suspended the app, and the credits that nobody can reserve meanwhile. */
export interface Suspensions {
  readonly organizations: number;
  /** The organization that was suspended first. */
  readonly firstId: string;
  readonly firstName: string | null;
  /** When the mirror observed the first suspension. */
  readonly since: string;
  /** The last known amounts of all of them, by credit type. */
  readonly amounts: readonly TypeAmount[];
  /** Credits without a usable amount, which are in no sum. */
  readonly rowsWithoutAmount: number;
}

/** Reads which organizations have suspended the app, and adds up their credits. Returns null if no organization has. */
export async function readSuspensions(reader: Reader): Promise<Suspensions | null> {
  const suspended = await reader.all(
    queryBuilder
      .selectFrom('mirror.coverage as known')
      .innerJoin('mirror.installations_history as version', 'version.id', 'known.installation_id')
      .where('known.state', '=', 'suspended')
      .where('known.organization_id', 'is not', null)
      .where(eb =>
        // The versions since the state last changed.
        eb.not(
          eb.exists(
            eb
              .selectFrom('mirror.installations_history as other')
              .select('other.id')
              .whereRef('other.id', '=', 'version.id')
              .whereRef('other.valid_from', '>=', 'version.valid_from')
              .where('other.state', '<>', 'suspended'),
          ),
        ),
      )
      .select([
        sql<string>`known.organization_id`.as('organization_id'),
        'known.organization_name',
        sql<string>`min(version.valid_from)`.as('since'),
      ])
      .groupBy(['known.organization_id', 'known.organization_name'])
      .orderBy('since')
      .orderBy('known.organization_id'),
  );
  const [first] = suspended;
  if (first === undefined) return null;
  const ids = suspended.map(({ organization_id: id }) => id);
  const totals = totalsOfSums(await sumWarehouses(reader, ids, ['type']));
  return {
    organizations: suspended.length,
    firstId: first.organization_id,
    firstName: first.organization_name,
    since: first.since,
    amounts: totals.amounts ?? [],
    rowsWithoutAmount: totals.rowsWithoutAmount,
  };
}
