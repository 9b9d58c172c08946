import type { FaultRow } from '../trouble/kinds.js';
import type {
  AddressRow,
  AppRow,
  CreditRow,
  DeliveryRow,
  HoldingRow,
  InstallationRow,
  InventoryRequestRow,
  OrganizationRow,
  OutsideRow,
  Place,
  ProjectRow,
  ReservationRow,
  RetirementRow,
  SettingRow,
  TokenRow,
  TransactionRow,
  UserRow,
} from './rows.js';
import { createTable, type Remember } from './table.js';

/** Everything that the registry knows. */
export type Tables = ReturnType<typeof createTables>;

export function createTables(remember: Remember) {
  const owned = { id: idOf, group: ownerOf };
  return {
    apps: createTable<AppRow>(remember, { id: idOf }),
    users: createTable<UserRow>(remember, { ...owned, name: row => row.email }),
    organizations: createTable<OrganizationRow>(remember, { id: idOf, name: row => row.full_name }),
    addresses: createTable<AddressRow>(remember, { id: row => row.address, group: ownerOf }),
    projects: createTable<ProjectRow>(remember, { id: idOf, name: row => row.num }),
    credits: createTable<CreditRow>(remember, {
      id: idOf,
      group: row => row.project_id,
      name: row => row.serialization.toUpperCase(),
    }),
    holdings: createHoldings(remember),
    outside: createTable<OutsideRow>(remember, { id: row => `${row.address} ${row.credit_id}` }),
    reservations: createTable<ReservationRow>(remember, {
      ...owned,
      isLive: row => row.state === 'outstanding',
    }),
    requests: createTable<InventoryRequestRow>(remember, owned),
    retirements: createTable<RetirementRow>(remember, owned),
    transactions: createTable<TransactionRow>(remember, { id: idOf }),
    installations: createTable<InstallationRow>(remember, {
      ...owned,
      isLive: row => row.state !== 'uninstalled',
    }),
    tokens: createTable<TokenRow>(remember, { id: idOf, name: row => row.digest }),
    deliveries: createTable<DeliveryRow>(remember, {
      id: idOf,
      isLive: row => row.state === 'pending' || row.state === 'held',
    }),
    faults: createTable<FaultRow>(remember, { id: idOf, isLive: row => !row.isRemoved }),
    settings: createTable<SettingRow>(remember, { id: row => row.name }),
  };
}

/** What stands in warehouses and inventories; where all of it was taken there is no row. */
interface Holdings {
  get(organizationId: string, place: Place, creditId: string): HoldingRow | undefined;
  put(row: HoldingRow): void;
  /** The same, where nothing can be refused afterwards. */
  load(row: HoldingRow): void;
  rows(organizationId?: string, place?: Place): HoldingRow[];
}

function createHoldings(remember: Remember): Holdings {
  const rowsByPlace = new Map<string, Map<string, HoldingRow>>();

  function at(organizationId: string, place: Place): Map<string, HoldingRow> {
    const key = `${organizationId} ${place}`;
    const rows = rowsByPlace.get(key) ?? new Map<string, HoldingRow>();
    rowsByPlace.set(key, rows);
    return rows;
  }

  function load(row: HoldingRow): void {
    const rows = at(row.organization_id, row.place);
    if (row.amount_micro > 0) rows.set(row.credit_id, row);
    else rows.delete(row.credit_id);
  }

  return {
    get: (organizationId, place, creditId) => at(organizationId, place).get(creditId),
    put(row) {
      const old = at(row.organization_id, row.place).get(row.credit_id);
      remember(() => load(old ?? { ...row, amount_micro: 0 }));
      load(row);
    },
    load,
    rows(organizationId, place) {
      if (organizationId !== undefined && place !== undefined) return [...at(organizationId, place).values()];
      return [...rowsByPlace.values()].flatMap(rows => [...rows.values()]);
    },
  };
}

function idOf<Id>({ id }: { readonly id: Id }): Id {
  return id;
}

function ownerOf({ organization_id }: { readonly organization_id: string }): string {
  return organization_id;
}
