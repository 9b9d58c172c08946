import type { Grants, Level } from '../store/rows.js';

/** The words of the dashboard and of the endpoint table; JSON says VIEW, REQUEST or WRITE instead. */
const PERMISSIONS = {
  'organization_info:read': { name: 'organization_info', level: 'VIEW' },
  'organization_members:read': { name: 'organization_members', level: 'VIEW' },
  'organization_warehouse:read': { name: 'organization_warehouse', level: 'VIEW' },
  'organization_warehouse:write': { name: 'organization_warehouse', level: 'WRITE' },
  'organization_inventory:read': { name: 'organization_inventory', level: 'VIEW' },
  'organization_inventory:read_request': { name: 'organization_inventory', level: 'REQUEST' },
  'organization_inventory:request': { name: 'organization_inventory', level: 'REQUEST' },
  'organization_inventory:read_write': { name: 'organization_inventory', level: 'WRITE' },
  'organization_projects:read': { name: 'organization_projects', level: 'VIEW' },
  'examiner:read': { name: 'examiner', level: 'VIEW' },
} as const;
export type Permission = keyof typeof PERMISSIONS;
/** As an app asks for them. */
export const PERMISSION_WORDS = Object.keys(PERMISSIONS);

const RANK = { VIEW: 1, REQUEST: 2, WRITE: 3 } as const;

export function allows(grants: Grants, permission: Permission): boolean {
  const { name, level } = PERMISSIONS[permission];
  const granted = grants[name];
  return granted !== undefined && RANK[granted] >= RANK[level];
}

/** What both grant: a token that was minted before its installation lost a permission has lost it too. */
export function narrower(one: Grants, other: Grants): Grants {
  const both: Record<string, Level> = {};
  for (const [name, level] of Object.entries(one)) {
    const limit = other[name];
    if (limit !== undefined) both[name] = RANK[level] <= RANK[limit] ? level : limit;
  }
  return both;
}

/**
 * Reads what an app asks for, as `{ organization_info: 'VIEW' }` or as a list of endpoint words such as
 * `organization_warehouse:write`. organization_info is part of every installation, unless it is left out on purpose.
 */
export function readGrants(value: unknown, withInfo: boolean, faults: string[]): Grants {
  const grants: Record<string, Level> = withInfo ? { organization_info: 'VIEW' } : {};
  if (typeof value !== 'object' || value === null) faults.push('permissions must be an object or a list');
  const asked = Array.isArray(value) ? value.map(fromWord) : Object.entries(Object(value));
  for (const [name, level] of asked) {
    const known = Object.values(PERMISSIONS).find(one => one.name === name && one.level === level);
    if (known === undefined) faults.push(`permissions: ${expected(name, level)}`);
    else if (withInfo || name !== 'organization_info') grants[name] = higher(grants[name], known.level);
  }
  return grants;
}

/** In the words in which it was asked. */
function expected(name: string, level: unknown): string {
  if (level === undefined) return `expected ${Object.keys(PERMISSIONS).join(', ')}, got ${name}`;
  const grants = new Set(Object.values(PERMISSIONS).map(one => `${one.name}: ${one.level}`));
  const came = typeof level === 'string' ? level : JSON.stringify(level);
  return `expected ${[...grants].join(', ')}, got ${name}: ${came}`;
}

function higher(one: Level | undefined, other: Level): Level {
  return one !== undefined && RANK[one] > RANK[other] ? one : other;
}

function fromWord(word: unknown): [string, unknown] {
  const known = Object.entries(PERMISSIONS).find(([permission]) => permission === word);
  return known === undefined ? [String(word), undefined] : [known[1].name, known[1].level];
}
