import { found } from '../http/errors.js';
import type { Place } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { compare } from '../store/table.js';
import {
  documentedWarehouseCredit,
  findIssued,
  type Held,
  inventoryCredit,
  type Issued,
  warehouseCredit,
} from './shapes.js';

export interface Holdings {
  /** The whole answer as pieces of JSON text, all of it as it stood when the first was taken. */
  list(organizationId: string, place: Place): Generator<string>;
}

export function createHoldings({ tables }: Store, asDocumented: boolean): Holdings {
  const inWarehouse = asDocumented ? documentedWarehouseCredit : warehouseCredit;

  function* list(organizationId: string, place: Place): Generator<string> {
    const inventoryId = found(tables.organizations.get(organizationId), 'Organization').warehouse_id;
    const shape = (row: Held, issued: Issued) =>
      JSON.stringify(
        place === 'warehouse' ? inWarehouse(row, issued, inventoryId) : inventoryCredit(row, issued),
      );
    const rows = tables.holdings
      .rows(organizationId, place)
      .toSorted((one, other) => compare(one.credit_id, other.credit_id))
      .map(row => [row, findIssued(tables, row.credit_id)] as const);
    yield '{"credits":[';
    for (const [index, [row, issued]] of rows.entries()) yield (index === 0 ? '' : ',') + shape(row, issued);
    yield `],"organizationId":${JSON.stringify(organizationId)}}`;
  }

  return { list };
}
