import { sql } from 'kysely';
import type { Reader } from '../store/contract/reader.js';

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
  const read = async (
    table: 'inbox.deliveries' | 'syncs',
    at: 'received_at' | 'started_at',
    { id }: Kept,
  ): Promise<Kept> => {
    const { count, newest, begun } = await db
      .selectFrom(table)
      .select(eb => [
        eb.fn.countAll<number>().as('count'),
        eb.fn.max<number | null>('id').as('newest'),
        eb.fn.max<string | null>(sql.ref(at)).as('begun'),
      ])
      .where('id', '>', id)
      .executeTakeFirstOrThrow();
    return { count, id: newest ?? id, at: begun };
  };
  return {
    deliveries: await read('inbox.deliveries', 'received_at', after.deliveries),
    syncs: await read('syncs', 'started_at', after.syncs),
  };
}
