import { readFileSync, statSync } from 'node:fs';
import { type RoleLookup, parseActors } from '../console/guard/actors.js';

/**
 * Creates a lookup that reads the file again when it changes, so that a removed actor loses the role without a restart.
 * Throws if the file cannot be read now. If it cannot be read later, nobody may act until it can.
 */
export function createActorsFile(path: string, onFailure: (error: unknown) => void): RoleLookup {
  let version = getFileVersion(path);
  let roles = parseActors(readFileSync(path, 'utf8'));

  function reload(): void {
    try {
      const current = getFileVersion(path);
      if (current === version) return;
      version = current;
      roles = parseActors(readFileSync(path, 'utf8'));
    } catch (error) {
      if (roles.size > 0) onFailure(error);
      version = '';
      roles = new Map();
    }
  }

  return name => {
    reload();
    return roles.get(name) ?? 'read';
  };
}

/** Returns a text that differs after the file was written or replaced. */
function getFileVersion(path: string): string {
  const { mtimeMs, size, ino } = statSync(path);
  return `${mtimeMs}.${size}.${ino}`;
}
