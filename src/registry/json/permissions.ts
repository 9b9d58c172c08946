import { isObject, PERMISSION_LEVELS, type PermissionLevel, type Permissions } from '../model.js';
import { type Source, textOf } from './fields.js';

/** The words of the endpoints, `organization_inventory:read_request`, beside those of the registry's JSON. */
const LEVELS: Readonly<Record<string, PermissionLevel>> = {
  VIEW: 'VIEW',
  READ: 'VIEW',
  REQUEST: 'REQUEST',
  READ_REQUEST: 'REQUEST',
  WRITE: 'WRITE',
  READ_WRITE: 'WRITE',
};

/** An object of names and levels, or a list of `name:level` or of objects. Null where nothing usable is said. */
export function readPermissions({ members }: Source): Permissions | null {
  const said = members['permissions'];
  const grants = Array.isArray(said) ? said.flatMap(readGrant) : isObject(said) ? readNamed(said) : [];
  const highest = new Map<string, string>();
  for (const [name, word] of grants) {
    const level = LEVELS[word.toUpperCase()] ?? word;
    if (rank(level) >= rank(highest.get(name))) highest.set(name, level);
  }
  return highest.size === 0 ? null : Object.fromEntries(highest);
}

/** As they are kept. */
export function parsePermissions(text: string): Permissions | null {
  return readPermissions({ what: 'permissions', text, members: { permissions: JSON.parse(text) } });
}

type Grant = readonly [name: string, level: string];

function readNamed(said: Readonly<Record<string, unknown>>): Grant[] {
  return Object.entries(said).flatMap(([name, level]) =>
    (Array.isArray(level) ? level : [level]).flatMap((word): Grant[] =>
      typeof word === 'string' ? [[name, word]] : [],
    ),
  );
}

function readGrant(said: unknown): Grant[] {
  if (typeof said === 'string') {
    const [, name, level] = /^([^:]+):([^:]+)$/.exec(said) ?? [];
    return name === undefined || level === undefined ? [] : [[name, level]];
  }
  if (!isObject(said)) return [];
  const name = textOf(said['name'] ?? said['permission']);
  const level = textOf(said['level'] ?? said['access']);
  return name === null ? [] : level === null ? readGrant(name) : [[name, level]];
}

function rank(level: string | undefined): number {
  return PERMISSION_LEVELS.findIndex(known => known === level);
}
