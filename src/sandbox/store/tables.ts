import { notFound } from '../http/api-errors.js';
import type { FaultRecord } from '../faults/fault-kinds.js';
import type {
  AddressRecord,
  AppRecord,
  CreditRecord,
  DeliveryRecord,
  HoldingRecord,
  InstallationRecord,
  InventoryRequestRecord,
  OrganizationRecord,
  ExternalHoldingRecord,
  HoldingPlace,
  ProjectRecord,
  ReservationRecord,
  RetirementRecord,
  SettingRecord,
  TokenRecord,
  TransactionRecord,
  UserRecord,
} from './records.js';

/** All data of the registry, in memory. */
export type RegistryTables = ReturnType<typeof createRegistryTables>;

/** Creates the empty tables of the registry. Each change calls `onChange` with a function that undoes the change. */
export function createRegistryTables(onChange: UndoRecorder) {
  const byId = <Row extends { readonly id: string | number }>(label: string) => ({
    label,
    idOf: (row: Row) => row.id,
  });
  const byOrganization = <Row extends OwnedRecord>(label: string) => ({
    ...byId<Row>(label),
    groupOf: getOrganizationId,
  });
  return {
    apps: createMemoryTable(onChange, byId<AppRecord>('App')),
    users: createMemoryTable<UserRecord>(onChange, { ...byOrganization('User'), nameOf: row => row.email }),
    organizations: createMemoryTable<OrganizationRecord>(onChange, {
      ...byId('Organization'),
      nameOf: row => row.fullName,
    }),
    addresses: createMemoryTable<AddressRecord>(onChange, {
      label: 'Address',
      idOf: row => row.address,
      groupOf: getOrganizationId,
    }),
    projects: createMemoryTable<ProjectRecord>(onChange, { ...byId('Project'), nameOf: row => row.num }),
    credits: createMemoryTable<CreditRecord>(onChange, {
      ...byId('Credit'),
      groupOf: row => row.projectId,
      nameOf: row => row.serialization.toUpperCase(),
    }),
    /** The contents of warehouses and inventories. An emptied holding stays, with an amount of 0. */
    holdings: createMemoryTable<HoldingRecord>(onChange, {
      label: 'Holding',
      idOf: row => `${getHoldingGroupKey(row.organizationId, row.place)} ${row.creditId}`,
      groupOf: row => getHoldingGroupKey(row.organizationId, row.place),
    }),
    externalHoldings: createMemoryTable<ExternalHoldingRecord>(onChange, {
      label: 'Address',
      idOf: row => `${row.address} ${row.creditId}`,
    }),
    reservations: createMemoryTable<ReservationRecord>(onChange, {
      ...byOrganization('Reservation'),
      isLive: row => row.state === 'outstanding',
    }),
    requests: createMemoryTable(onChange, byOrganization<InventoryRequestRecord>('Request')),
    retirements: createMemoryTable(onChange, byOrganization<RetirementRecord>('Retirement')),
    transactions: createMemoryTable(onChange, byId<TransactionRecord>('Transaction')),
    installations: createMemoryTable<InstallationRecord>(onChange, {
      ...byOrganization('Installation'),
      isLive: row => row.state !== 'uninstalled',
    }),
    tokens: createMemoryTable<TokenRecord>(onChange, { ...byId('Token'), nameOf: row => row.digest }),
    deliveries: createMemoryTable<DeliveryRecord>(onChange, {
      ...byId('Delivery'),
      isLive: row => row.state === 'pending' || row.state === 'held',
    }),
    faults: createMemoryTable<FaultRecord>(onChange, { ...byId('Fault'), isLive: row => !row.isRemoved }),
    settings: createMemoryTable<SettingRecord>(onChange, { label: 'Setting', idOf: row => row.name }),
  };
}

/** Returns the key of an organization's warehouse or inventory. */
export function getHoldingGroupKey(organizationId: string, place: HoldingPlace): string {
  return `${organizationId} ${place}`;
}

interface OwnedRecord {
  readonly id: string;
  readonly organizationId: string;
}

/** Returns the id of the organization that owns a row. */
function getOrganizationId({ organizationId }: Pick<OwnedRecord, 'organizationId'>): string {
  return organizationId;
}

/** A table in memory, in the order of insertion. Rows are replaced but never changed. */
export interface MemoryTable<Row> {
  get(id: string | number): Row | undefined;
  /**
   * Returns the row with this id. Throws a 404 error if the id is unknown or the row is not in the group `groupKey`,
   * such as an organization.
   */
  getOrThrow(id: string | number, groupKey?: string): Row;
  /** Returns the row with this unique name, such as a serial number or an e-mail address. */
  getByName(name: string): Row | undefined;
  /** Inserts or replaces a row. The change is undone if the running operation fails. */
  put(row: Row): void;
  /** Like `put`, but never undone. For bulk loads after which nothing can fail. */
  putWithoutUndo(row: Row): void;
  list(groupKey?: string): Row[];
  count(groupKey?: string): number;
  /** Returns up to `limit` rows of a group (default: all rows), newest first. Leaves out the newest `skip` rows. */
  listNewest(limit: number, skip?: number, groupKey?: string): Row[];
  /** Returns the rows that can still change, such as outstanding reservations and pending deliveries. */
  listLive(): Row[];
}

/** How to index the rows of a table. */
interface MemoryTableOptions<Row> {
  /** The name of a row in messages, such as `Credit` in `Credit not found`. */
  readonly label: string;
  readonly idOf: (row: Row) => string | number;
  readonly groupOf?: (row: Row) => string;
  readonly nameOf?: (row: Row) => string;
  readonly isLive?: (row: Row) => boolean;
}

/** Receives a function that undoes the change that was just made. */
type UndoRecorder = (undo: () => void) => void;

/** The group that all rows belong to. */
const ALL_ROWS = '';

/** Creates an empty table in memory with indexes by id, group and name. */
function createMemoryTable<Row>(onChange: UndoRecorder, options: MemoryTableOptions<Row>): MemoryTable<Row> {
  const { label, idOf, groupOf, nameOf, isLive } = options;
  const rowById = new Map<string | number, Row>();
  const idByName = new Map<string, string | number>();
  const idsByGroup = new Map<string, (string | number)[]>([[ALL_ROWS, []]]);
  const liveRows = new Map<string | number, Row>();

  /** Returns the groups that contain a row: the group of all rows and the row's own group. */
  function listGroups(row: Row): string[] {
    return groupOf === undefined ? [ALL_ROWS] : [ALL_ROWS, groupOf(row)];
  }

  /** Inserts or replaces a row and updates all indexes. Does not record how to undo the change. */
  function putWithoutUndo(row: Row): void {
    const id = idOf(row);
    if (!rowById.has(id)) {
      for (const group of listGroups(row)) {
        const ids = idsByGroup.get(group);
        if (ids === undefined) idsByGroup.set(group, [id]);
        else ids.push(id);
      }
      if (nameOf !== undefined) idByName.set(nameOf(row), id);
    }
    rowById.set(id, row);
    if (isLive?.(row)) liveRows.set(id, row);
    else liveRows.delete(id);
  }

  /** Removes a row from the table and its indexes. The row must be the one that was inserted last. */
  function removeLastInserted(row: Row): void {
    const id = idOf(row);
    for (const group of listGroups(row)) idsByGroup.get(group)?.pop();
    if (nameOf !== undefined) idByName.delete(nameOf(row));
    rowById.delete(id);
    liveRows.delete(id);
  }

  /** Returns the rows with these ids. Skips unknown ids. */
  function getRowsById(ids: readonly (string | number)[]): Row[] {
    return ids.flatMap(id => rowById.get(id) ?? []);
  }

  return {
    get: id => rowById.get(id),
    /**
     * Returns the row with this id. Throws a 404 error if there is none, or if the row is not in the group `groupKey`, such as an
     * organization.
     */
    getOrThrow(id: string | number, groupKey?: string): Row {
      const row = rowById.get(id);
      if (row === undefined || !listGroups(row).includes(groupKey ?? ALL_ROWS))
        throw notFound(`${label} not found`);
      return row;
    },
    getByName: name => rowById.get(idByName.get(name) ?? ALL_ROWS),
    /** Inserts or replaces a row. If the running operation fails, the change is undone. */
    put(row: Row): void {
      const previous = rowById.get(idOf(row));
      onChange(() => (previous === undefined ? removeLastInserted(row) : putWithoutUndo(previous)));
      putWithoutUndo(row);
    },
    putWithoutUndo,
    list: (groupKey = ALL_ROWS) => getRowsById(idsByGroup.get(groupKey) ?? []),
    count: (groupKey = ALL_ROWS) => idsByGroup.get(groupKey)?.length ?? 0,
    /**
     * Returns up to `limit` rows of the table, newest first, without the newest `skip` rows. `groupKey` selects one group of
     * rows.
     */
    listNewest(limit: number, skip = 0, groupKey = ALL_ROWS): Row[] {
      const ids = idsByGroup.get(groupKey) ?? [];
      const end = Math.max(0, ids.length - skip);
      return getRowsById(ids.slice(Math.max(0, end - limit), end).toReversed());
    },
    listLive: () => [...liveRows.values()],
  };
}

interface CreatedRecord {
  readonly id: string;
  readonly createdAt: string;
}

/** Sorts rows by creation time, oldest first. Rows of the same time are sorted by id. */
export function sortOldestFirst<Row extends CreatedRecord>(rows: readonly Row[]): Row[] {
  return rows.toSorted(
    (left, right) => compareText(left.createdAt, right.createdAt) || compareText(left.id, right.id),
  );
}

/** Sorts rows by creation time, newest first. Rows of the same time are sorted by id. */
export function sortNewestFirst<Row extends CreatedRecord>(rows: readonly Row[]): Row[] {
  return rows.toSorted(
    (left, right) => compareText(right.createdAt, left.createdAt) || compareText(left.id, right.id),
  );
}

/** Compares two strings by UTF-16 code units. Returns a negative number, 0 or a positive number for `sort`. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
