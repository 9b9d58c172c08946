import { readdirSync, readFileSync } from 'node:fs';
import { join, matchesGlob, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkArchitecture, formatFaults, type ArchitectureFault } from './support/architecture.js';
import config, { BROWSER, POSTGRES, PROGRAM } from '../vitest.config.js';
import { HOMES, MAY_IMPORT } from './support/architecture-rules.js';
import { readSource } from './support/source.js';

const fixtures = join(import.meta.dirname, 'fixtures/architecture');
const TESTS = readTests();

/** Every planted file says in comments which rules it breaks. */
function expectedFaults(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .flatMap(entry => {
      const path = join(entry.parentPath, entry.name);
      const rules = readFileSync(path, 'utf8').matchAll(/expected: (.+)/g);
      return [...rules].map(([, rule]) => `${posix.relative(folder, path)} ${rule}`);
    })
    .toSorted();
}

const filesAndRules = (faults: readonly ArchitectureFault[]): string[] =>
  faults.map(({ file, rule }) => `${file} ${rule}`).toSorted();

test('the source code has no breach of the architecture', () => {
  expect(formatFaults(checkArchitecture(join(import.meta.dirname, '../src')))).toBe('');
});

/** The renderers of commands and of pages, which may put the parts of notes in different places. */
const RENDERERS = ['cli/output/answer.ts', 'console/components/answer.ts'];
const WORDS_OF_ONE_NOTE = ['describeCaveat', 'describeGap', 'describeFreshnessSum'];
const WORDS_OF_PARTS = ['describeGaps', 'describeCompleteness'];

test('commands, pages and the API describe the notes of an answer as a whole', () => {
  const src = join(import.meta.dirname, '../src');
  const faults = ['cli', 'console', 'api'].flatMap(area =>
    readdirSync(join(src, area), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .flatMap(name => {
        const file = posix.join(area, name);
        const text = readFileSync(join(src, file), 'utf8');
        const forbidden = RENDERERS.includes(file)
          ? WORDS_OF_ONE_NOTE
          : [...WORDS_OF_ONE_NOTE, ...WORDS_OF_PARTS];
        return forbidden.filter(word => text.match(/\w+/g)?.includes(word)).map(word => `${file}: ${word}`);
      }),
  );
  expect(faults).toEqual([]);
});

test('each test file starts in an empty folder instead of the checkout', () => {
  expect(readdirSync(process.cwd())).toEqual([]);
  const { projects = [] } = config.test ?? {};
  const begun = projects.filter(project =>
    JSON.stringify(project).includes('test/support/leaves-nothing.ts'),
  );
  expect(begun).toHaveLength(projects.length - 1);
});

test('a unit test starts no process and imports no built code', () => {
  const laws = tests().filter(
    file => ![...PROGRAM, ...POSTGRES, ...BROWSER].some(glob => matchesGlob(`test/${file}`, glob)),
  );
  const faults = laws.flatMap(law =>
    [...reachedBy(law)]
      .filter(from => /^node:child_process$|(?:^|\/)dist\//.test(from))
      .map(from => `${law}: ${from}`),
  );
  expect(laws).toContain('architecture.test.ts');
  expect(faults).toEqual([]);
});

/** A file of test/ and what it imports run the sources or what was built of them: two of a module are two worlds. */
test('no test mixes source files with built files', () => {
  const mixed = tests().flatMap(file => {
    const reached = [...reachedBy(file)].filter(from => /^\.\.\/(?:dist\/)?src\//.test(from));
    const built = reached.filter(from => from.startsWith('../dist/'));
    return built.length > 0 && built.length < reached.length ? [`${file}: ${built.join(', ')}`] : [];
  });
  expect(mixed).toEqual([]);
});

interface Imported {
  /** From test/ where it is a file. */
  readonly from: string;
  readonly typeOnly: boolean;
}

/** Each file of test/ and what it imports. */
function readTests(): ReadonlyMap<string, readonly Imported[]> {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  const own = files.filter(file => /\.[jt]s$/.test(file) && !/^fixtures\/|node_modules|\.d\.ts$/.test(file));
  return new Map(own.map(file => [file, importsOf(file)]));
}

function importsOf(file: string): Imported[] {
  const { imports } = readSource(readFileSync(join(import.meta.dirname, file), 'utf8'));
  return imports.flatMap(({ from, typeOnly }) => {
    if (from === null) return [];
    return [{ from: from.startsWith('.') ? posix.join(posix.dirname(file), from) : from, typeOnly }];
  });
}

function tests(): string[] {
  return [...TESTS.keys()].filter(file => file.endsWith('.test.ts'));
}

/** Every module that a file of test/ imports, by way of test/ itself. */
function reachedBy(file: string, known: Set<string> = new Set()): ReadonlySet<string> {
  const imports = TESTS.get(file) ?? TESTS.get(file.replace(/\.js$/, '.ts')) ?? [];
  for (const { from, typeOnly } of imports) {
    if (typeOnly || known.has(from)) continue;
    known.add(from);
    reachedBy(from, known);
  }
  return known;
}

describe('the architecture checker', () => {
  const planted = checkArchitecture(join(fixtures, 'planted'));

  test('reports every planted violation with its file and rule, and nothing else', () => {
    expect(filesAndRules(planted)).toEqual(expectedFaults(join(fixtures, 'planted')));
  });

  test('ignores comments, strings, templates and regular expressions', () => {
    expect(formatFaults(checkArchitecture(join(fixtures, 'clean')))).toBe('');
  });

  test('has a planted violation for every row of the import table', () => {
    const broken = planted.filter(fault => fault.rule === 'import table').map(fault => fault.file);
    for (const area of Object.keys(MAY_IMPORT)) {
      expect(broken.some(file => file === `${area}.ts` || file.startsWith(`${area}/`))).toBe(true);
    }
  });

  test('has a planted violation for every one-home rule', () => {
    const broken = new Set(planted.map(fault => fault.rule));
    expect(Object.keys(HOMES).filter(what => !broken.has(`home of ${what}`))).toEqual([]);
  });

  test('reports the place, the fault and what to do', () => {
    const fault = planted.filter(({ file }) => file === 'registry/auth/reads-inbox.ts');
    expect(formatFaults(fault)).toBe(
      'src/registry/auth/reads-inbox.ts:2 [import table] "../../inbox/target.js" is not allowed: registry/auth may import only registry. ' +
        'Take it as an argument, or move the code',
    );
  });

  test.each([
    [`import 'a'`, 'a', false],
    [`import a from "a";`, 'a', false],
    [`import a, { b } from 'a'`, 'a', false],
    [`import { from } from 'a'`, 'a', false],
    [`import from from 'a'`, 'a', false],
    [`import type from 'a'`, 'a', false],
    [`import type { a } from 'a'`, 'a', true],
    [`import type * as a from 'a'`, 'a', true],
    [`import { type a, type b as c } from 'a'`, 'a', true],
    [`import { type a, b } from 'a'`, 'a', false],
    [`import a from 'a' with { type: 'json' }`, 'a', false],
    [`export * from 'a'`, 'a', false],
    [`export type * from 'a'`, 'a', true],
    [`export { a, } from 'a'`, 'a', false],
    [`export type { a } from 'a'`, 'a', true],
    ['const a = await import(`a`)', 'a', false],
    [`function f() { return import('a', { with: {} }) }`, 'a', false],
    [`type A = import('a').B`, 'a', false],
    ['const a = import(`a${b}`)', null, false],
    [`const a = import(b)`, null, false],
  ])('finds the imported module in %s', (source, from, typeOnly) => {
    expect(readSource(source).imports).toEqual([{ from, typeOnly, line: 1 }]);
  });
});
