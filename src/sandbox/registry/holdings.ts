import type { Place } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { compare } from '../store/tables.js';
import { documentedWarehouseCredit, findIssued, inventoryCredit, warehouseCredit } from './shapes.js';

export function createHoldings({ tables, accounts }: Store, asDocumented: boolean) {
  const inWarehouse = asDocumented ? documentedWarehouseCredit : warehouseCredit;

  /** The whole answer as pieces of JSON text, all of it as it stood when the first was taken. */
  function* list(organizationId: string, place: Place): Generator<string> {
    const { warehouseId } = tables.organizations.find(organizationId);
    const rows = accounts
      .held(organizationId, place)
      .toSorted((one, other) => compare(one.creditId, other.creditId))
      .map(row => [row, findIssued(tables, row.creditId)] as const);
    yield '{"credits":[';
    for (const [index, [row, issued]] of rows.entries()) {
      const credit =
        place === 'warehouse' ? inWarehouse(row, issued, warehouseId) : inventoryCredit(row, issued);
      yield (index === 0 ? '' : ',') + JSON.stringify(credit);
    }
    yield `],"organizationId":${JSON.stringify(organizationId)}}`;
  }

  return { list };
}
