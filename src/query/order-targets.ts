/** Reads what a person must know, and what must be true, before an order is placed. */
import type { Order } from '../inbox/order.js';
import { LISTS } from '../resources/lists.js';
import type { Reader } from '../store/contract/reader.js';
import type { Row } from '../store/contract/tables.js';
import { queryBuilder } from '../store/sql/builder.js';
import { readInstallationTargets } from './at-registry.js';
import { readRowsById } from './lists/find-by-id.js';
import { readFirst } from './read-one.js';

/** Reads one credit in the warehouse of an organization. Null if the mirror has no such credit. */
export async function readWarehouseCredit(
  reader: Reader,
  organizationId: string,
  creditId: string,
): Promise<Row | null> {
  const [credit = null] = await readRowsById(reader, LISTS.warehouse, creditId, { organizationId });
  return credit;
}

/** Reads one reservation with its state and the seconds that are left. Null if the mirror has no such reservation. */
export async function readReservation(
  reader: Reader,
  organizationId: string,
  reservationId: string,
): Promise<Row | null> {
  const from = 'reservations_now';
  const [reservation = null] = await readRowsById(reader, LISTS.reservations, reservationId, {
    organizationId,
    from,
  });
  return reservation;
}

/** Returns whether the app may act for an organization: one of its installations is active. */
export async function hasActiveInstallation(reader: Reader, organizationId: string): Promise<boolean> {
  const installations = await readInstallationTargets(reader, organizationId);
  return installations.some(({ state }) => state === 'active');
}

/** Reads the id of the app that the worker uses at the registry. Null before a worker has started for the first time. */
export async function readAppId(reader: Reader): Promise<string | null> {
  const origin = await readFirst(reader, queryBuilder.selectFrom('mirror.origin').select('app_id'));
  return origin?.app_id ?? null;
}

/** Reads the order that was placed under a key. Null if no order was. */
export async function readOrderByKey(reader: Reader, key: string): Promise<Order | null> {
  return await readFirst(
    reader,
    queryBuilder
      .selectFrom('inbox.orders')
      .select([
        'id',
        'key',
        'actor',
        'action',
        'organization_id as organizationId',
        'credit_id as creditId',
        'amount_exact as amount',
        'reservation_id as reservationId',
        'receiver_id as receiverId',
        'beneficiary',
        'reason',
        'comment',
        'state',
        'sent_at as sentAt',
      ])
      .where('key', '=', key),
  );
}
