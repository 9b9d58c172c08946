import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/inbox.js';

const ROOT = join(import.meta.dirname, '../../..');
const FROM_NODE_22 = Number(process.versions.node.split('.')[0]) >= 22;
const NEEDED = FROM_NODE_22 ? 'better-sqlite3' : 'better-sqlite3-12';
const OTHER = FROM_NODE_22 ? 'better-sqlite3-12' : 'better-sqlite3';
const CURE = FROM_NODE_22
  ? 'without --omit=optional: npm ci'
  : `npm_config_nodedir=${join(process.execPath, '../..')} npm ci`;

/** The program and all it needs, but for the two drivers. */
function copyWithoutDrivers(): string {
  const folder = temporaryFolder();
  for (const name of ['dist', 'package.json']) {
    const filter = (file: string): boolean => !/\.(?:map|d\.ts)$/.test(file);
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter });
  }
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name === 'better-sqlite3' || name === 'better-sqlite3-12') continue;
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  return folder;
}

function plant(folder: string, name: string, code: string): void {
  mkdirSync(join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'node_modules', name, 'index.js'), `module.exports = ${code};\n`);
}

/** A setting that names a mirror to make. */
const NAMED = { DATA_DIR: 'data' };

function run(folder: string, argv: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/main.js', ...argv], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('a SQLite driver that cannot be loaded ends with exit code 2, the reason and the cure', () => {
  test.each([
    [['up', '--demo'], {}],
    [['migrate'], NAMED],
  ])('%s, if neither driver is installed', (argv, env) => {
    const folder = copyWithoutDrivers();
    const { status, stdout, stderr } = run(folder, argv, env);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    const [what, cure, ...rest] = stderr.trimEnd().split('\n');
    expect(what).toContain(`better-sqlite3 ${FROM_NODE_22 ? '13' : '12'}, and it cannot be loaded`);
    expect(what).toContain(`'${NEEDED}'`);
    expect(cure).toContain(CURE);
    expect(rest).toEqual([]);
    expect(existsSync(join(folder, 'data/mirror.db'))).toBe(false);
  });

  test('if only the driver for other Node versions is installed', () => {
    const folder = copyWithoutDrivers();
    plant(folder, OTHER, 'class { constructor() { console.log("the wrong driver") } }');
    const { status, stdout, stderr } = run(folder, ['migrate'], NAMED);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(`'${NEEDED}'`);
  });

  test('if the driver has no binary for this machine', () => {
    const folder = copyWithoutDrivers();
    plant(folder, NEEDED, 'class { constructor() { throw new Error("no binary\\nfor you") } }');
    const { status, stderr } = run(folder, ['migrate'], NAMED);
    expect(status).toBe(2);
    expect(stderr).toContain('it cannot be loaded: Error: no binary\n');
    expect(stderr).toContain(CURE);
    expect(stderr).not.toContain('    at ');
  });

  test('unless the command needs no database', () => {
    const folder = copyWithoutDrivers();
    expect(run(folder, ['--help'])).toMatchObject({ status: 0, stderr: '' });
    expect(run(folder, ['--version'])).toMatchObject({ status: 0, stderr: '' });
  });
});

test('T86 package-lock.json states that better-sqlite3 13 needs no compiler, so that npm ci never omits it silently', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  expect(packages['node_modules/better-sqlite3']).toMatchObject({ gypfile: false, scripts: {} });
});
