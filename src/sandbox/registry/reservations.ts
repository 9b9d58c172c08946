import { conflict, forbidden } from '../http/api-errors.js';
import { type PageRequest, paginate } from '../http/paging.js';
import { readBody, readCreditAmount } from '../http/request-body.js';
import { toInstant } from '../store/clock.js';
import type { ReservationRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { sortNewestFirst } from '../store/tables.js';
import { getCreditWithProject, toReservationJson } from './to-json.js';
import { parseAction, readReceiver, readRetirementDetails, type TransactionService } from './transactions.js';

/** How long a reservation lasts. */
const HOLD_MS = 10 * 60 * 1000;

/** A reservation id, the action that finishes the reservation, and the request body. */
export interface FinishOrder {
  readonly id: string;
  readonly action: string;
  readonly body: unknown;
}

/** Creates the service that reserves credits of a warehouse for ten minutes. */
export function createReservationService(
  { tables, accounts, newId, now, defineOperation }: SandboxStore,
  transactions: TransactionService,
  asDocumented: boolean,
) {
  // A reservation is cancelled, is finished by a transaction, or expires.
  const { apps, credits, reservations } = tables;

  /** Converts a reservation to JSON, including the credit, the app and the reservation's state. */
  function toJsonWithState(row: ReservationRecord) {
    return toReservationJson(row, getCreditWithProject(tables, row.creditId), apps.getOrThrow(row.appId));
  }

  /**
   * Converts a reservation to JSON. If `asDocumented` is true, leaves out the state of the reservation, which the real registry may not
   * send.
   */
  function toJson(row: ReservationRecord) {
    const { state, ...shown } = toJsonWithState(row);
    return asDocumented ? shown : { ...shown, state };
  }

  /** Converts a reservation to the JSON of the control API, including the organization's id. */
  function toControlJson(row: ReservationRecord) {
    return { ...toJsonWithState(row), organizationId: row.organizationId };
  }

  /** Returns an outstanding reservation of the app. Throws if the reservation has ended or another app made it. */
  function getOutstandingReservation(organizationId: string, appId: string, id: string): ReservationRecord {
    const row = reservations.getOrThrow(id, organizationId);
    if (row.appId !== appId) throw forbidden('The reservation was made by another app');
    assertOutstanding(row);
    return row;
  }

  /** Expires a reservation before its ten minutes have passed. */
  const expire = defineOperation('expire reservation', (id: string) => {
    const row = reservations.getOrThrow(id);
    assertOutstanding(row);
    reservations.put({ ...row, reservedToDate: now() });
    accounts.expireDueReservations(now());
    return toControlJson(reservations.getOrThrow(id));
  });

  const reserve = defineOperation('reserve', (organizationId: string, appId: string, body: unknown) => {
    const { creditId, amountMicro } = readBody(body, readCreditAmount);
    credits.getOrThrow(creditId);
    accounts.removeCredits(organizationId, 'warehouse', creditId, amountMicro);
    const createdAt = now();
    const row: ReservationRecord = {
      id: newId(),
      organizationId,
      appId,
      creditId,
      amountMicro,
      state: 'outstanding',
      createdAt,
      updatedAt: createdAt,
      reservedToDate: toInstant(Date.parse(createdAt) + HOLD_MS),
    };
    reservations.put(row);
    return toJson(row);
  });

  const cancel = defineOperation('cancel', (organizationId: string, appId: string, id: string) => {
    const row = getOutstandingReservation(organizationId, appId, id);
    accounts.addCredits(organizationId, 'warehouse', row.creditId, row.amountMicro);
    reservations.put({ ...row, state: 'cancelled', updatedAt: now(), reservedToDate: now() });
    return toJson(reservations.getOrThrow(id));
  });

  /** Finishes a reservation by a transfer or retirement of the reserved credits. */
  const finish = defineOperation(
    'finish',
    (organizationId: string, appId: string, { id, action: actionName, body }: FinishOrder) => {
      const action = parseAction(actionName);
      const { creditId, amountMicro } = getOutstandingReservation(organizationId, appId, id);
      const { receiver, retirementDetails, comment } = readBody(body, (fields, problems) => ({
        receiver: readReceiver(fields, {
          action,
          idField: 'receiverId',
          addressField: 'receiverAddress',
          problems,
        }),
        retirementDetails: readRetirementDetails(fields, action),
        comment: fields.optionalText('transferComment'),
      }));
      transactions.assertPossible(action, credits.getOrThrow(creditId).type);
      transactions.executeOrder({
        event: 'warehouseTransaction',
        type: action,
        organizationId,
        appId,
        ...transactions.resolveReceiver(action, receiver),
        reservationId: id,
        requestId: null,
        creditId,
        amountMicro,
        retirementDetails,
        comment,
      });
      return toJson(reservations.getOrThrow(id));
    },
  );

  return {
    /** Returns one page of an organization's reservations. */
    list(organizationId: string, query: PageRequest) {
      const { pagination, items } = paginate(reservations, query, organizationId);
      return { pagination, reservations: items.map(toJson) };
    },
    get: (organizationId: string, id: string) => toJson(reservations.getOrThrow(id, organizationId)),
    reserve,
    cancel,
    finish,
    /** Lists the newest reservations of all organizations. */
    listNewest: (limit: number) => sortNewestFirst(reservations.list()).slice(0, limit).map(toControlJson),
    expire,
  };
}

/** Throws a 409 error if the reservation was finished or cancelled or has expired. */
function assertOutstanding(row: ReservationRecord): void {
  if (row.state !== 'outstanding') throw conflict(`The reservation is ${row.state}`);
}
