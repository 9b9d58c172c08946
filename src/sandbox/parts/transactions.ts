import { badRequest, found } from '../http/errors.js';
import type { Retirements, RetirementData } from './retirements.js';
import type { Action, TransactionEvent, TransactionRow } from '../store/schema.js';
import { transaction } from './shapes.js';
import type { Store } from '../store/store.js';
import { type Fields, IS_ADDRESS, IS_UUID, NOT_EMPTY } from '../http/validate.js';

export const ACTIONS = ['transfer', 'retire', 'transfer_retire'] as const;

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

export interface Move {
  readonly action: Action;
  readonly event: TransactionEvent;
  readonly organizationId: string;
  readonly appId: string | null;
  readonly receiverId: string | null;
  readonly reservationId: string | null;
  readonly requestId: string | null;
  readonly creditId: string;
  readonly micro: number;
  readonly retirement: RetirementData | null;
  readonly comment: string | null;
}

export interface Transactions {
  /** The organization that an id or an address belongs to. */
  resolve(destination: Destination): string | null;
  /** Part of a transaction that has taken the credits from where they stood. */
  carryOut(move: Move, now: string): TransactionRow;
  /** The human side: the newest first. */
  list(limit: number): readonly object[];
}

export function createTransactions(store: Store, retirements: Retirements): Transactions {
  const { db, ledger, newId } = store;
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

  const newest = db.prepare<[number], TransactionRow>(
    'select * from transactions order by rowid desc limit ?',
  );

  function resolve({ organizationId, address }: Destination): string | null {
    const byId = organizationId === null ? null : found(findOrganization.get(organizationId), 'Receiver');
    if (address === null) return byId;
    const byAddress = found(findOwner.get(address.toLowerCase()), 'Receiver with this address');
    if (byId !== null && byId !== byAddress) throw badRequest('The id and the address name two receivers');
    return byAddress;
  }

  function deliver(move: Move, now: string): string | null {
    const owner = move.action === 'retire' ? move.organizationId : (move.receiverId ?? move.organizationId);
    if (move.action === 'transfer') {
      ledger.give(owner, 'inventory', move.creditId, move.micro);
      return null;
    }
    const { appId, creditId, micro, retirement: data } = move;
    return retirements.record({ organizationId: owner, appId, creditId, micro, data }, now);
  }

  function carryOut(move: Move, now: string): TransactionRow {
    const row: TransactionRow = {
      id: newId(),
      event: move.event,
      type: move.action,
      status: 'processed',
      organization_id: move.organizationId,
      app_id: move.appId,
      receiver_id: move.action === 'retire' ? null : move.receiverId,
      reservation_id: move.reservationId,
      request_id: move.requestId,
      retirement_id: deliver(move, now),
      credit_id: move.creditId,
      amount_micro: move.micro,
      comment: move.comment,
      created_at: now,
      updated_at: now,
    };
    insert.run(row);
    return row;
  }

  return { resolve, carryOut, list: limit => newest.all(limit).map(show) };
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
