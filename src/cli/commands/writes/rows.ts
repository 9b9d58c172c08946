import { minutesOf } from '../../../query/lists/lists.js';
import type { RegistryClient } from '../../../registry/clients.js';
import type { InventoryRequest, Reservation } from '../../../registry/model.js';
import { reservationState } from '../../../registry/reservation-state.js';
import type { Row } from '../../output/output.js';

/** By the registry's clock where it is known: that clock ends the reservation. */
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
    minutes_left: state === 'outstanding' && seconds > 0 ? minutesOf(seconds) : null,
    reserver_name: item.reserverName,
    created_at: item.createdAt,
    document: item.document,
  };
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
