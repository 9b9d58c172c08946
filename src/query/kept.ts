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
  const read = async (table: string, at: string, { id }: Kept): Promise<Kept> => {
    const asked = sql<Kept>`SELECT count(*) AS count, coalesce(max(id), ${id}) AS id, max(${sql.ref(at)}) AS at
      FROM ${sql.table(table)} WHERE id > ${id}`;
    return (await asked.execute(db)).rows[0] ?? NONE;
  };
  return {
    deliveries: await read('inbox.deliveries', 'received_at', after.deliveries),
    syncs: await read('syncs', 'started_at', after.syncs),
  };
}
