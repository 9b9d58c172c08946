import type { Reader } from '../store/contract/reader.js';
import { countKnown } from './coverage.js';
import { count } from './sql.js';

/** How much of what is to be mirrored is there. */
export interface Mirrored {
  readonly organizations: number;
  readonly credits: number;
  readonly retirements: number;
  readonly certificates: number;
  /** Resources and certificates that nobody has read yet, and can. */
  readonly unread: number;
}

export async function readMirrored(reader: Reader): Promise<Mirrored> {
  const { db } = reader;
  const unread = db.selectFrom('freshness').where('state', '=', 'never_read');
  const pending = db.selectFrom('certificates_missing').where('state', '=', 'pending');
  return {
    organizations: await countKnown(reader),
    credits:
      (await count(db.selectFrom('warehouse_credits'))) + (await count(db.selectFrom('inventory_credits'))),
    retirements: await count(db.selectFrom('retirements')),
    certificates: await count(db.selectFrom('certificates').where('state', '=', 'stored')),
    unread: (await count(unread)) + (await count(pending)),
  };
}
