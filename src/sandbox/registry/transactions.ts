import { badRequest, conflict, found } from '../http/errors.js';
import type { Retirements } from './retirements.js';
import type { Action, RetirementWords, TransactionRow, TransactionStatus } from '../store/rows.js';
import { toTonnes } from './amounts.js';
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

interface FieldNames {
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
export function readRetirementWords(fields: Fields, action: Action): RetirementWords | null {
  if (action === 'transfer' && !fields.has('retirementData')) return null;
  const data = fields.object('retirementData');
  return {
    reason: data.text('reason', NOT_EMPTY),
    beneficiary: data.text('beneficiaryName', NOT_EMPTY),
    comment: data.optionalText('comment'),
  };
}

export interface Receiver {
  readonly receiverId: string | null;
  /** An address that belongs to nobody here: what goes there has left the registry. */
  readonly outside: string | null;
}

export type Move = Omit<TransactionRow, 'id' | 'status' | 'retirementId' | 'createdAt' | 'updatedAt'>;

interface TransactionParts {
  readonly store: Store;
  readonly retirements: Retirements;
  readonly announcer: Announcer;
  readonly fateOf: (path: string) => TransactionStatus;
  readonly asDocumented: boolean;
}

export type Transactions = ReturnType<typeof createTransactions>;

export function createTransactions(parts: TransactionParts) {
  const { store, retirements, announcer, fateOf, asDocumented } = parts;
  const { tables, accounts, newHash, newId, now, verb } = store;
  const { organizations, addresses, outside: left, transactions, reservations, requests } = tables;

  /** The organization that an id or an address belongs to, where the action has a receiver. */
  function resolve(action: Action, { organizationId, address }: Destination): Receiver {
    if (action === 'retire') return { receiverId: null, outside: null };
    const byId = organizationId === null ? null : found(organizations.get(organizationId), 'Receiver').id;
    if (address === null) return { receiverId: byId, outside: null };
    const outside = address.toLowerCase();
    const owner = addresses.get(outside);
    if (owner === undefined && asDocumented && byId === null) return { receiverId: null, outside };
    const { organizationId: receiverId } = found(owner, 'Receiver with this address');
    if (byId !== null && byId !== receiverId) throw badRequest('The id and the address name two receivers');
    return { receiverId, outside: null };
  }

  function leave(address: string, creditId: string, micro: number): void {
    const before = left.get(`${address} ${creditId}`)?.amountMicro ?? 0;
    left.put({ address, creditId, amountMicro: before + micro });
  }

  /** Answers the retirement that it made. */
  function deliver(row: TransactionRow): string | null {
    const { appId, creditId, amountMicro, words } = row;
    const organizationId = row.receiverId ?? row.organizationId;
    if (row.type !== 'transfer')
      return retirements.record({ organizationId, appId, creditId, amountMicro, words }).id;
    if (row.outside === null) accounts.give(organizationId, 'inventory', creditId, amountMicro);
    else leave(row.outside, creditId, amountMicro);
    return null;
  }

  function giveBack({ event, organizationId, creditId, amountMicro }: TransactionRow): void {
    const place = event === 'warehouseTransaction' ? 'warehouse' : 'inventory';
    accounts.give(organizationId, place, creditId, amountMicro);
  }

  function mark({ status, reservationId, requestId }: TransactionRow): void {
    const at = now();
    const reservation = reservations.get(reservationId ?? '');
    const request = requests.get(requestId ?? '');
    const state = status === 'failed' ? 'cancelled' : 'finished';
    if (reservation !== undefined)
      reservations.put({ ...reservation, state, updatedAt: at, reservedToDate: at });
    if (request === undefined) return;
    const txId = status === 'processed' ? newHash(64) : null;
    requests.put({ ...request, state: status === 'failed' ? 'Rejected' : 'Accepted', txId, updatedAt: at });
  }

  /** Does what the status says, and tells of it. */
  function bringAbout(row: TransactionRow): TransactionRow {
    if (row.status === 'failed') giveBack(row);
    const retirementId = row.status === 'processed' ? deliver(row) : null;
    const done = { ...row, retirementId, updatedAt: now() };
    transactions.put(done);
    mark(done);
    announcer.announceTransaction(done);
    return done;
  }

  /** What becomes of a queued one. */
  const complete = verb('complete transaction', (id: string, status: 'processed' | 'failed') => {
    const row = transactions.find(id);
    if (row.status !== 'pending_queue') throw conflict(`The transaction is ${row.status}`);
    return show(bringAbout({ ...row, status }));
  });

  return {
    resolve,
    /** Refuses to retire what the registry does not retire. */
    demandPossible(action: Action, creditType: string): void {
      if (action !== 'transfer') retirements.demandRetirable(creditType);
    },
    /**
     * Part of a verb that has taken the credits from where they stood. What came of it is told to the apps,
     * and shows on the reservation or the request; a fault may queue it, or let it fail and put the credits back.
     */
    carryOut(move: Move): void {
      const made = { id: newId(), status: fateOf(pathOf(move)), retirementId: null };
      bringAbout({ ...move, ...made, createdAt: now(), updatedAt: now() });
    },
    complete,
    /** The human side: the newest first. */
    list: (limit: number) => transactions.newest(limit).map(show),
  };
}

/** Of the call that asked for it. */
function pathOf({ organizationId, reservationId, type }: Move): string {
  const organization = `/organizations/${organizationId}`;
  if (reservationId === null) return `${organization}/inventory/requests/${type}`;
  return `${organization}/warehouse/inventory/reservations/${reservationId}/${type}`;
}

function show({ amountMicro, words: _words, outside: _outside, ...row }: TransactionRow) {
  return { ...row, amount: toTonnes(amountMicro) };
}
