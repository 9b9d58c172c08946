import { notFound } from '../http/errors.js';
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

/** Everything that the registry knows. */
export type Tables = ReturnType<typeof createTables>;

export function createTables(remember: Remember) {
  const of = <Row extends { readonly id: string | number }>(what: string) => ({
    what,
    id: (row: Row) => row.id,
  });
  const owned = <Row extends Owned>(what: string) => ({ ...of<Row>(what), group: ownerOf });
  return {
    apps: createTable(remember, of<AppRow>('App')),
    users: createTable<UserRow>(remember, { ...owned('User'), name: row => row.email }),
    organizations: createTable<OrganizationRow>(remember, {
      ...of('Organization'),
      name: row => row.fullName,
    }),
    addresses: createTable<AddressRow>(remember, { what: 'Address', id: row => row.address, group: ownerOf }),
    projects: createTable<ProjectRow>(remember, { ...of('Project'), name: row => row.num }),
    credits: createTable<CreditRow>(remember, {
      ...of('Credit'),
      group: row => row.projectId,
      name: row => row.serialization.toUpperCase(),
    }),
    /** What stands in warehouses and inventories, and where something once stood. */
    holdings: createTable<HoldingRow>(remember, {
      what: 'Holding',
      id: row => `${placeOf(row.organizationId, row.place)} ${row.creditId}`,
      group: row => placeOf(row.organizationId, row.place),
    }),
    outside: createTable<OutsideRow>(remember, {
      what: 'Address',
      id: row => `${row.address} ${row.creditId}`,
    }),
    reservations: createTable<ReservationRow>(remember, {
      ...owned('Reservation'),
      isLive: row => row.state === 'outstanding',
    }),
    requests: createTable(remember, owned<InventoryRequestRow>('Request')),
    retirements: createTable(remember, owned<RetirementRow>('Retirement')),
    transactions: createTable(remember, of<TransactionRow>('Transaction')),
    installations: createTable<InstallationRow>(remember, {
      ...owned('Installation'),
      isLive: row => row.state !== 'uninstalled',
    }),
    tokens: createTable<TokenRow>(remember, { ...of('Token'), name: row => row.digest }),
    deliveries: createTable<DeliveryRow>(remember, {
      ...of('Delivery'),
      isLive: row => row.state === 'pending' || row.state === 'held',
    }),
    faults: createTable<FaultRow>(remember, { ...of('Fault'), isLive: row => !row.isRemoved }),
    settings: createTable<SettingRow>(remember, { what: 'Setting', id: row => row.name }),
  };
}

export function placeOf(organizationId: string, place: Place): string {
  return `${organizationId} ${place}`;
}

interface Owned {
  readonly id: string;
  readonly organizationId: string;
}

function ownerOf({ organizationId }: Pick<Owned, 'organizationId'>): string {
  return organizationId;
}

/** Rows by their id, in the order in which they came. A row is replaced, never changed: who has read one keeps it as it was. */
export interface Table<Row> {
  get(id: string | number): Row | undefined;
  /** Refuses where there is none, or where it is of another group. */
  find(id: string | number, group?: string): Row;
  /** By the other word that one row alone goes by. */
  named(name: string): Row | undefined;
  /** Adds the row, or replaces the one with its id. */
  put(row: Row): void;
  /** The same, where nothing can be refused afterwards. */
  load(row: Row): void;
  rows(group?: string): Row[];
  count(group?: string): number;
  /** So many, the last that came first, beginning after some. */
  newest(first: number, skip?: number, group?: string): Row[];
  /** Those with which something is still to happen. */
  live(): Row[];
}

interface TableOptions<Row> {
  /** As in `Credit not found`. */
  readonly what: string;
  readonly id: (row: Row) => string | number;
  readonly group?: (row: Row) => string;
  readonly name?: (row: Row) => string;
  readonly isLive?: (row: Row) => boolean;
}

/** How to take a change back. */
type Remember = (undo: () => void) => void;

const ALL = '';

function createTable<Row>(remember: Remember, options: TableOptions<Row>): Table<Row> {
  const { what, id: idOf, group: groupOf, name: nameOf, isLive } = options;
  const rowById = new Map<string | number, Row>();
  const idByName = new Map<string, string | number>();
  const idsByGroup = new Map<string, (string | number)[]>([[ALL, []]]);
  const live = new Map<string | number, Row>();

  function groupsOf(row: Row): string[] {
    return groupOf === undefined ? [ALL] : [ALL, groupOf(row)];
  }

  function load(row: Row): void {
    const id = idOf(row);
    if (!rowById.has(id)) {
      for (const group of groupsOf(row)) {
        const ids = idsByGroup.get(group);
        if (ids === undefined) idsByGroup.set(group, [id]);
        else ids.push(id);
      }
      if (nameOf !== undefined) idByName.set(nameOf(row), id);
    }
    rowById.set(id, row);
    if (isLive?.(row)) live.set(id, row);
    else live.delete(id);
  }

  /** Only what came last is ever taken back. */
  function remove(row: Row): void {
    const id = idOf(row);
    for (const group of groupsOf(row)) idsByGroup.get(group)?.pop();
    if (nameOf !== undefined) idByName.delete(nameOf(row));
    rowById.delete(id);
    live.delete(id);
  }

  function rowsOf(ids: readonly (string | number)[]): Row[] {
    return ids.flatMap(id => rowById.get(id) ?? []);
  }

  return {
    get: id => rowById.get(id),
    find(id, group) {
      const row = rowById.get(id);
      if (row === undefined || !groupsOf(row).includes(group ?? ALL)) throw notFound(`${what} not found`);
      return row;
    },
    named: name => rowById.get(idByName.get(name) ?? ALL),
    put(row) {
      const old = rowById.get(idOf(row));
      remember(() => (old === undefined ? remove(row) : load(old)));
      load(row);
    },
    load,
    rows: (group = ALL) => rowsOf(idsByGroup.get(group) ?? []),
    count: (group = ALL) => idsByGroup.get(group)?.length ?? 0,
    newest(first, skip = 0, group = ALL) {
      const ids = idsByGroup.get(group) ?? [];
      const end = Math.max(0, ids.length - skip);
      return rowsOf(ids.slice(Math.max(0, end - first), end).toReversed());
    },
    live: () => [...live.values()],
  };
}

interface Dated {
  readonly id: string;
  readonly createdAt: string;
}

export function oldestFirst<Row extends Dated>(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => compare(one.createdAt, other.createdAt) || compare(one.id, other.id));
}

export function newestFirst<Row extends Dated>(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => compare(other.createdAt, one.createdAt) || compare(one.id, other.id));
}

export function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
