import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROGRAM } from '../support/mutant.js';

const [NAME = ''] = /program-\w+/.exec(readFileSync(PROGRAM, 'utf8')) ?? [];
const FOLDER = join(dirname(PROGRAM), NAME);
const IMPORT = /^import (?:.* from )?"([^"]+)";$/gm;
const DYNAMIC_IMPORT = /\bimport\("\.\/([^"]+)"\)/g;
const SOURCE = /^\/\/ src\/(\S+\.ts)$/gm;
const BUNDLED = /^\/\/ node_modules\/([^/]+)\//gm;

const readBundleFile = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const matchAll = (pattern: RegExp, code: string): string[] =>
  [...code.matchAll(pattern)].map(([, name = '']) => name);

/** Files of these modules that the command line itself needs. */
const COMMAND_LINE_SOURCES = [
  'mirror/forgotten-people.ts',
  'registry/auth/private-key.ts',
  'sandbox/control/control-client.ts',
  'sandbox/http/fetch.ts',
  'sandbox/registry/permissions.ts',
  'sync/plan.ts',
];

/** Returns the sources and packages that are loaded with these files of the bundle, static imports included. */
function findLoaded(files: readonly string[]) {
  const code = findLoadedFiles(files).map(readBundleFile).join('\n');
  const outside = matchAll(IMPORT, code).filter(name => !name.startsWith('.') && !isBuiltin(name));
  const packages = [...outside, ...matchAll(BUNDLED, code)];
  return { sources: matchAll(SOURCE, code), packages: [...new Set(packages)].toSorted() };
}

function findLoadedFiles(files: readonly string[]): string[] {
  const loaded = new Set(files);
  for (const file of loaded) {
    for (const name of matchAll(IMPORT, readBundleFile(file)))
      if (name.startsWith('.')) loaded.add(join('.', name));
  }
  return [...loaded];
}

/** Returns the file of the bundle that contains a source. */
function findBundleFile(source: string): string {
  const [file = ''] = readdirSync(FOLDER).filter(name =>
    matchAll(SOURCE, readBundleFile(name)).includes(source),
  );
  return file;
}

/** Returns the file with a source among those that a file imports dynamically. */
function findDynamicImport(file: string, source: string): string {
  const files = findLoadedFiles([file]).flatMap(each => matchAll(DYNAMIC_IMPORT, readBundleFile(each)));
  const [found = ''] = files.filter(name => matchAll(SOURCE, readBundleFile(name)).includes(source));
  return found;
}

test('a command loads only commander and kysely until it needs more', () => {
  const { sources, packages } = findLoaded(['main.js']);
  expect(sources).toContain('cli/commands/status.ts');
  expect(packages).toEqual(['commander', 'kysely']);
});

test('the receiver loads no code of the worker or the mirror, and none that signs', () => {
  const receiver = findDynamicImport('receiver-thread.js', 'store/sqlite/inbox/receiver-port.ts');
  const { sources, packages } = findLoaded([
    'main.js',
    findBundleFile('app/receive.ts'),
    'receiver-thread.js',
    receiver,
  ]);
  expect(sources).toContain('webhook/receiver.ts');
  expect(sources).toContain('app/receiver-thread.ts');
  expect(sources).toContain('store/sqlite/inbox/receiver-port.ts');
  const others = sources.filter(source => /^(?:mirror|sync|registry\/auth|sandbox)\//.test(source));
  expect(others.toSorted()).toEqual(COMMAND_LINE_SOURCES);
  expect(packages).toEqual(['commander', 'express', 'kysely', 'prom-client']);
});

test('the query process loads no package but kysely, and of the program only what opens SQLite', () => {
  const { sources, packages } = findLoaded(['query-process.js']);
  expect(
    sources.filter(
      source => !/^(?:store\/(?:sqlite\/|sql\/|contract\/|[a-z-]+\.ts)|package|folder)/.test(source),
    ),
  ).toEqual([]);
  expect(packages).toEqual(['kysely']);
});

test('the PostgreSQL driver is loaded only by code that uses PostgreSQL', () => {
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.js'));
  const naming = files.filter(name => matchAll(IMPORT, readBundleFile(name)).includes('pg'));
  expect(naming.length).toBeGreaterThan(0);
  for (const name of naming)
    expect(matchAll(SOURCE, readBundleFile(name))).toContain('store/postgres/driver.ts');
  const reaching = files.filter(name => findLoaded([name]).packages.includes('pg'));
  const sources = reaching.flatMap(name => matchAll(SOURCE, readBundleFile(name)));
  expect(
    sources.filter(source => /^(?:app|cli|store\/open|store\/sqlite\/(?:engine|reader))/.test(source)),
  ).toEqual([]);
});
