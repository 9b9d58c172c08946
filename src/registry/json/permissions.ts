import { PERMISSION_LEVELS, type PermissionLevel, type Permissions } from '../object-models.js';
import { isObject } from '../../text/checks.js';
import { type SourceObject, toText } from './json-object.js';

/**
 * The levels by all their names: in the registry's JSON, and in its endpoints, such as
 * `organization_inventory:read_request`.
 */
const LEVEL_BY_WORD: Readonly<Record<string, PermissionLevel>> = {
  VIEW: 'VIEW',
  READ: 'VIEW',
  REQUEST: 'REQUEST',
  READ_REQUEST: 'REQUEST',
  WRITE: 'WRITE',
  READ_WRITE: 'WRITE',
};

/** One permission and the level at which it is granted. */
interface Grant {
  readonly name: string;
  readonly level: string;
}

/** Parses an installation's permissions. Keeps the highest level of each one. Returns null if there are none. */
export function parsePermissions({ members }: SourceObject): Permissions | null {
  const highestLevels = new Map<string, string>();
  for (const grant of parseGrants(members['permissions'])) {
    const level = LEVEL_BY_WORD[grant.level.toUpperCase()] ?? grant.level;
    if (getLevelRank(level) >= getLevelRank(highestLevels.get(grant.name)))
      highestLevels.set(grant.name, level);
  }
  return highestLevels.size === 0 ? null : Object.fromEntries(highestLevels);
}

/** Parses permissions from the JSON text in the mirror's database. */
export function parseStoredPermissions(text: string): Permissions | null {
  return parsePermissions({ label: 'permissions', text, members: { permissions: JSON.parse(text) } });
}

/** Parses permissions that are sent as an object or as a list. Returns an empty list for any other value. */
function parseGrants(value: unknown): Grant[] {
  if (Array.isArray(value)) return value.flatMap(parseListedGrant);
  return isObject(value) ? parseGrantsByName(value) : [];
}

/** Parses an object that maps permissions to levels: `{"name": "level"}` or `{"name": ["level", …]}`. */
function parseGrantsByName(levelsByName: Readonly<Record<string, unknown>>): Grant[] {
  return Object.entries(levelsByName).flatMap(([name, value]) => {
    const levels: readonly unknown[] = Array.isArray(value) ? value : [value];
    return levels.filter(level => typeof level === 'string').map(level => ({ name, level }));
  });
}

/** Parses one permission: `"name:level"` or `{"name": …, "level": …}`. Returns `[]` for any other value. */
function parseListedGrant(value: unknown): Grant[] {
  if (typeof value === 'string') {
    const [, name, level] = /^([^:]+):([^:]+)$/.exec(value) ?? [];
    return name === undefined || level === undefined ? [] : [{ name, level }];
  }
  if (!isObject(value)) return [];
  const name = toText(value['name'] ?? value['permission']);
  const level = toText(value['level'] ?? value['access']);
  if (name === null) return [];
  return level === null ? parseListedGrant(name) : [{ name, level }];
}

/** Returns the rank of a permission level: a higher level has a higher rank. Returns -1 for an unknown level. */
function getLevelRank(level: string | undefined): number {
  return PERMISSION_LEVELS.findIndex(knownLevel => knownLevel === level);
}
