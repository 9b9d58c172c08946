import { badRequest, conflict, found } from '../http/errors.js';
import type { Retirements, RetirementData } from './retirements.js';
import type { Action, TransactionEvent, TransactionRow, TransactionStatus } from '../store/schema.js';
import { transaction } from './shapes.js';
import type { Store } from '../store/store.js';
import type { Announcer } from '../webhooks/announcer.js';
import { type Fields, IS_ADDRESS, IS_UUID, NOT_EMPTY } from '../http/validate.js';

const ACTIONS = ['transfer', 'retire', 'transfer_retire'] as const;

export function readAction(word: string): Action {
  const action = ACTIONS.find(known => known === word);
  if (action === undefined) throw badRequest(`The action must be one of ${ACTIONS.join(', ')}`);
  return action;
}

export interface Destination {
  readonly organizationId: string | null;
  readonly address: string | null;
}

export interface FieldNames {
  readonly action: Action;
  readonly id: string;
  readonly address: string;
  readonly faults: string[];
}

/** Every action but a plain retire goes to someone; an id or an address says to whom. */
export function readDestination(fields: Fields, { action, id, address, faults }: FieldNames): Destination {
  const destination = {
    organizationId: fields.optionalText(id, IS_UUID),
    address: fields.optionalText(address, IS_ADDRESS),
  };
  if (action !== 'retire' && !fields.has(id) && !fields.has(address)) {
    faults.push(`${id} or ${address} is needed for ${action}`);
  }
  return destination;
}

/** Needed for every retirement; a transfer may bring it and it then means nothing. */
export function readRetirementData(fields: Fields, action: Action): RetirementData | null {
  if (action === 'transfer' && !fields.has('retirementData')) return null;
  const data = fields.object('retirementData');
  return {
    reason: data.text('reason', NOT_EMPTY),
    beneficiary: data.text('beneficiaryName', NOT_EMPTY),
    comment: data.optionalText('comment'),
  };
}

interface Receiver {
  readonly receiverId: string | null;
  /** An address that belongs to nobody here: what goes there has left the registry. */
  readonly outside: string | null;
}

interface Move extends Receiver {
  readonly action: Action;
  readonly event: TransactionEvent;
  readonly organizationId: string;
  readonly appId: string | null;
  readonly reservationId: string | null;
  readonly requestId: string | null;
  readonly creditId: string;
  readonly micro: number;
  readonly retirement: RetirementData | null;
  readonly comment: string | null;
}

export interface Transactions {
  /** The organization that an id or an address belongs to, where the action has a receiver. */
  resolve(action: Action, destination: Destination): Receiver;
  /** Refuses to retire what the registry does not retire. */
  demandPossible(action: Action, creditType: string): void;
  /**
   * Part of a database transaction that has taken the credits from where they stood. What came of it is told to the apps,
   * and shows on the reservation or the request; a fault may queue it, or let it fail and put the credits back.
   */
  carryOut(move: Move, now: string): void;
  /** The human side: the newest first. */
  list(limit: number): readonly object[];
  /** What becomes of a queued one. */
  complete(id: string, status: 'processed' | 'failed'): object;
}

export interface TransactionParts {
  readonly store: Store;
  readonly retirements: Retirements;
  readonly announcer: Announcer;
  readonly fateOf: (path: string) => TransactionStatus;
  readonly asDocumented: boolean;
}

export function createTransactions(parts: TransactionParts): Transactions {
  const { store, retirements, announcer, fateOf, asDocumented } = parts;
  const { db, accounts, newHash, newId, write } = store;
  const findOrganization = db.prepare<[string], string>('select id from organizations where id = ?').pluck();
  const findOwner = db
    .prepare<[string], string>('select organization_id from addresses where address = ?')
    .pluck();
  const insert = db.prepare<[TransactionRow]>(
    `insert into transactions (id, event, type, status, organization_id, app_id, receiver_id, reservation_id,
                               request_id, retirement_id, credit_id, amount_micro, comment, created_at, updated_at)
     values (@id, @event, @type, @status, @organization_id, @app_id, @receiver_id, @reservation_id,
             @request_id, @retirement_id, @credit_id, @amount_micro, @comment, @created_at, @updated_at)`,
  );

  const find = db.prepare<[string], TransactionRow>('select * from transactions where id = ?');
  const update = db.prepare<[TransactionRow]>(
    'update transactions set status = @status, retirement_id = @retirement_id, updated_at = @updated_at where id = @id',
  );
  const queue = db.prepare<[string, string]>('insert into queued_moves (transaction_id, move) values (?, ?)');
  const unqueue = db
    .prepare<[string], string>('delete from queued_moves where transaction_id = ? returning move')
    .pluck();
  const endReservation = db.prepare<[string, Action | null, string, string, string]>(
    'update reservations set state = ?, action = ?, updated_at = ?, reserved_to_at = ? where id = ?',
  );
  const decideRequest = db.prepare<[string, string | null, string, string]>(
    'update inventory_requests set state = ?, tx_id = ?, updated_at = ? where id = ?',
  );
  const leave = db.prepare<[string, string, number]>(
    `insert into outside (address, credit_id, amount_micro) values (?, ?, ?)
     on conflict (address, credit_id) do update set amount_micro = amount_micro + excluded.amount_micro`,
  );
  const newest = db.prepare<[number], TransactionRow>(
    'select * from transactions order by rowid desc limit ?',
  );

  function resolve(action: Action, { organizationId, address }: Destination): Receiver {
    if (action === 'retire') return { receiverId: null, outside: null };
    const byId = organizationId === null ? null : found(findOrganization.get(organizationId), 'Receiver');
    if (address === null) return { receiverId: byId, outside: null };
    const owner = findOwner.get(address.toLowerCase());
    if (owner === undefined && asDocumented && byId === null)
      return { receiverId: null, outside: address.toLowerCase() };
    const receiverId = found(owner, 'Receiver with this address');
    if (byId !== null && byId !== receiverId) throw badRequest('The id and the address name two receivers');
    return { receiverId, outside: null };
  }

  function demandPossible(action: Action, creditType: string): void {
    if (action !== 'transfer') retirements.demandRetirable(creditType);
  }

  function deliver(move: Move, now: string): string | null {
    const owner = move.receiverId ?? move.organizationId;
    if (move.action === 'transfer') {
      if (move.outside !== null) leave.run(move.outside, move.creditId, move.micro);
      else accounts.give(owner, 'inventory', move.creditId, move.micro);
      return null;
    }
    const { appId, creditId, micro, retirement: data } = move;
    return retirements.record({ organizationId: owner, appId, creditId, micro, data }, now);
  }

  function giveBack({ event, organizationId, creditId, micro }: Move): void {
    accounts.give(
      organizationId,
      event === 'warehouseTransaction' ? 'warehouse' : 'inventory',
      creditId,
      micro,
    );
  }

  function mark({ status, type, reservation_id, request_id }: TransactionRow, now: string): void {
    const failed = status === 'failed';
    if (reservation_id !== null)
      endReservation.run(failed ? 'cancelled' : 'finished', failed ? null : type, now, now, reservation_id);
    if (request_id === null) return;
    decideRequest.run(
      failed ? 'Rejected' : 'Accepted',
      status === 'processed' ? newHash() : null,
      now,
      request_id,
    );
  }

  /** Does what the status says, and tells of it. */
  function bringAbout(row: TransactionRow, move: Move, now: string): TransactionRow {
    if (row.status === 'failed') giveBack(move);
    const retirement_id = row.status === 'processed' ? deliver(move, now) : null;
    const done = { ...row, retirement_id, updated_at: now };
    update.run(done);
    mark(done, now);
    announcer.announceTransaction(done);
    return done;
  }

  function carryOut(move: Move, now: string): void {
    const row: TransactionRow = {
      id: newId(),
      event: move.event,
      type: move.action,
      status: fateOf(pathOf(move)),
      organization_id: move.organizationId,
      app_id: move.appId,
      receiver_id: move.receiverId,
      reservation_id: move.reservationId,
      request_id: move.requestId,
      retirement_id: null,
      credit_id: move.creditId,
      amount_micro: move.micro,
      comment: move.comment,
      created_at: now,
      updated_at: now,
    };
    insert.run(row);
    if (row.status === 'pending_queue') queue.run(row.id, JSON.stringify(move));
    bringAbout(row, move, now);
  }

  function settle(id: string, status: 'processed' | 'failed'): object {
    return write(now => {
      const row = found(find.get(id), 'Transaction');
      const move = unqueue.get(id);
      if (move === undefined) throw conflict(`The transaction is ${row.status}`);
      return show(bringAbout({ ...row, status }, JSON.parse(move), now));
    });
  }

  return { resolve, demandPossible, carryOut, complete: settle, list: limit => newest.all(limit).map(show) };
}

/** Of the call that asked for it. */
function pathOf({ organizationId, reservationId, action }: Move): string {
  const organization = `/organizations/${organizationId}`;
  if (reservationId === null) return `${organization}/inventory/requests/${action}`;
  return `${organization}/warehouse/inventory/reservations/${reservationId}/${action}`;
}

function show(row: TransactionRow) {
  return {
    ...transaction(row),
    event: row.event,
    appId: row.app_id,
    organizationId: row.organization_id,
    receiverId: row.receiver_id,
    reservationId: row.reservation_id,
    requestId: row.request_id,
    retirementId: row.retirement_id,
    comment: row.comment,
  };
}
