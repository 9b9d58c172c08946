// Installs PostgreSQL for the tests, where the lock beside this file is not the one that was installed last.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = import.meta.dirname;
/** Stands in node_modules/, which npm ci removes first: an installation that was cut short is made again. */
const INSTALLED = join(FOLDER, 'node_modules', '.lock-sha256');

process.exitCode = install();

function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex');
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === lock) return 0;
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
    stdio: 'inherit',
  });
  if (status === 0 && existsSync(join(FOLDER, 'node_modules'))) writeFileSync(INSTALLED, lock);
  return status ?? 1;
}
