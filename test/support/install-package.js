import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs a package of the tests, unless its lock file is the one that was installed last. Returns an exit code.
 * @param {string} folder
 */
export function installPackage(folder) {
  /** The marker is in node_modules/, which npm ci removes first, so an interrupted installation is repeated. */
  const installed = join(folder, 'node_modules', '.lock-sha256');
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return 0;
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (status === 0 && existsSync(join(folder, 'node_modules'))) writeFileSync(installed, lock);
  return status ?? 1;
}
