import type { Reader } from '../store/contract/reader.js';
import { only, plain, sql } from './sql.js';

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

/** What is there, or only what came after that. */
export async function readKept(reader: Reader, after: AllKept | null = null): Promise<AllKept> {
  return {
    deliveries: await readAfter(reader, 'inbox.deliveries', 'received_at', after?.deliveries.id ?? 0),
    syncs: await readAfter(reader, 'mirror.syncs', 'started_at', after?.syncs.id ?? 0),
  };
}

async function readAfter(reader: Reader, from: string, came: string, after: number): Promise<Kept> {
  const asked = sql<Kept>`SELECT count(*) AS count, coalesce(max(id), ${after}) AS id, max(${plain(came)}) AS at
    FROM ${plain(from)} WHERE id > ${after}`;
  return await only(reader, asked);
}
