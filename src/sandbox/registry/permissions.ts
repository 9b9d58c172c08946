import type { PermissionGrants, GrantLevel } from '../store/records.js';

/** The permissions by their names in the registry's dashboard and endpoint table. In JSON each is a name and a level. */
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
/** A permission as the registry's endpoints name it, such as `organization_info:read`. */
export type Permission = keyof typeof PERMISSIONS;
/** The permissions that an app can request. */
export const PERMISSION_NAMES = Object.keys(PERMISSIONS);

const RANK = { VIEW: 1, REQUEST: 2, WRITE: 3 } as const;

/** Whether an installation's grants include a permission, at its level or a higher one. */
export function hasPermission(grants: PermissionGrants, permission: Permission): boolean {
  const { name, level } = PERMISSIONS[permission];
  const granted = grants[name];
  return granted !== undefined && RANK[granted] >= RANK[level];
}

/** Returns the permissions that are in both `left` and `right`, each at the lower of the two levels. */
export function intersectGrants(left: PermissionGrants, right: PermissionGrants): PermissionGrants {
  const both: Record<string, GrantLevel> = {};
  for (const [name, level] of Object.entries(left)) {
    const limit = right[name];
    if (limit !== undefined) both[name] = RANK[level] <= RANK[limit] ? level : limit;
  }
  return both;
}

/**
 * Parses the permissions that an app requests, such as `['organization_members:read']`, and adds an error message to `problems`
 * for each unknown one. Includes the permission to read the organization only with `includesOrganizationInfo`.
 */
export function readGrants(
  value: unknown,
  includesOrganizationInfo: boolean,
  problems: string[],
): PermissionGrants {
  const grants: Record<string, GrantLevel> = includesOrganizationInfo ? { organization_info: 'VIEW' } : {};
  if (typeof value !== 'object' || value === null) problems.push('permissions must be an object or a list');
  const requested = Array.isArray(value) ? value.map(parsePermission) : Object.entries(Object(value));
  for (const [name, level] of requested) {
    const known = Object.values(PERMISSIONS).find(
      permission => permission.name === name && permission.level === level,
    );
    if (known === undefined) problems.push(`permissions: ${describeUnknownPermission(name, level)}`);
    // The permission `organization_info` depends only on `includesOrganizationInfo`.
    else if (includesOrganizationInfo || name !== 'organization_info')
      grants[name] = getHigherLevel(grants[name], known.level);
  }
  return grants;
}

/** Returns an error message for an unknown permission, with the list of known permissions. */
function describeUnknownPermission(name: string, level: unknown): string {
  if (level === undefined) return `expected ${Object.keys(PERMISSIONS).join(', ')}, got ${name}`;
  const possibleGrants = new Set(
    Object.values(PERMISSIONS).map(permission => `${permission.name}: ${permission.level}`),
  );
  const received = typeof level === 'string' ? level : JSON.stringify(level);
  return `expected ${[...possibleGrants].join(', ')}, got ${name}: ${received}`;
}

/** Returns the higher of two levels: `VIEW` < `REQUEST` < `WRITE`. */
function getHigherLevel(left: GrantLevel | undefined, right: GrantLevel): GrantLevel {
  return left !== undefined && RANK[left] > RANK[right] ? left : right;
}

/**
 * Splits a permission into name and level: `organization_info:read` → `['organization_info', 'VIEW']`. The level of an unknown
 * permission is undefined.
 */
function parsePermission(text: unknown): [name: string, level: unknown] {
  const known = Object.entries(PERMISSIONS).find(([permission]) => permission === text);
  return known === undefined ? [String(text), undefined] : [known[1].name, known[1].level];
}
