import { conflict } from '../http/api-errors.js';
import { type PageRequest, paginate } from '../http/paging.js';
import { readBody, readCreditAmount } from '../http/request-body.js';
import type { InventoryRequestRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { sortNewestFirst } from '../store/tables.js';
import { getCreditWithProject, toInventoryRequestJson } from './to-json.js';
import { parseAction, readReceiver, readRetirementDetails, type TransactionService } from './transactions.js';

/**
 * Creates the service for inventory requests. An app requests the use of credits in an inventory, and an administrator accepts or
 * rejects the request.
 */
export function createInventoryRequestService(
  { tables, accounts, newId, now, defineOperation }: SandboxStore,
  transactions: TransactionService,
) {
  const { credits, requests } = tables;

  /** Converts an inventory request to JSON, including the credit. */
  function toJson(row: InventoryRequestRecord) {
    return toInventoryRequestJson(row, getCreditWithProject(tables, row.creditId));
  }

  /** Returns an inventory request. Throws a 409 error if the request was already accepted or rejected. */
  function getPendingRequest(id: string): InventoryRequestRecord {
    const row = requests.getOrThrow(id);
    if (row.state !== 'Pending') throw conflict(`The request is ${row.state}`);
    return row;
  }

  const create = defineOperation(
    'request',
    (organizationId: string, appId: string, call: { readonly action: string; readonly body: unknown }) => {
      const action = parseAction(call.action);
      const { creditId, amountMicro, retirementDetails, receiver } = readBody(
        call.body,
        (fields, problems) => ({
          ...readCreditAmount(fields),
          receiver: readReceiver(fields, {
            action,
            idField: 'toOrganizationId',
            addressField: 'toAddress',
            problems,
          }),
          retirementDetails: readRetirementDetails(fields, action),
        }),
      );
      transactions.assertPossible(action, credits.getOrThrow(creditId).type);
      transactions.resolveReceiver(action, receiver);
      accounts.assertAvailable(organizationId, 'inventory', creditId, amountMicro);
      const createdAt = now();
      const row: InventoryRequestRecord = {
        id: newId(),
        organizationId,
        appId,
        creditId,
        amountMicro,
        action,
        toOrganizationId: receiver.organizationId,
        toAddress: receiver.address,
        retirementDetails,
        state: 'Pending',
        txId: null,
        createdAt,
        updatedAt: createdAt,
      };
      requests.put(row);
      return toJson(row);
    },
  );

  /** Accepts an inventory request and executes the transaction that it asks for. */
  const accept = defineOperation('accept request', (id: string) => {
    const row = getPendingRequest(id);
    const { organizationId, appId, creditId, amountMicro, action, retirementDetails } = row;
    accounts.removeCredits(organizationId, 'inventory', creditId, amountMicro);
    transactions.executeOrder({
      event: 'organizationTransaction',
      type: action,
      organizationId,
      appId,
      ...transactions.resolveReceiver(action, {
        organizationId: row.toOrganizationId,
        address: row.toAddress,
      }),
      reservationId: null,
      requestId: id,
      retirementDetails: retirementDetails,
      creditId,
      amountMicro,
      comment: null,
    });
    return toJson(requests.getOrThrow(id));
  });

  const decline = defineOperation('decline request', (id: string) => {
    requests.put({ ...getPendingRequest(id), state: 'Rejected', txId: null, updatedAt: now() });
    return toJson(requests.getOrThrow(id));
  });

  return {
    /** Returns one page of an organization's inventory requests. */
    list(organizationId: string, query: PageRequest) {
      const { pagination, items } = paginate(requests, query, organizationId);
      return { pagination, creditRequests: items.map(toJson) };
    },
    get: (organizationId: string, id: string) => toJson(requests.getOrThrow(id, organizationId)),
    create,
    /** Lists the newest inventory requests of all organizations. */
    listNewest: (limit: number) => sortNewestFirst(requests.list()).slice(0, limit).map(toJson),
    accept,
    decline,
  };
}
