import type { HoldingPlace } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { compareText } from '../store/tables.js';
import {
  toDocumentedWarehouseCreditJson,
  getCreditWithProject,
  toInventoryCreditJson,
  toWarehouseCreditJson,
} from './to-json.js';

/**
 * Creates the service that lists the credits in warehouses and inventories. `asDocumented` omits the undocumented fields of
 * warehouse credits.
 */
export function createHoldingService({ tables, accounts }: SandboxStore, asDocumented: boolean) {
  // With `asDocumented`, warehouse credits have only the fields in the registry's documentation.
  const toCreditJson = asDocumented ? toDocumentedWarehouseCreditJson : toWarehouseCreditJson;

  /** Yields the credits in a warehouse or inventory as JSON, in chunks of text. */
  function* streamCredits(organizationId: string, place: HoldingPlace): Generator<string> {
    // Read all rows now, so that all chunks show the same state.
    const { warehouseId } = tables.organizations.getOrThrow(organizationId);
    const rows = accounts
      .listHoldings(organizationId, place)
      .toSorted((left, right) => compareText(left.creditId, right.creditId))
      .map(row => ({ row, origin: getCreditWithProject(tables, row.creditId) }));
    yield '{"credits":[';
    for (const [index, { row, origin }] of rows.entries()) {
      const credit =
        place === 'warehouse' ? toCreditJson(row, origin, warehouseId) : toInventoryCreditJson(row, origin);
      yield (index === 0 ? '' : ',') + JSON.stringify(credit);
    }
    yield `],"organizationId":${JSON.stringify(organizationId)}}`;
  }

  return { streamCredits };
}
