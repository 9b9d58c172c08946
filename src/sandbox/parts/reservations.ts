import { toInstant } from '../store/clock.js';
import { conflict, forbidden, found } from '../http/errors.js';
import { type ListAnswer, type PageQuery, toPage } from '../http/pages.js';
import type { ReservationRow } from '../store/schema.js';
import { type CreditColumns, reservation } from './shapes.js';
import type { Store } from '../store/store.js';
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

interface FullRow extends ReservationRow, CreditColumns {
  app_name: string;
}

const FULL_ROWS = `
  select r.*, a.name as app_name, c.token_id, c.token_address, c.serialization, c.vintage, c.type, c.project_id,
         p.full_name as project_name, p.num as project_num
  from reservations r
  join apps a on a.id = r.app_id
  join credits c on c.id = r.credit_id
  join projects p on p.id = c.project_id`;

export function createReservations(
  store: Store,
  transactions: Transactions,
  asDocumented: boolean,
): Reservations {
  const show = asDocumented ? withoutState : reservation;
  const { db, accounts, newId, write } = store;
  const count = db
    .prepare<[string], number>('select reservation_count from organizations where id = ?')
    .pluck();
  const nextOrdinal = db
    .prepare<[string], number>(
      'update organizations set reservation_count = reservation_count + 1 where id = ? returning reservation_count',
    )
    .pluck();
  const insert = db.prepare<[object]>(
    `insert into reservations (id, organization_id, ordinal, app_id, credit_id, amount_micro, state,
                               created_at, updated_at, reserved_to_at)
     values (@id, @organizationId, @ordinal, @appId, @creditId, @micro, 'outstanding', @now, @now, @reservedTo)`,
  );
  const setCancelled = db.prepare<[string, string, string]>(
    `update reservations set state = 'cancelled', updated_at = ?, reserved_to_at = ? where id = ?`,
  );
  const shorten = db.prepare<[string, string]>('update reservations set reserved_to_at = ? where id = ?');
  const newest = db.prepare<[number], FullRow>(`${FULL_ROWS} order by r.created_at desc, r.id limit ?`);
  const byId = db.prepare<[string], FullRow>(`${FULL_ROWS} where r.id = ?`);
  const page = db.prepare<[string, number, number], FullRow>(
    `${FULL_ROWS} where r.organization_id = ? and r.ordinal between ? and ? order by r.ordinal desc`,
  );
  const one = db.prepare<[string, string], FullRow>(`${FULL_ROWS} where r.organization_id = ? and r.id = ?`);
  const creditExists = db.prepare<[string], string>('select id from credits where id = ?').pluck();

  function find(organizationId: string, id: string): FullRow {
    return found(one.get(organizationId, id), 'Reservation');
  }

  function findOutstanding(organizationId: string, appId: string, id: string): FullRow {
    const row = find(organizationId, id);
    if (row.app_id !== appId) throw forbidden('The reservation was made by another app');
    return demandOutstanding(row);
  }

  function expire(id: string): WholeReservation {
    write(now => {
      shorten.run(now, demandOutstanding(found(byId.get(id), 'Reservation')).id);
      accounts.endExpiredHolds(now);
    });
    return showWhole(found(byId.get(id), 'Reservation'));
  }

  function reserve(organizationId: string, appId: string, body: unknown): ReservationShape {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const creditId = fields.text('creditId');
    const micro = fields.micro('amount');
    refuseFaults(faults);
    const id = write(now => {
      found(creditExists.get(creditId), 'Credit');
      accounts.take(organizationId, 'warehouse', creditId, micro);
      const made = { id: newId(), organizationId, appId, creditId, micro, now };
      const reservedTo = toInstant(Date.parse(now) + HOLD_MS);
      insert.run({ ...made, ordinal: nextOrdinal.get(organizationId), reservedTo });
      return made.id;
    });
    return show(find(organizationId, id));
  }

  function cancel(organizationId: string, appId: string, id: string): ReservationShape {
    write(now => {
      const row = findOutstanding(organizationId, appId, id);
      accounts.give(organizationId, 'warehouse', row.credit_id, row.amount_micro);
      setCancelled.run(now, now, id);
    });
    return show(find(organizationId, id));
  }

  function finish(
    organizationId: string,
    appId: string,
    { id, action: word, body }: FinishOrder,
  ): ReservationShape {
    const action = readAction(word);
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const names = { action, id: 'receiverId', address: 'receiverAddress', faults };
    const destination = readDestination(fields, names);
    const retirement = readRetirementData(fields, action);
    const comment = fields.optionalText('transferComment');
    write(now => {
      const row = findOutstanding(organizationId, appId, id);
      refuseFaults(faults);
      const move = {
        action,
        event: 'warehouseTransaction',
        organizationId,
        appId,
        retirement,
        comment,
      } as const;
      const what = { creditId: row.credit_id, micro: row.amount_micro, reservationId: id, requestId: null };
      transactions.demandPossible(action, row.type);
      const receiver = transactions.resolve(action, destination);
      transactions.carryOut({ ...move, ...what, ...receiver }, now);
    });
    return show(find(organizationId, id));
  }

  return {
    list(organizationId, query) {
      const { from, to, pagination } = toPage(count.get(organizationId) ?? 0, query);
      const reservations = page.all(organizationId, from, to).map(show);
      return { pagination, reservations };
    },
    get: (organizationId, id) => show(find(organizationId, id)),
    reserve,
    cancel,
    finish,
    newest: limit => newest.all(limit).map(showWhole),
    expire,
  };
}

function withoutState(row: FullRow): ReservationShape {
  const { state: _, ...shown } = reservation(row);
  return shown;
}

function demandOutstanding(row: FullRow): FullRow {
  if (row.state !== 'outstanding') throw conflict(`The reservation is ${row.state}`);
  return row;
}

function showWhole(row: FullRow): WholeReservation {
  return { ...reservation(row), organizationId: row.organization_id };
}
