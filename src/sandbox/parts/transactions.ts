import { badRequest, conflict, found } from '../http/errors.js';
import type { Retirements } from './retirements.js';
import type { Action, RetirementData, TransactionRow, TransactionStatus } from '../store/rows.js';
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
  readonly receiver_id: string | null;
  /** An address that belongs to nobody here: what goes there has left the registry. */
  readonly outside: string | null;
}

type Move = Omit<TransactionRow, 'id' | 'status' | 'retirement_id' | 'created_at' | 'updated_at'>;

export interface Transactions {
  /** The organization that an id or an address belongs to, where the action has a receiver. */
  resolve(action: Action, destination: Destination): Receiver;
  /** Refuses to retire what the registry does not retire. */
  demandPossible(action: Action, creditType: string): void;
  /**
   * Part of a verb that has taken the credits from where they stood. What came of it is told to the apps,
   * and shows on the reservation or the request; a fault may queue it, or let it fail and put the credits back.
   */
  carryOut(move: Move): void;
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
  const { tables, accounts, newHash, newId, now, verb } = store;
  const { organizations, addresses, outside: left, transactions, reservations, requests } = tables;

  function resolve(action: Action, { organizationId, address }: Destination): Receiver {
    if (action === 'retire') return { receiver_id: null, outside: null };
    const byId = organizationId === null ? null : found(organizations.get(organizationId), 'Receiver').id;
    if (address === null) return { receiver_id: byId, outside: null };
    const outside = address.toLowerCase();
    const owner = addresses.get(outside);
    if (owner === undefined && asDocumented && byId === null) return { receiver_id: null, outside };
    const { organization_id: receiver_id } = found(owner, 'Receiver with this address');
    if (byId !== null && byId !== receiver_id) throw badRequest('The id and the address name two receivers');
    return { receiver_id, outside: null };
  }

  function leave(address: string, credit_id: string, micro: number): void {
    const before = left.get(`${address} ${credit_id}`)?.amount_micro ?? 0;
    left.put({ address, credit_id, amount_micro: before + micro });
  }

  function deliver({ type, receiver_id, organization_id, outside, ...row }: TransactionRow): string | null {
    const { app_id: appId, credit_id: creditId, amount_micro: micro, words: data } = row;
    const organizationId = receiver_id ?? organization_id;
    if (type !== 'transfer') return retirements.record({ organizationId, appId, creditId, micro, data });
    if (outside === null) accounts.give(organizationId, 'inventory', creditId, micro);
    else leave(outside, creditId, micro);
    return null;
  }

  function giveBack({ event, organization_id, credit_id, amount_micro }: TransactionRow): void {
    const place = event === 'warehouseTransaction' ? 'warehouse' : 'inventory';
    accounts.give(organization_id, place, credit_id, amount_micro);
  }

  function mark({ status, reservation_id, request_id }: TransactionRow): void {
    const at = now();
    const hold = reservations.get(reservation_id ?? '');
    const request = requests.get(request_id ?? '');
    const state = status === 'failed' ? 'cancelled' : 'finished';
    if (hold !== undefined) reservations.put({ ...hold, state, updated_at: at, reserved_to_at: at });
    if (request === undefined) return;
    const tx_id = status === 'processed' ? newHash(64) : null;
    requests.put({ ...request, state: status === 'failed' ? 'Rejected' : 'Accepted', tx_id, updated_at: at });
  }

  /** Does what the status says, and tells of it. */
  function bringAbout(row: TransactionRow): TransactionRow {
    if (row.status === 'failed') giveBack(row);
    const retirement_id = row.status === 'processed' ? deliver(row) : null;
    const done = { ...row, retirement_id, updated_at: now() };
    transactions.put(done);
    mark(done);
    announcer.announceTransaction(done);
    return done;
  }

  const complete = verb('complete transaction', (id: string, status: 'processed' | 'failed') => {
    const row = found(transactions.get(id), 'Transaction');
    if (row.status !== 'pending_queue') throw conflict(`The transaction is ${row.status}`);
    return show(bringAbout({ ...row, status }));
  });

  return {
    resolve,
    demandPossible(action, creditType) {
      if (action !== 'transfer') retirements.demandRetirable(creditType);
    },
    carryOut(move) {
      const made = { id: newId(), status: fateOf(pathOf(move)), retirement_id: null };
      bringAbout({ ...move, ...made, created_at: now(), updated_at: now() });
    },
    complete,
    list: limit => transactions.page(transactions.count() - limit + 1, transactions.count()).map(show),
  };
}

/** Of the call that asked for it. */
function pathOf({ organization_id, reservation_id, type }: Move): string {
  const organization = `/organizations/${organization_id}`;
  if (reservation_id === null) return `${organization}/inventory/requests/${type}`;
  return `${organization}/warehouse/inventory/reservations/${reservation_id}/${type}`;
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
