import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROGRAM } from '../support/mutant.js';

const [NAME = ''] = /program-\w+/.exec(readFileSync(PROGRAM, 'utf8')) ?? [];
const FOLDER = join(dirname(PROGRAM), NAME);
const IMPORT = /^import (?:.* from )?"([^"]+)";$/gm;
const LATER = /\bimport\("\.\/([^"]+)"\)/g;
const SOURCE = /^\/\/ src\/(\S+\.ts)$/gm;
const BUNDLED = /^\/\/ node_modules\/([^/]+)\//gm;

const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const all = (pattern: RegExp, code: string): string[] =>
  [...code.matchAll(pattern)].map(([, name = '']) => name);

/** What the command line itself knows of them: words, the look of a key and of an address, what a sandbox is told and how it is reached. */
const COMMAND_LINE = [
  'mirror/email-matching.ts',
  'registry/auth/private-key.ts',
  'sandbox/control/client.ts',
  'sandbox/http/fetch.ts',
  'sandbox/registry/permissions.ts',
  'sync/plan.ts',
];

/** What is loaded with these files of the bundle and with what they import at once. */
function loadedWith(files: readonly string[]) {
  const code = filesLoadedWith(files).map(read).join('\n');
  const outside = all(IMPORT, code).filter(name => !name.startsWith('.') && !isBuiltin(name));
  const packages = [...outside, ...all(BUNDLED, code)];
  return { sources: all(SOURCE, code), packages: [...new Set(packages)].toSorted() };
}

function filesLoadedWith(files: readonly string[]): string[] {
  const loaded = new Set(files);
  for (const file of loaded) {
    for (const name of all(IMPORT, read(file))) if (name.startsWith('.')) loaded.add(join('.', name));
  }
  return [...loaded];
}

/** The file of the program's own bundle that holds a source. */
function fileOf(source: string): string {
  const [file = ''] = readdirSync(FOLDER).filter(name => all(SOURCE, read(name)).includes(source));
  return file;
}

/** The one of those files that a file imports when it needs them that holds a source. */
function later(file: string, source: string): string {
  const files = filesLoadedWith([file]).flatMap(each => all(LATER, read(each)));
  const [found = ''] = files.filter(name => all(SOURCE, read(name)).includes(source));
  return found;
}

test('a command loads no package but those that read command lines and write questions, until it needs more', () => {
  const { sources, packages } = loadedWith(['main.js']);
  expect(sources).toContain('cli/commands/status.ts');
  expect(packages).toEqual(['commander', 'kysely']);
});

test('what the receiver loads is what it may load: no worker, no mirror, nothing that signs', () => {
  const receiver = later('receiver-thread.js', 'store/sqlite/inbox/receiver.ts');
  const { sources, packages } = loadedWith([
    'main.js',
    fileOf('app/receive.ts'),
    'receiver-thread.js',
    receiver,
  ]);
  expect(sources).toContain('webhook/receiver.ts');
  expect(sources).toContain('app/receiver-thread.ts');
  expect(sources).toContain('store/sqlite/inbox/receiver.ts');
  const others = sources.filter(source => /^(?:mirror|sync|registry\/auth|sandbox)\//.test(source));
  expect(others.toSorted()).toEqual(COMMAND_LINE);
  expect(packages).toEqual(['commander', 'express', 'kysely', 'prom-client']);
});

test('the asker loads the driver and what opens the databases, and no package else', () => {
  const { sources, packages } = loadedWith(['query-process.js']);
  expect(
    sources.filter(
      source => !/^(?:store\/(?:sqlite|contract|migrations|errors)|package|folder)/.test(source),
    ),
  ).toEqual([]);
  expect(packages).toEqual([]);
});

test('the driver of PostgreSQL is loaded by what asks PostgreSQL, and by nothing that has only files', () => {
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.js'));
  const naming = files.filter(name => all(IMPORT, read(name)).includes('pg'));
  expect(naming.length).toBeGreaterThan(0);
  for (const name of naming) expect(all(SOURCE, read(name))).toContain('store/postgres/driver.ts');
  const reaching = files.filter(name => loadedWith([name]).packages.includes('pg'));
  const sources = reaching.flatMap(name => all(SOURCE, read(name)));
  expect(
    sources.filter(source => /^(?:app|cli|store\/open|store\/sqlite\/(?:engine|reader))/.test(source)),
  ).toEqual([]);
});
