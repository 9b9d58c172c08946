import type { Reader } from '../store/contract/reader.js';
import { count, largest } from './sql.js';

/** Of what no later read brings back: how many there are, and the newest. */
interface Kept {
  readonly count: number;
  readonly id: number;
  readonly at: string | null;
}

export interface AllKept {
  readonly deliveries: Kept;
  readonly syncs: Kept;
}

const NONE: Kept = { count: 0, id: 0, at: null };

/** What is there, or only what came after that. */
export async function readKept(
  { db }: Reader,
  after: AllKept = { deliveries: NONE, syncs: NONE },
): Promise<AllKept> {
  const [deliveries, syncs] = [db.selectFrom('inbox.deliveries'), db.selectFrom('syncs')];
  const [delivery, sync] = [after.deliveries.id, after.syncs.id];
  const [newDeliveries, newSyncs] = [deliveries.where('id', '>', delivery), syncs.where('id', '>', sync)];
  return {
    deliveries: {
      count: await count(newDeliveries),
      id: (await largest(newDeliveries, 'id')) ?? delivery,
      at: await largest(newDeliveries, 'received_at'),
    },
    syncs: {
      count: await count(newSyncs),
      id: (await largest(newSyncs, 'id')) ?? sync,
      at: await largest(newSyncs, 'started_at'),
    },
  };
}
