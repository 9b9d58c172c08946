import type { Program } from './program.js';

type Place = 'warehouse' | 'inventory';
type Registry = Program['registry']['store']['tables'];

interface Comparison {
  readonly name: string;
  /** The permission that lets the mirror see it; null where none is needed. */
  readonly permission: string | null;
  readonly registry: (tables: Registry, organizationId: string) => readonly object[];
  readonly mirror: string;
}

function pickFrom<Row extends object, Name extends keyof Row>(row: Row, ...names: readonly Name[]) {
  return Object.fromEntries(names.map(name => [name, row[name]]));
}

function heldAt(tables: Registry, organizationId: string, place: Place) {
  return tables.holdings.rows(organizationId, place).map(({ credit_id, amount_micro }) => ({
    credit_id,
    amount_micro,
    ...pickFrom(creditOf(tables, credit_id), 'project_id', 'serialization', 'vintage', 'type', 'token_id'),
  }));
}

function creditOf({ credits }: Registry, id: string) {
  const credit = credits.get(id);
  if (credit === undefined) throw new Error(`no credit ${id}`);
  return credit;
}

const CREDITS = (place: Place, table: string, permission: string): Comparison => ({
  name: table,
  permission,
  registry: (tables, organizationId) => heldAt(tables, organizationId, place),
  mirror: `SELECT credit_id, amount_micro, project_id, serialization, vintage, type, token_id
    FROM ${table} WHERE organization_id = ?`,
});

/** What must be the same on both sides, row by row, for every organization that lets itself be read. */
const COMPARISONS: readonly Comparison[] = [
  CREDITS('warehouse', 'warehouse_credits', 'organization_warehouse'),
  CREDITS('inventory', 'inventory_credits', 'organization_inventory'),
  {
    name: 'reservations',
    permission: 'organization_warehouse',
    registry: ({ reservations }, organizationId) =>
      reservations.rows(organizationId).map(row => ({
        ...pickFrom(row, 'id', 'credit_id', 'amount_micro'),
        reserver_id: row.app_id,
        state: row.state,
        is_complete: Number(row.state === 'finished'),
        ...pickFrom(row, 'reserved_to_at', 'created_at', 'updated_at'),
      })),
    mirror: `SELECT id, credit_id, amount_micro, reserver_id, state, is_complete, reserved_to_at, created_at, updated_at
      FROM reservations WHERE organization_id = ?`,
  },
  {
    name: 'inventory_requests',
    permission: 'organization_inventory',
    registry: ({ requests }, organizationId) =>
      requests.rows(organizationId).map(row => ({
        ...pickFrom(row, 'id', 'credit_id', 'action', 'state', 'amount_micro', 'to_organization_id'),
        ...pickFrom(row, 'to_address', 'tx_id', 'reason', 'beneficiary', 'comment', 'updated_at'),
      })),
    mirror: `SELECT id, credit_id, action, state, amount_micro, to_organization_id, to_address, tx_id,
      retirement_reason AS reason, beneficiary, retirement_comment AS comment, updated_at
      FROM inventory_requests WHERE organization_id = ?`,
  },
  {
    name: 'retirements',
    permission: 'organization_info',
    registry: (tables, organizationId) =>
      tables.retirements.rows(organizationId).map(row => ({
        ...pickFrom(row, 'id', 'amount_micro'),
        is_claimed: Number(row.is_claimed),
        ...pickFrom(creditOf(tables, row.credit_id), 'serialization', 'vintage', 'project_id'),
        ...pickFrom(row, 'created_at', 'reason', 'beneficiary', 'comment'),
      })),
    mirror: `SELECT id, amount_micro, is_claimed, serialization, vintage, project_id, created_at, reason, beneficiary,
      comment FROM retirements WHERE organization_id = ?`,
  },
  {
    name: 'certificates',
    permission: 'organization_info',
    registry: ({ retirements }, organizationId) =>
      retirements
        .rows(organizationId)
        .map(({ id, is_claimed }) => ({ id, state: is_claimed ? 'stored' : 'unavailable' })),
    mirror: 'SELECT retirement_id AS id, state FROM certificates WHERE organization_id = ?',
  },
  {
    name: 'organizations',
    permission: 'organization_info',
    registry: ({ organizations }, organizationId) =>
      [organizations.get(organizationId) ?? []].flat().map(row => ({
        ...pickFrom(row, 'id', 'full_name', 'type', 'country_code'),
        is_public: Number(row.is_public),
      })),
    mirror: 'SELECT id, full_name, type, country_code, is_public FROM organizations WHERE id = ?',
  },
  {
    name: 'addresses',
    permission: 'organization_info',
    registry: ({ addresses }, organizationId) =>
      addresses
        .rows(organizationId)
        .map(({ address, name, is_default }) => ({ address, name, is_default: Number(is_default) })),
    mirror: 'SELECT address, name, is_default FROM addresses WHERE organization_id = ?',
  },
  {
    name: 'members',
    permission: 'organization_members',
    registry: ({ users }, organizationId) =>
      users.rows(organizationId).map(row => pickFrom(row, 'id', 'full_name', 'email')),
    mirror: 'SELECT id, full_name, email FROM members WHERE organization_id = ?',
  },
  {
    name: 'projects',
    permission: 'organization_inventory',
    registry: (tables, organizationId) => {
      const held = heldAt(tables, organizationId, 'inventory');
      const ids = new Set(held.map(({ credit_id }) => creditOf(tables, credit_id).project_id));
      const projects = tables.projects.rows().filter(({ id, is_public }) => is_public && ids.has(id));
      return projects.map(row => pickFrom(row, 'id', 'num', 'full_name', 'short_description'));
    },
    mirror: `SELECT DISTINCT p.id, p.num, p.full_name, p.short_description
      FROM inventory_credits c JOIN projects p ON p.id = c.project_id
      JOIN project_states s ON s.project_id = p.id AND s.state = 'readable' WHERE c.organization_id = ?`,
  },
];

interface Installed {
  readonly id: string;
  readonly organization_id: string;
  readonly state: string;
}

/** Every difference between the mirror and the sandbox's own tables, in words; empty where there is none. */
export async function differences(program: Program): Promise<string[]> {
  const { tables } = program.registry.store;
  const mirrored = await program.rows<Installed>('SELECT id, organization_id, state FROM installations');
  const known = new Set(mirrored.map(({ id }) => id));
  const installations = tables.installations.rows();
  const installed = installations.filter(({ id, state }) => known.has(id) || state !== 'uninstalled');
  const found = compare(
    'installations',
    linesOf(installed.map(row => pickFrom(row, 'id', 'organization_id', 'state'))),
    linesOf(mirrored),
  );
  for (const { organization_id, permissions } of installations.filter(({ state }) => state === 'active')) {
    for (const { name, permission, registry, mirror } of COMPARISONS) {
      if (permission !== null && !Object.hasOwn(permissions, permission)) continue;
      const theirs = registry(tables, organization_id);
      const ours = await program.rows<object>(mirror, organization_id);
      found.push(...compare(name, linesOf(theirs), linesOf(ours)));
    }
  }
  return found;
}

function linesOf(rows: readonly object[]): string[] {
  return rows.map(row => JSON.stringify(row)).sort();
}

function compare(name: string, registry: readonly string[], mirror: readonly string[]): string[] {
  const missing = registry.filter(row => !mirror.includes(row)).map(row => `${name}: not mirrored ${row}`);
  const extra = mirror
    .filter(row => !registry.includes(row))
    .map(row => `${name}: not in the registry ${row}`);
  const counts =
    registry.length === mirror.length ? [] : [`${name}: ${registry.length} against ${mirror.length} rows`];
  return [...missing, ...extra, ...counts];
}

export const MIRRORED = [
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

/** All rows as they stand now, without the columns in which a row and its later self differ. */
export async function photograph(program: Program): Promise<string> {
  return rowsOf(program, table => table);
}

/** The same as of an instant, out of the history. */
export async function photographAsOf(program: Program, at: number): Promise<string> {
  const instant = new Date(at).toISOString();
  return rowsOf(
    program,
    table =>
      `${table}_history WHERE valid_from <= '${instant}' AND (valid_to IS NULL OR valid_to > '${instant}')`,
  );
}

async function rowsOf(program: Program, from: (table: string) => string): Promise<string> {
  const lines: string[] = [];
  for (const table of MIRRORED) {
    const columns = await program.columns(table);
    const rows = await program.rows(`SELECT ${columns.join(', ')} FROM ${from(table)}`);
    lines.push(...rows.map(row => `${table} ${JSON.stringify(row)}`).sort());
  }
  return lines.join('\n');
}
