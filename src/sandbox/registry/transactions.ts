import { badRequest, conflict, requireFound } from '../http/api-errors.js';
import type { RetirementService } from './retirements.js';
import type {
  CreditAction,
  RetirementDetails,
  TransactionRecord,
  TransactionStatus,
} from '../store/records.js';
import { toTonnes } from './amounts.js';
import type { SandboxStore } from '../store/store.js';
import type { WebhookPublisher } from '../webhooks/publisher.js';
import { type BodyFields, EVM_ADDRESS, NOT_EMPTY, UUID } from '../http/request-body.js';

const ACTIONS = ['transfer', 'retire', 'transfer_retire'] as const;

/** Parses `transfer`, `retire` or `transfer_retire`. Throws a 400 error for any other text. */
export function parseAction(text: string): CreditAction {
  const action = ACTIONS.find(name => name === text);
  if (action === undefined) throw badRequest(`The action must be one of ${ACTIONS.join(', ')}`);
  return action;
}

/** The receiver of a transfer by organization id, by address, or by both. */
export interface RequestedReceiver {
  readonly organizationId: string | null;
  readonly address: string | null;
}

/** The names of the fields that name a receiver, and where to report problems. */
interface ReceiverFields {
  readonly action: CreditAction;
  /** The name of the field with the receiver's id. */
  readonly idField: string;
  /** The name of the field with the receiver's address. */
  readonly addressField: string;
  readonly problems: string[];
}

/**
 * Reads the receiver of credits from an id field and an address field of a request body. Adds an error message to `problems` if a
 * transfer has neither.
 */
export function readReceiver(
  fields: BodyFields,
  { action, idField, addressField, problems }: ReceiverFields,
): RequestedReceiver {
  const receiver = {
    organizationId: fields.optionalText(idField, UUID),
    address: fields.optionalText(addressField, EVM_ADDRESS),
  };
  if (action !== 'retire' && !fields.has(idField) && !fields.has(addressField)) {
    problems.push(`${idField} or ${addressField} is needed for ${action}`);
  }
  return receiver;
}

/**
 * Reads the reason, beneficiary and comment from the field `retirementData` of a request body. Returns null for a transfer
 * without this field.
 */
export function readRetirementDetails(fields: BodyFields, action: CreditAction): RetirementDetails | null {
  if (action === 'transfer' && !fields.has('retirementData')) return null;
  const data = fields.object('retirementData');
  return {
    reason: data.text('reason', NOT_EMPTY),
    beneficiary: data.text('beneficiaryName', NOT_EMPTY),
    comment: data.optionalText('comment'),
  };
}

/** The receiver of a transaction. Both fields are null if the credits stay with their organization. */
export interface TransferReceiver {
  readonly receiverId: string | null;
  /** An address that no organization of the registry has. Credits sent to it leave the registry. */
  readonly externalAddress: string | null;
}

/** A transaction to execute. */
export type TransactionOrder = Omit<
  TransactionRecord,
  'id' | 'status' | 'retirementId' | 'createdAt' | 'updatedAt'
>;

interface TransactionServiceOptions {
  readonly store: SandboxStore;
  readonly retirements: RetirementService;
  readonly publisher: WebhookPublisher;
  /**
   * Returns the status of a transaction that a POST request to this path starts. A fault can make the transaction fail
   * or wait.
   */
  readonly chooseStatus: (path: string) => TransactionStatus;
  readonly asDocumented: boolean;
}

export type TransactionService = ReturnType<typeof createTransactionService>;

/** Creates the service that executes transfers and retirements. */
export function createTransactionService(options: TransactionServiceOptions) {
  const { store, retirements, publisher, chooseStatus, asDocumented } = options;
  const { tables, accounts, newHash, newId, now, defineOperation } = store;
  const { organizations, addresses, externalHoldings, transactions, reservations, requests } = tables;

  /**
   * Finds the receiver of credits by organization id, address or both. Returns null fields for the action `retire`, and throws if
   * the receiver is unknown or the id and the address belong to different organizations.
   */
  function resolveReceiver(
    action: CreditAction,
    { organizationId, address }: RequestedReceiver,
  ): TransferReceiver {
    // A retirement without a transfer has no receiver.
    if (action === 'retire') return { receiverId: null, externalAddress: null };
    const idByOrganization =
      organizationId === null ? null : requireFound(organizations.get(organizationId), 'Receiver').id;
    if (address === null) return { receiverId: idByOrganization, externalAddress: null };
    const lowerCaseAddress = address.toLowerCase();
    const owner = addresses.get(lowerCaseAddress);
    // The profile `as-documented` also accepts an address that no organization has.
    if (owner === undefined && asDocumented && idByOrganization === null)
      return { receiverId: null, externalAddress: lowerCaseAddress };
    const { organizationId: idByAddress } = requireFound(owner, 'Receiver with this address');
    if (idByOrganization !== null && idByOrganization !== idByAddress)
      throw badRequest('The id and the address name different receivers');
    return { receiverId: idByAddress, externalAddress: null };
  }

  /** Adds an amount of a credit to the holdings of an address outside the registry. */
  function addExternalHolding(address: string, creditId: string, addedMicro: number): void {
    const previousMicro = externalHoldings.get(`${address} ${creditId}`)?.amountMicro ?? 0;
    externalHoldings.put({ address, creditId, amountMicro: previousMicro + addedMicro });
  }

  /** Transfers or retires the credits of a transaction. Returns the retirement's id, or null for a transfer. */
  function deliverCredits(transaction: TransactionRecord): string | null {
    const { appId, creditId, amountMicro, externalAddress, retirementDetails } = transaction;
    const organizationId = transaction.receiverId ?? transaction.organizationId;
    if (transaction.type !== 'transfer') {
      const details = retirementDetails;
      return retirements.record({ organizationId, appId, creditId, amountMicro, details }).id;
    }
    if (externalAddress === null) accounts.addCredits(organizationId, 'inventory', creditId, amountMicro);
    else addExternalHolding(externalAddress, creditId, amountMicro);
    return null;
  }

  /** Returns the credits of a failed transaction to their warehouse or inventory. */
  function returnCredits({ event, organizationId, creditId, amountMicro }: TransactionRecord): void {
    const place = event === 'warehouseTransaction' ? 'warehouse' : 'inventory';
    accounts.addCredits(organizationId, place, creditId, amountMicro);
  }

  /**
   * Ends the reservation or inventory request of a transaction as finished or accepted. If the transaction failed, ends it as
   * cancelled or rejected.
   */
  function updateReservationOrRequest({ status, reservationId, requestId }: TransactionRecord): void {
    const updatedAt = now();
    const hasFailed = status === 'failed';
    const reservation = reservations.get(reservationId ?? '');
    const request = requests.get(requestId ?? '');
    if (reservation !== undefined) {
      const state = hasFailed ? 'cancelled' : 'finished';
      reservations.put({ ...reservation, state, updatedAt, reservedToDate: updatedAt });
    }
    if (request !== undefined) {
      const txId = status === 'processed' ? newHash(64) : null;
      requests.put({ ...request, state: hasFailed ? 'Rejected' : 'Accepted', txId, updatedAt });
    }
  }

  /**
   * Stores a transaction, delivers or returns its credits according to its status, and publishes webhooks. Also ends the
   * reservation or inventory request that started the transaction.
   */
  function applyStatus(transaction: TransactionRecord): TransactionRecord {
    if (transaction.status === 'failed') returnCredits(transaction);
    const retirementId = transaction.status === 'processed' ? deliverCredits(transaction) : null;
    const updated = { ...transaction, retirementId, updatedAt: now() };
    transactions.put(updated);
    updateReservationOrRequest(updated);
    publisher.publishTransaction(updated);
    return updated;
  }

  /** Completes a queued transaction as processed or failed. */
  const complete = defineOperation('complete transaction', (id: string, status: 'processed' | 'failed') => {
    const transaction = transactions.getOrThrow(id);
    if (transaction.status !== 'pending_queue') throw conflict(`The transaction is ${transaction.status}`);
    return toJson(applyStatus({ ...transaction, status }));
  });

  return {
    resolveReceiver,
    /** Throws a 409 error if the action retires credits of a type that cannot be retired. */
    assertPossible(action: CreditAction, creditType: string): void {
      if (action !== 'transfer') retirements.assertRetirable(creditType);
    },
    /**
     * Executes a transfer or retirement of credits that the caller has already removed from their holding. A simulated fault can
     * queue the transaction or let it fail.
     */
    executeOrder(order: TransactionOrder): void {
      const status = chooseStatus(getStartingCallPath(order));
      applyStatus({
        ...order,
        id: newId(),
        status,
        retirementId: null,
        createdAt: now(),
        updatedAt: now(),
      });
    },
    complete,
    /** Lists the newest transactions of all organizations. */
    list: (limit: number) => transactions.listNewest(limit).map(toJson),
  };
}

/** Returns the URL path of the API request that starts a transaction. */
function getStartingCallPath({ organizationId, reservationId, type }: TransactionOrder): string {
  // Transaction faults are matched with this path.
  const organization = `/organizations/${organizationId}`;
  if (reservationId === null) return `${organization}/inventory/requests/${type}`;
  return `${organization}/warehouse/inventory/reservations/${reservationId}/${type}`;
}

/** Converts a transaction to the JSON of the control API. */
function toJson({
  amountMicro,
  retirementDetails: _details,
  externalAddress: _address,
  ...shown
}: TransactionRecord) {
  return { ...shown, amount: toTonnes(amountMicro) };
}
