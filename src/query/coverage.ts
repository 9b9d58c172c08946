import type { Reader } from '../engines/contract/reader.js';
import { count } from './count.js';

/** How many organizations any sum is a part of. Those that have removed the app are counted apart. */
export async function countKnown({ db }: Reader): Promise<number> {
  return await count(db.selectFrom('coverage').where('state', '<>', 'uninstalled'));
}
