import { conflict, forbidden } from '../http/errors.js';
import { type PageQuery, pageOf } from '../http/pages.js';
import { readBody, readPart } from '../http/validate.js';
import { toInstant } from '../store/clock.js';
import type { ReservationRow } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { newestFirst } from '../store/tables.js';
import { findIssued, reservation } from './shapes.js';
import { readAction, readDestination, readRetirementWords, type Transactions } from './transactions.js';

const HOLD_MS = 10 * 60 * 1000;

export interface FinishOrder {
  readonly id: string;
  readonly action: string;
  readonly body: unknown;
}

export function createReservations(
  { tables, accounts, newId, now, verb }: Store,
  transactions: Transactions,
  asDocumented: boolean,
) {
  const { apps, credits, reservations } = tables;

  function showState(row: ReservationRow) {
    return reservation(row, findIssued(tables, row.creditId), apps.find(row.appId));
  }

  function show(row: ReservationRow) {
    const { state, ...shown } = showState(row);
    return asDocumented ? shown : { ...shown, state };
  }

  function showWhole(row: ReservationRow) {
    return { ...showState(row), organizationId: row.organizationId };
  }

  function findOutstanding(organizationId: string, appId: string, id: string): ReservationRow {
    const row = reservations.find(id, organizationId);
    if (row.appId !== appId) throw forbidden('The reservation was made by another app');
    return demandOutstanding(row);
  }

  /** As if its time had come. */
  const expire = verb('expire reservation', (id: string) => {
    reservations.put({ ...demandOutstanding(reservations.find(id)), reservedToDate: now() });
    accounts.endExpiredReservations(now());
    return showWhole(reservations.find(id));
  });

  const reserve = verb('reserve', (organizationId: string, appId: string, body: unknown) => {
    const { creditId, micro } = readBody(body, readPart);
    credits.find(creditId);
    accounts.take(organizationId, 'warehouse', creditId, micro);
    const at = now();
    const row: ReservationRow = {
      id: newId(),
      organizationId,
      appId,
      creditId,
      amountMicro: micro,
      state: 'outstanding',
      createdAt: at,
      updatedAt: at,
      reservedToDate: toInstant(Date.parse(at) + HOLD_MS),
    };
    reservations.put(row);
    return show(row);
  });

  const cancel = verb('cancel', (organizationId: string, appId: string, id: string) => {
    const row = findOutstanding(organizationId, appId, id);
    accounts.give(organizationId, 'warehouse', row.creditId, row.amountMicro);
    reservations.put({ ...row, state: 'cancelled', updatedAt: now(), reservedToDate: now() });
    return show(reservations.find(id));
  });

  const finish = verb(
    'finish',
    (organizationId: string, appId: string, { id, action: word, body }: FinishOrder) => {
      const action = readAction(word);
      const { creditId, amountMicro } = findOutstanding(organizationId, appId, id);
      const { to, ...told } = readBody(body, (fields, faults) => ({
        to: readDestination(fields, { action, id: 'receiverId', address: 'receiverAddress', faults }),
        words: readRetirementWords(fields, action),
        comment: fields.optionalText('transferComment'),
      }));
      transactions.demandPossible(action, credits.find(creditId).type);
      transactions.carryOut({
        event: 'warehouseTransaction',
        type: action,
        organizationId,
        appId,
        ...transactions.resolve(action, to),
        reservationId: id,
        requestId: null,
        creditId,
        amountMicro,
        ...told,
      });
      return show(reservations.find(id));
    },
  );

  return {
    list(organizationId: string, query: PageQuery) {
      const { pagination, items } = pageOf(reservations, query, organizationId);
      return { pagination, reservations: items.map(show) };
    },
    get: (organizationId: string, id: string) => show(reservations.find(id, organizationId)),
    reserve,
    cancel,
    finish,
    /** The human side: of every organization, the newest first. */
    newest: (limit: number) => newestFirst(reservations.rows()).slice(0, limit).map(showWhole),
    expire,
  };
}

function demandOutstanding(row: ReservationRow): ReservationRow {
  if (row.state !== 'outstanding') throw conflict(`The reservation is ${row.state}`);
  return row;
}
