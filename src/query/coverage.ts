import type { Reader } from '../engines/contract/reader.js';
import { count } from './count.js';

/** How many organizations any sum is a part of. Those that have removed the app are counted apart. */
export async function countKnown({ db }: Reader): Promise<number> {
  return await count(db.selectFrom('coverage').where('state', '<>', 'uninstalled'));
}

/** The same at an instant, those that had removed the app by then included: what had been read stays. */
export async function countKnownAt({ db }: Reader, at: string): Promise<number> {
  const known = db
    .selectFrom('installations_history')
    .where('valid_from', '<=', at)
    .where(eb => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', at)]))
    .select('organization_id')
    .distinct();
  return await count(db.selectFrom(known.as('known')));
}
