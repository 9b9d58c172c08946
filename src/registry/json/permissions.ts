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
  const sent = members['permissions'];
  const grants = Array.isArray(sent) ? sent.flatMap(readGrant) : isObject(sent) ? readNamed(sent) : [];
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

function readNamed(sent: Readonly<Record<string, unknown>>): Grant[] {
  return Object.entries(sent).flatMap(([name, level]) =>
    (Array.isArray(level) ? level : [level]).flatMap((word): Grant[] =>
      typeof word === 'string' ? [[name, word]] : [],
    ),
  );
}

function readGrant(sent: unknown): Grant[] {
  if (typeof sent === 'string') {
    const [, name, level] = /^([^:]+):([^:]+)$/.exec(sent) ?? [];
    return name === undefined || level === undefined ? [] : [[name, level]];
  }
  if (!isObject(sent)) return [];
  const name = textOf(sent['name'] ?? sent['permission']);
  const level = textOf(sent['level'] ?? sent['access']);
  return name === null ? [] : level === null ? readGrant(name) : [[name, level]];
}

function rank(level: string | undefined): number {
  return PERMISSION_LEVELS.findIndex(known => known === level);
}
