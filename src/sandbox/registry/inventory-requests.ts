import { conflict } from '../http/errors.js';
import { type PageQuery, pageOf } from '../http/pages.js';
import { readBody, readPart } from '../http/validate.js';
import type { InventoryRequestRow } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { newestFirst } from '../store/tables.js';
import { findIssued, inventoryRequest } from './shapes.js';
import { readAction, readDestination, readRetirementWords, type Transactions } from './transactions.js';

export function createInventoryRequests(
  { tables, accounts, newId, now, verb }: Store,
  transactions: Transactions,
) {
  const { credits, requests } = tables;

  function show(row: InventoryRequestRow) {
    return inventoryRequest(row, findIssued(tables, row.creditId));
  }

  function findPending(id: string): InventoryRequestRow {
    const row = requests.find(id);
    if (row.state !== 'Pending') throw conflict(`The request is ${row.state}`);
    return row;
  }

  const create = verb(
    'request',
    (organizationId: string, appId: string, asked: { readonly action: string; readonly body: unknown }) => {
      const action = readAction(asked.action);
      const { creditId, micro, words, to } = readBody(asked.body, (fields, faults) => ({
        ...readPart(fields),
        to: readDestination(fields, { action, id: 'toOrganizationId', address: 'toAddress', faults }),
        words: readRetirementWords(fields, action),
      }));
      transactions.demandPossible(action, credits.find(creditId).type);
      transactions.resolve(action, to);
      accounts.demand(organizationId, 'inventory', creditId, micro);
      const of = { id: newId(), organizationId, appId, creditId, amountMicro: micro };
      const asks = { action, toOrganizationId: to.organizationId, toAddress: to.address, words };
      const at = now();
      const row: InventoryRequestRow = {
        ...of,
        ...asks,
        state: 'Pending',
        txId: null,
        createdAt: at,
        updatedAt: at,
      };
      requests.put(row);
      return show(row);
    },
  );

  const accept = verb('accept request', (id: string) => {
    const row = findPending(id);
    const { organizationId, appId, creditId, amountMicro, action, words } = row;
    accounts.take(organizationId, 'inventory', creditId, amountMicro);
    transactions.carryOut({
      event: 'organizationTransaction',
      type: action,
      organizationId,
      appId,
      ...transactions.resolve(action, { organizationId: row.toOrganizationId, address: row.toAddress }),
      reservationId: null,
      requestId: id,
      words,
      creditId,
      amountMicro,
      comment: null,
    });
    return show(requests.find(id));
  });

  const decline = verb('decline request', (id: string) => {
    requests.put({ ...findPending(id), state: 'Rejected', txId: null, updatedAt: now() });
    return show(requests.find(id));
  });

  return {
    list(organizationId: string, query: PageQuery) {
      const { pagination, items } = pageOf(requests, query, organizationId);
      return { pagination, creditRequests: items.map(show) };
    },
    get: (organizationId: string, id: string) => show(requests.find(id, organizationId)),
    create,
    /** Of every organization, the newest first. */
    newest: (limit: number) => newestFirst(requests.rows()).slice(0, limit).map(show),
    /** The administrator's two answers. */
    accept,
    decline,
  };
}
