import { getHoldingGroupKey } from '../../src/sandbox/store/tables.js';
import type { Program } from './program.js';

type CreditPlace = 'warehouse' | 'inventory';
type RegistryTables = Program['registry']['store']['tables'];

interface Comparison {
  readonly name: string;
  /** The permission that the mirror needs to read the list; null if none. */
  readonly permission: string | null;
  readonly registry: (tables: RegistryTables, organizationId: string) => readonly object[];
  readonly mirror: string;
  /** Columns that the documented registry does not send; `all` if it sends no rows. */
  readonly undocumented?: readonly string[] | 'all';
}

/** Picks values of a registry row by the names of the mirror's columns. */
function pickColumns(row: object, ...columns: readonly string[]) {
  const values = new Map<string, unknown>(Object.entries(row));
  return Object.fromEntries(columns.map(column => [column, values.get(toRegistryName(column))]));
}

function toRegistryName(column: string): string {
  if (column === 'reserved_to_at') return 'reservedToDate';
  return column.replaceAll(/_(.)/g, (_whole, letter: string) => letter.toUpperCase());
}

const NO_RETIREMENT_TEXTS = { reason: null, beneficiary: null, comment: null };

function listHoldings(tables: RegistryTables, organizationId: string, place: CreditPlace) {
  const holdings = tables.holdings
    .list(getHoldingGroupKey(organizationId, place))
    .filter(({ amountMicro }) => amountMicro > 0);
  return holdings.map(row => ({
    ...pickColumns(row, 'credit_id', 'amount_micro'),
    ...pickColumns(
      tables.credits.getOrThrow(row.creditId),
      'project_id',
      'serialization',
      'vintage',
      'type',
      'token_id',
    ),
  }));
}

const compareCredits = (place: CreditPlace, table: string, permission: string): Comparison => ({
  name: table,
  permission,
  registry: (tables, organizationId) => listHoldings(tables, organizationId, place),
  mirror: `SELECT credit_id, amount_micro, project_id, serialization, vintage, type, token_id
    FROM ${table} WHERE organization_id = ?`,
  ...(place === 'warehouse' && { undocumented: ['token_id'] }),
});

/** Lists that must be equal in the registry and the mirror, for every organization with an active installation. */
const COMPARISONS: readonly Comparison[] = [
  compareCredits('warehouse', 'warehouse_credits', 'organization_warehouse'),
  compareCredits('inventory', 'inventory_credits', 'organization_inventory'),
  {
    name: 'reservations',
    permission: 'organization_warehouse',
    registry: ({ reservations }, organizationId) =>
      reservations.list(organizationId).map(row => ({
        ...pickColumns(row, 'id', 'credit_id', 'amount_micro'),
        reserver_id: row.appId,
        state: row.state,
        is_complete: Number(row.state === 'finished'),
        ...pickColumns(row, 'reserved_to_at', 'created_at', 'updated_at'),
      })),
    mirror: `SELECT id, credit_id, amount_micro, reserver_id, state, is_complete, reserved_to_at, created_at, updated_at
      FROM reservations WHERE organization_id = ?`,
    undocumented: ['state'],
  },
  {
    name: 'inventory_requests',
    permission: 'organization_inventory',
    registry: ({ requests }, organizationId) =>
      requests.list(organizationId).map(row => ({
        ...pickColumns(row, 'id', 'credit_id', 'action', 'state', 'amount_micro', 'to_organization_id'),
        ...pickColumns(row, 'to_address', 'tx_id', 'updated_at'),
        ...(row.retirementDetails ?? NO_RETIREMENT_TEXTS),
      })),
    mirror: `SELECT id, credit_id, action, state, amount_micro, to_organization_id, to_address, tx_id,
      retirement_reason AS reason, beneficiary, retirement_comment AS comment, updated_at
      FROM inventory_requests WHERE organization_id = ?`,
  },
  {
    name: 'retirements',
    permission: 'organization_info',
    registry: (tables, organizationId) =>
      tables.retirements.list(organizationId).map(row => ({
        ...pickColumns(row, 'id', 'amount_micro'),
        is_claimed: Number(row.details !== null),
        ...pickColumns(tables.credits.getOrThrow(row.creditId), 'serialization', 'vintage', 'project_id'),
        ...pickColumns(row, 'created_at'),
        ...(row.details ?? NO_RETIREMENT_TEXTS),
      })),
    mirror: `SELECT id, amount_micro, is_claimed, serialization, vintage, project_id, created_at, reason, beneficiary,
      comment FROM retirements WHERE organization_id = ?`,
  },
  {
    name: 'certificates',
    permission: 'organization_info',
    registry: ({ retirements }, organizationId) =>
      retirements
        .list(organizationId)
        .map(({ id, details: words }) => ({ id, state: words === null ? 'unavailable' : 'stored' })),
    mirror: 'SELECT retirement_id AS id, state FROM certificates WHERE organization_id = ?',
  },
  {
    name: 'organizations',
    permission: 'organization_info',
    registry: ({ organizations }, organizationId) =>
      [organizations.get(organizationId) ?? []].flat().map(row => ({
        ...pickColumns(row, 'id', 'full_name', 'type', 'country_code'),
        is_public: Number(row.isPublic),
      })),
    mirror: 'SELECT id, full_name, type, country_code, is_public FROM organizations WHERE id = ?',
  },
  {
    name: 'addresses',
    permission: 'organization_info',
    registry: ({ addresses }, organizationId) =>
      addresses
        .list(organizationId)
        .map(({ address, name, isDefault }) => ({ address, name, is_default: Number(isDefault) })),
    mirror: 'SELECT address, name, is_default FROM addresses WHERE organization_id = ?',
    undocumented: 'all',
  },
  {
    name: 'members',
    permission: 'organization_members',
    registry: ({ users }, organizationId) =>
      users.list(organizationId).map(row => pickColumns(row, 'id', 'full_name', 'email')),
    mirror: 'SELECT id, full_name, email FROM members WHERE organization_id = ?',
  },
  {
    name: 'projects',
    permission: 'organization_inventory',
    registry: (tables, organizationId) => {
      const ids = new Set(listHoldings(tables, organizationId, 'inventory').map(({ project_id: id }) => id));
      const projects = tables.projects.list().filter(({ id, isPublic }) => isPublic && ids.has(id));
      return projects.map(row => pickColumns(row, 'id', 'num', 'full_name', 'short_description'));
    },
    mirror: `SELECT DISTINCT p.id, p.num, p.full_name, p.short_description
      FROM inventory_credits c JOIN projects p ON p.id = c.project_id
      JOIN project_states s ON s.project_id = p.id AND s.state = 'readable' WHERE c.organization_id = ?`,
  },
];

interface MirroredInstallation {
  readonly id: string;
  readonly organization_id: string;
  readonly state: string;
}

/** Describes every difference between the mirror and the sandbox's own tables. */
export async function findDifferences(program: Program): Promise<string[]> {
  const { store, profile } = program.registry;
  const { tables } = store;
  const mirrored = await program.rows<MirroredInstallation>(
    'SELECT id, organization_id, state FROM installations',
  );
  const known = new Set(mirrored.map(({ id }) => id));
  const installations = tables.installations.list();
  const installed = installations.filter(({ id, state }) => known.has(id) || state !== 'uninstalled');
  const differences = describeDifferences(
    'installations',
    toSortedLines(installed.map(row => pickColumns(row, 'id', 'organization_id', 'state'))),
    toSortedLines(mirrored),
  );
  for (const { organizationId, permissions } of installations.filter(({ state }) => state === 'active')) {
    for (const { name, permission, registry, mirror, undocumented = [] } of COMPARISONS) {
      if (permission !== null && !Object.hasOwn(permissions, permission)) continue;
      const hiddenColumns = profile === 'as-documented' ? undocumented : [];
      if (hiddenColumns === 'all') continue;
      const hiddenValues = Object.fromEntries(hiddenColumns.map(column => [column, null]));
      const registryRows = registry(tables, organizationId).map(row => ({ ...row, ...hiddenValues }));
      const mirrorRows = await program.rows<object>(mirror, organizationId);
      differences.push(...describeDifferences(name, toSortedLines(registryRows), toSortedLines(mirrorRows)));
    }
  }
  return differences;
}

function toSortedLines(rows: readonly object[]): string[] {
  return rows.map(row => JSON.stringify(row, Object.keys(row).toSorted())).sort();
}

function describeDifferences(name: string, registry: readonly string[], mirror: readonly string[]): string[] {
  const missing = registry.filter(row => !mirror.includes(row)).map(row => `${name}: not mirrored ${row}`);
  const extra = mirror
    .filter(row => !registry.includes(row))
    .map(row => `${name}: not in the registry ${row}`);
  const counts =
    registry.length === mirror.length ? [] : [`${name}: ${registry.length} against ${mirror.length} rows`];
  return [...missing, ...extra, ...counts];
}

export const MIRRORED_TABLES = [
  'installations',
  'organizations',
  'projects',
  'warehouse_credits',
  'inventory_credits',
  'reservations',
  'inventory_requests',
  'retirements',
  'members',
  'addresses',
] as const;

/** Dumps the current rows of all mirrored tables as sorted lines. */
export async function dumpRows(program: Program): Promise<string> {
  return dumpTables(program, table => table);
}

/** Dumps the rows as of an instant, from the history, in the format of `dumpRows`. */
export async function dumpRowsAsOf(program: Program, at: number): Promise<string> {
  const instant = new Date(at).toISOString();
  return dumpTables(
    program,
    table =>
      `${table}_history WHERE valid_from <= '${instant}' AND (valid_to IS NULL OR valid_to > '${instant}')`,
  );
}

async function dumpTables(program: Program, getSource: (table: string) => string): Promise<string> {
  const lines: string[] = [];
  for (const table of MIRRORED_TABLES) {
    const columns = await program.columns(table);
    const rows = await program.rows(`SELECT ${columns.join(', ')} FROM ${getSource(table)}`);
    lines.push(...rows.map(row => `${table} ${JSON.stringify(row)}`).sort());
  }
  return lines.join('\n');
}
