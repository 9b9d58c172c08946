import type { Reader } from '../store/contract/reader.js';
import { countKnown } from './coverage.js';
import { count, plain } from './sql.js';

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
