import type { Program } from './program.js';

interface Comparison {
  readonly name: string;
  /** The permission that lets the mirror see it; null where none is needed. */
  readonly permission: string | null;
  readonly registry: string;
  readonly mirror: string;
}

const CREDITS = (place: string, table: string, permission: string): Comparison => ({
  name: table,
  permission,
  registry: `SELECT h.credit_id, h.amount_micro, c.project_id, c.serialization, c.vintage, c.type, c.token_id
    FROM holdings h JOIN credits c ON c.id = h.credit_id
    WHERE h.organization_id = ? AND h.place = '${place}'`,
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
    registry: `SELECT id, credit_id, amount_micro, app_id AS reserver_id, state, state = 'finished' AS is_complete,
      reserved_to_at, created_at, updated_at FROM reservations WHERE organization_id = ?`,
    mirror: `SELECT id, credit_id, amount_micro, reserver_id, state, is_complete, reserved_to_at, created_at, updated_at
      FROM reservations WHERE organization_id = ?`,
  },
  {
    name: 'inventory_requests',
    permission: 'organization_inventory',
    registry: `SELECT id, credit_id, action, state, amount_micro, to_organization_id, to_address, tx_id,
      reason, beneficiary, comment, updated_at FROM inventory_requests WHERE organization_id = ?`,
    mirror: `SELECT id, credit_id, action, state, amount_micro, to_organization_id, to_address, tx_id,
      retirement_reason AS reason, beneficiary, retirement_comment AS comment, updated_at
      FROM inventory_requests WHERE organization_id = ?`,
  },
  {
    name: 'retirements',
    permission: 'organization_info',
    registry: `SELECT r.id, r.amount_micro, r.is_claimed, c.serialization, c.vintage, c.project_id, r.created_at,
      iif(r.is_claimed, r.reason, NULL) AS reason, iif(r.is_claimed, r.beneficiary, NULL) AS beneficiary,
      iif(r.is_claimed, r.comment, NULL) AS comment
      FROM retirements r JOIN credits c ON c.id = r.credit_id WHERE r.organization_id = ?`,
    mirror: `SELECT id, amount_micro, is_claimed, serialization, vintage, project_id, created_at, reason, beneficiary,
      comment FROM retirements WHERE organization_id = ?`,
  },
  {
    name: 'certificates',
    permission: 'organization_info',
    registry: `SELECT id, iif(is_claimed, 'stored', 'unavailable') AS state
      FROM retirements WHERE organization_id = ?`,
    mirror: 'SELECT retirement_id AS id, state FROM certificates WHERE organization_id = ?',
  },
  {
    name: 'organizations',
    permission: 'organization_info',
    registry: 'SELECT id, full_name, type, country_code, is_public FROM organizations WHERE id = ?',
    mirror: 'SELECT id, full_name, type, country_code, is_public FROM organizations WHERE id = ?',
  },
  {
    name: 'addresses',
    permission: 'organization_info',
    registry: 'SELECT address, name, is_default FROM addresses WHERE organization_id = ?',
    mirror: 'SELECT address, name, is_default FROM addresses WHERE organization_id = ?',
  },
  {
    name: 'members',
    permission: 'organization_members',
    registry: `SELECT u.id, u.full_name, u.email FROM members m JOIN users u ON u.id = m.user_id
      WHERE m.organization_id = ?`,
    mirror: 'SELECT id, full_name, email FROM members WHERE organization_id = ?',
  },
  {
    name: 'projects',
    permission: 'organization_inventory',
    registry: `SELECT DISTINCT p.id, p.num, p.full_name, p.short_description
      FROM holdings h JOIN credits c ON c.id = h.credit_id JOIN projects p ON p.id = c.project_id
      WHERE h.organization_id = ? AND h.place = 'inventory' AND p.is_public = 1`,
    mirror: `SELECT DISTINCT p.id, p.num, p.full_name, p.short_description
      FROM inventory_credits c JOIN projects p ON p.id = c.project_id
      JOIN project_states s ON s.project_id = p.id AND s.state = 'readable' WHERE c.organization_id = ?`,
  },
];

interface Live {
  readonly id: string;
  readonly organization_id: string;
  readonly permissions: string;
}

interface Installed {
  readonly id: string;
  readonly organization_id: string;
  readonly state: string;
}

/** Every difference between the mirror and the sandbox's own file, in words; empty where there is none. */
export async function differences(program: Program): Promise<string[]> {
  const { db } = program.registry.store;
  const mirrored = await program.rows<Installed>('SELECT id, organization_id, state FROM installations');
  const known = new Set(mirrored.map(({ id }) => id));
  const installed = db
    .prepare<[], Installed>('SELECT id, organization_id, state FROM installations')
    .all()
    .filter(({ id, state }) => known.has(id) || state !== 'uninstalled');
  const found = compare('installations', linesOf(installed), linesOf(mirrored));
  const live = db
    .prepare<[], Live>("SELECT id, organization_id, permissions FROM installations WHERE state = 'active'")
    .all();
  for (const { organization_id, permissions } of live) {
    for (const { name, permission, registry, mirror } of COMPARISONS) {
      if (permission !== null && !Object.hasOwn(Object(JSON.parse(permissions)), permission)) continue;
      const theirs = db.prepare<[string], object>(registry).all(organization_id);
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
