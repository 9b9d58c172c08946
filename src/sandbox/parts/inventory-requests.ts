import { conflict, found } from '../http/errors.js';
import { type ListAnswer, type PageQuery, toPage } from '../http/pages.js';
import type { InventoryRequestRow } from '../store/rows.js';
import { findIssued, inventoryRequest } from './shapes.js';
import type { Store } from '../store/store.js';
import { newestFirst } from '../store/table.js';
import { type Transactions, readAction, readDestination, readRetirementData } from './transactions.js';
import { readFields, refuseFaults } from '../http/validate.js';

type RequestShape = ReturnType<typeof inventoryRequest>;

export interface InventoryRequests {
  list(organizationId: string, query: PageQuery): ListAnswer;
  get(organizationId: string, id: string): RequestShape;
  create(organizationId: string, appId: string, order: RequestOrder): RequestShape;
  /** The administrator's two answers. */
  accept(id: string): RequestShape;
  decline(id: string): RequestShape;
  /** Of every organization, the newest first. */
  newest(limit: number): readonly RequestShape[];
}

interface RequestOrder {
  readonly action: string;
  readonly body: unknown;
}

export function createInventoryRequests(
  { tables, accounts, newId, now, verb }: Store,
  transactions: Transactions,
): InventoryRequests {
  const { credits, requests } = tables;

  function show(row: InventoryRequestRow): RequestShape {
    return inventoryRequest(row, findIssued(tables, row.credit_id));
  }

  function find(id: string): InventoryRequestRow {
    return found(requests.get(id), 'Request');
  }

  function findPending(id: string): InventoryRequestRow {
    const row = find(id);
    if (row.state !== 'Pending') throw conflict(`The request is ${row.state}`);
    return row;
  }

  const create = verb(
    'request',
    (organizationId: string, appId: string, { action: word, body }: RequestOrder) => {
      const action = readAction(word);
      const faults: string[] = [];
      const fields = readFields(body, faults);
      const creditId = fields.text('creditId');
      const micro = fields.micro('amount');
      const names = { action, id: 'toOrganizationId', address: 'toAddress', faults };
      const destination = readDestination(fields, names);
      const words = readRetirementData(fields, action);
      refuseFaults(faults);
      transactions.demandPossible(action, found(credits.get(creditId), 'Credit').type);
      transactions.resolve(action, destination);
      if (accounts.amountOf(organizationId, 'inventory', creditId) < micro)
        throw conflict('The inventory holds less of this credit than the amount asked for');
      const row: InventoryRequestRow = {
        id: newId(),
        organization_id: organizationId,
        app_id: appId,
        credit_id: creditId,
        action,
        amount_micro: micro,
        to_organization_id: destination.organizationId,
        to_address: destination.address,
        ...(words ?? { reason: null, beneficiary: null, comment: null }),
        state: 'Pending',
        tx_id: null,
        created_at: now(),
        updated_at: now(),
      };
      requests.put(row);
      return show(row);
    },
  );

  const accept = verb('accept request', (id: string) => {
    const row = findPending(id);
    accounts.take(row.organization_id, 'inventory', row.credit_id, row.amount_micro);
    const destination = { organizationId: row.to_organization_id, address: row.to_address };
    const { reason, beneficiary, comment } = row;
    transactions.carryOut({
      event: 'organizationTransaction',
      type: row.action,
      organization_id: row.organization_id,
      app_id: row.app_id,
      ...transactions.resolve(row.action, destination),
      reservation_id: null,
      request_id: id,
      words: reason === null || beneficiary === null ? null : { reason, beneficiary, comment },
      credit_id: row.credit_id,
      amount_micro: row.amount_micro,
      comment: null,
    });
    return show(find(id));
  });

  const decline = verb('decline request', (id: string) => {
    requests.put({ ...findPending(id), state: 'Rejected', tx_id: null, updated_at: now() });
    return show(find(id));
  });

  return {
    list(organizationId, query) {
      const { from, to, pagination } = toPage(requests.count(organizationId), query);
      return { pagination, creditRequests: requests.page(from, to, organizationId).map(show) };
    },
    get(organizationId, id) {
      const row = requests.get(id);
      return show(found(row?.organization_id === organizationId ? row : undefined, 'Request'));
    },
    create,
    newest: limit => newestFirst(requests.rows()).slice(0, limit).map(show),
    accept,
    decline,
  };
}
