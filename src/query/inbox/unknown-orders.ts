import type { Reader } from '../../store/contract/reader.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { instantBefore } from './instant-before.js';

/** Nobody can close an order of the state `unknown`, so it is reported for so long. */
export const UNKNOWN_ORDER_REPORTED_DAYS = 7;
const DAY_MS = 86_400_000;

/** Orders of the console whose answer was lost, so that a person must look at the registry. */
export interface UnknownOrders {
  readonly orders: number;
  /** The order that ended first. */
  readonly firstId: number;
  /** When the first of them ended. */
  readonly since: string;
}

/** Reads the orders whose result has been unknown for at most `UNKNOWN_ORDER_REPORTED_DAYS`. Null if there are none. */
export async function readUnknownOrders(reader: Reader, now: number): Promise<UnknownOrders | null> {
  const orders = await reader.all(
    queryBuilder
      .selectFrom('inbox.orders')
      .select(['id', 'finished_at'])
      .where('state', '=', 'unknown')
      .where('finished_at', '>=', instantBefore(now, UNKNOWN_ORDER_REPORTED_DAYS * DAY_MS))
      .orderBy('finished_at')
      .orderBy('id'),
  );
  const [first] = orders;
  if (first === undefined || first.finished_at === null) return null;
  return { orders: orders.length, firstId: first.id, since: first.finished_at };
}
