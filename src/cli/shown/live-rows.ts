import type { RegistryClient } from '../../registry/clients.js';
import type { InventoryRequest, Reservation } from '../../registry/model.js';
import { reservationState } from '../../registry/reservation-state.js';
import { type ListOptions, organizationOf } from './live.js';
import type { Row } from '../output/output.js';

/** What an app holds and asks for, in the columns of the mirror. */
export async function* liveReservations(client: RegistryClient, options: ListOptions): AsyncIterable<Row> {
  const { owner, organizationId } = await organizationOf(client, options);
  for await (const { items } of owner.listReservations()) {
    for (const item of items) yield reservationRow(client, item, organizationId);
  }
}

export async function liveReservation(
  client: RegistryClient,
  id: string,
  options: ListOptions,
): Promise<Row> {
  const { owner, organizationId } = await organizationOf(client, options);
  return reservationRow(client, await owner.readReservation(id), organizationId);
}

export async function* liveRequests(client: RegistryClient, options: ListOptions): AsyncIterable<Row> {
  const { owner } = await organizationOf(client, options);
  for await (const { items } of owner.listInventoryRequests()) yield* items.map(requestRow);
}

export async function liveRequest(client: RegistryClient, id: string, options: ListOptions): Promise<Row> {
  return requestRow(await (await organizationOf(client, options)).owner.readInventoryRequest(id));
}

/** By the registry's clock where it is known: that one ends the hold. */
export function reservationRow(client: RegistryClient, item: Reservation, organizationId: string): Row {
  const now = client.http.localNow() + (client.http.clockSkewMs() ?? 0);
  const state = reservationState(item, now);
  const endsAt = item.reservedToDate === null ? Number.NaN : Date.parse(item.reservedToDate);
  const seconds = Math.floor((endsAt - now) / 1000);
  return {
    id: item.id,
    organization_id: organizationId,
    credit_id: item.creditId,
    amount_exact: item.amount.exact,
    state_now: state,
    seconds_left: state === 'outstanding' && seconds > 0 ? seconds : null,
    reserver_name: item.reserverName,
    created_at: item.createdAt,
    document: item.document,
  };
}

/** `seconds_left` as people count it, to a tenth of a minute. */
export function withMinutes({ seconds_left: seconds, ...row }: Row): Row {
  const isKnown = typeof seconds === 'number' || typeof seconds === 'bigint';
  return { ...row, minutes_left: isKnown ? Math.floor(Number(seconds) / 6) / 10 : null };
}

export function requestRow(item: InventoryRequest): Row {
  return {
    id: item.id,
    organization_id: item.fromOrganizationId,
    action: item.action,
    state: item.state,
    credit_id: item.creditId,
    amount_exact: item.amount.exact,
    created_at: item.createdAt,
    document: item.document,
  };
}
