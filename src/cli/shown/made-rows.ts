import type { RegistryClient } from '../../registry/clients.js';
import type { Credit, InventoryRequest, Reservation } from '../../registry/model.js';
import { reservationState } from '../../registry/reservation-state.js';
import type { Row } from '../output/output.js';

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

export function creditRow({ creditId, amount, project, vintage, serialization }: Credit): Row {
  return {
    credit_id: creditId,
    amount_exact: amount.exact,
    project_name: project?.fullName,
    vintage,
    serialization,
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
