import { toInstant } from '../store/clock.js';
import { conflict, forbidden, found } from '../http/errors.js';
import { type ListAnswer, type PageQuery, toPage } from '../http/pages.js';
import type { ReservationRow } from '../store/rows.js';
import { findIssued, reservation } from './shapes.js';
import type { Store } from '../store/store.js';
import { newestFirst } from '../store/table.js';
import { type Transactions, readAction, readDestination, readRetirementData } from './transactions.js';
import { readFields, refuseFaults } from '../http/validate.js';

const HOLD_MS = 10 * 60 * 1000;

type WholeShape = ReturnType<typeof reservation>;
type ReservationShape = Omit<WholeShape, 'state'> & Partial<Pick<WholeShape, 'state'>>;
type WholeReservation = WholeShape & { readonly organizationId: string };

export interface Reservations {
  list(organizationId: string, query: PageQuery): ListAnswer;
  get(organizationId: string, id: string): ReservationShape;
  reserve(organizationId: string, appId: string, body: unknown): ReservationShape;
  cancel(organizationId: string, appId: string, id: string): ReservationShape;
  finish(organizationId: string, appId: string, order: FinishOrder): ReservationShape;
  /** The human side: of every organization, the newest first. */
  newest(limit: number): readonly WholeReservation[];
  /** As if its time had come. */
  expire(id: string): WholeReservation;
}

interface FinishOrder {
  readonly id: string;
  readonly action: string;
  readonly body: unknown;
}

export function createReservations(
  { tables, accounts, newId, now, verb }: Store,
  transactions: Transactions,
  asDocumented: boolean,
): Reservations {
  const { apps, credits, reservations } = tables;

  function showState(row: ReservationRow): WholeShape {
    return reservation(row, findIssued(tables, row.credit_id), found(apps.get(row.app_id), 'App'));
  }

  function show(row: ReservationRow): ReservationShape {
    const { state, ...shown } = showState(row);
    return asDocumented ? shown : { ...shown, state };
  }

  function showWhole(row: ReservationRow): WholeReservation {
    return { ...showState(row), organizationId: row.organization_id };
  }

  function find(id: string, organizationId?: string): ReservationRow {
    const row = reservations.get(id);
    const isOther = organizationId !== undefined && row?.organization_id !== organizationId;
    return found(isOther ? undefined : row, 'Reservation');
  }

  function findOutstanding(organizationId: string, appId: string, id: string): ReservationRow {
    const row = find(id, organizationId);
    if (row.app_id !== appId) throw forbidden('The reservation was made by another app');
    return demandOutstanding(row);
  }

  const expire = verb('expire reservation', (id: string) => {
    reservations.put({ ...demandOutstanding(find(id)), reserved_to_at: now() });
    accounts.endExpiredHolds(now());
    return showWhole(find(id));
  });

  const reserve = verb(
    'reserve',
    (organizationId: string, appId: string, creditId: string, micro: number) => {
      found(credits.get(creditId), 'Credit');
      accounts.take(organizationId, 'warehouse', creditId, micro);
      const at = now();
      const row: ReservationRow = {
        id: newId(),
        organization_id: organizationId,
        app_id: appId,
        credit_id: creditId,
        amount_micro: micro,
        state: 'outstanding',
        created_at: at,
        updated_at: at,
        reserved_to_at: toInstant(Date.parse(at) + HOLD_MS),
      };
      reservations.put(row);
      return show(row);
    },
  );

  const cancel = verb('cancel', (organizationId: string, appId: string, id: string) => {
    const row = findOutstanding(organizationId, appId, id);
    accounts.give(organizationId, 'warehouse', row.credit_id, row.amount_micro);
    reservations.put({ ...row, state: 'cancelled', updated_at: now(), reserved_to_at: now() });
    return show(find(id));
  });

  const finish = verb(
    'finish',
    (organizationId: string, appId: string, { id, action: word, body }: FinishOrder) => {
      const action = readAction(word);
      const faults: string[] = [];
      const fields = readFields(body, faults);
      const names = { action, id: 'receiverId', address: 'receiverAddress', faults };
      const destination = readDestination(fields, names);
      const words = readRetirementData(fields, action);
      const comment = fields.optionalText('transferComment');
      const row = findOutstanding(organizationId, appId, id);
      refuseFaults(faults);
      transactions.demandPossible(action, findIssued(tables, row.credit_id).credit.type);
      transactions.carryOut({
        event: 'warehouseTransaction',
        type: action,
        organization_id: organizationId,
        app_id: appId,
        ...transactions.resolve(action, destination),
        reservation_id: id,
        request_id: null,
        words,
        credit_id: row.credit_id,
        amount_micro: row.amount_micro,
        comment,
      });
      return show(find(id));
    },
  );

  return {
    list(organizationId, query) {
      const { from, to, pagination } = toPage(reservations.count(organizationId), query);
      return { pagination, reservations: reservations.page(from, to, organizationId).map(show) };
    },
    get: (organizationId, id) => show(find(id, organizationId)),
    reserve(organizationId, appId, body) {
      const faults: string[] = [];
      const fields = readFields(body, faults);
      const [creditId, micro] = [fields.text('creditId'), fields.micro('amount')];
      refuseFaults(faults);
      return reserve(organizationId, appId, creditId, micro);
    },
    cancel,
    finish,
    newest: limit => newestFirst(reservations.rows()).slice(0, limit).map(showWhole),
    expire,
  };
}

function demandOutstanding(row: ReservationRow): ReservationRow {
  if (row.state !== 'outstanding') throw conflict(`The reservation is ${row.state}`);
  return row;
}
