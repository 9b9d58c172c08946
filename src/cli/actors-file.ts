import { readFileSync, statSync } from 'node:fs';
import { type RoleLookup, parseActors } from '../console/guard/actors.js';

/**
 * Creates a function that returns the role of a visitor, who is named by the sign-in proxy. The roles are in the file at `path`; a change
 * of the file takes effect without a restart. Throws if the file cannot be read when `createRoleLookup` is called. If the file becomes
 * unreadable later, all visitors have the role `read` until the file is readable again.
 */
export function createRoleLookup(path: string, onFailure: (error: unknown) => void): RoleLookup {
  let version = getFileVersion(path);
  let roles = parseActors(readFileSync(path, 'utf8'));

  /**
   * Reads the file again if it has changed. If the file cannot be read or parsed, forgets all roles, and reports the error if there were
   * any roles.
   */
  function reloadChangedFile(): void {
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
    reloadChangedFile();
    return roles.get(name) ?? 'read';
  };
}

/** Returns a text that changes whenever the file is written or replaced. */
function getFileVersion(path: string): string {
  const { mtimeMs, size, ino } = statSync(path);
  return `${mtimeMs}.${size}.${ino}`;
}
