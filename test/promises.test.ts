import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const FOLDER = new URL('./', import.meta.url);
const PAGE = fileURLToPath(new URL('../docs/promises.md', FOLDER));
const read = (path: string) => readFileSync(new URL(path, FOLDER), 'utf8');

/** What README and the documents promise; docs/promises.md is made of it. A blank line ends each. */
const PROMISED = read('support/promises.txt').trimEnd().split('\n\n').map(readPromised);
const ALL = PROMISED.filter(({ head }) => !head.startsWith('# '));

interface Promised {
  /** A promise, or the title of a group and what is said of it. */
  readonly head: string;
  /** After -: a file of test/ and the title of a test as it stands there. */
  readonly tests: readonly string[];
  /** After $: what plays more of it or measures it. */
  readonly commands: readonly string[];
  /** After =: the figure that such a command reached, and at which commit, when, on which machine. */
  readonly reached: readonly string[];
}

function readPromised(block: string): Promised {
  const lines = block.split('\n');
  const after = (sign: string) =>
    lines.filter(line => line.startsWith(`${sign} `)).map(line => line.slice(2));
  const head = lines.filter(line => !/^[-$=] /.test(line)).join('\n\n');
  return { head, tests: after('-'), commands: after('$'), reached: after('=') };
}

/** It comes out otherwise on another machine. */
const IS_MEASURED = /\d (?:ms|s|MB|kB|bytes|times)\b/;
/** The form of titles that carry the code of a threat. */
const CODED = /(['"`])((T\d\d) (?:\\.|(?!\1).)+)\1/g;

/** A group of threats after #; a threat with its code and, below it, what happens then. */
const THREATS = read('support/threats.txt')
  .trimEnd()
  .split(/\n+(?=#|T\d\d )/);
const codeOf = (threat: string): string | undefined => /^T\d\d(?= .+\n {3}.+$)/.exec(threat)?.[0];

/** As a title, not anywhere in a file. */
function isTest(named: string): boolean {
  const [, file = '', title = ''] = /^(\S+): (.+)$/.exec(named) ?? [];
  const path = new URL(`${file}.test.ts`, FOLDER);
  if (!existsSync(path)) return false;
  const source = readFileSync(path, 'utf8');
  return [`'${title}'`, `\`${title}\``, `"${title}"`].some(quoted => source.includes(quoted));
}

interface Titled {
  readonly file: string;
  readonly code: string;
  readonly title: string;
}

function readCoded(): readonly Titled[] {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .map(file => file.replaceAll('\\', '/'))
    .filter(file => file.endsWith('.test.ts') && !file.includes('node_modules'));
  return files.toSorted().flatMap(file =>
    Array.from(read(file).matchAll(CODED), ([, , title = '', code = '']) => ({
      file: file.slice(0, -'.test.ts'.length),
      code,
      title,
    })),
  );
}

const CODED_TITLES = readCoded();
const cite = (named: string) => `- ${named.replace(/^\S+(?=: )/, '`$&`').replaceAll(/\\(.)/g, '$1')}`;

function pageText(): string {
  const groups = PROMISED.map(({ head, tests, commands, reached }) =>
    head.startsWith('# ')
      ? `#${head}`
      : [
          `**${head}.**\n`,
          ...tests.map(cite),
          ...commands.map(command => `- \`npm run ${command}\``),
          ...reached.map(figure => `- reached: ${figure}`),
        ].join('\n'),
  );
  const threats = THREATS.map(threat => {
    if (threat.startsWith('# ')) return `##${threat}`;
    const titles = CODED_TITLES.filter(({ code }) => code === codeOf(threat));
    const named = titles.map(({ file, title }) => cite(`${file}: ${title}`));
    const [what = '', outcome = ''] = threat.split('\n   ');
    return [`**${what.replace(' ', ': ')}.** ${outcome}.\n`, ...named].join('\n');
  });
  return `${[HEAD, ...groups, '## Threats', ...threats].join('\n\n')}\n`;
}

const HEAD = `# What is promised, and what holds it

Made by \`npx vitest run test/promises.test.ts -u\` from test/support/promises.txt, test/support/threats.txt and the titles of
the tests. Below each promise stand the tests that fail where it is broken (the file in \`test/\` and the title), the command that
plays more of it or measures it, and the figure that was reached last. What benchmarks measured: [figures.md](figures.md).`;

test('docs/promises.md is made of the promises, the threats and the titles of their tests', async () => {
  await expect(pageText()).toMatchFileSnapshot(PAGE);
});

test('each test of a promise exists', () => {
  const named = ALL.flatMap(({ tests }) => tests);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(each => !isTest(each))).toEqual([]);
});

test('a test that is not there is known from one that is', () => {
  expect(isTest('promises: each test of a promise exists')).toBe(true);
  expect(isTest(['promises: a test', 'that nobody wrote'].join(' '))).toBe(false);
  expect(isTest('no-such-file: each test of a promise exists')).toBe(false);
});

test('each promise has a test or a command that exists, and each figure a command, a commit and its day, and what was measured its machine', () => {
  for (const { head, tests, commands, reached } of ALL) {
    expect(tests.length + commands.length, head).toBeGreaterThan(0);
    for (const command of commands) {
      const [, kind = '', name = ''] = /^(\w+) -- (\w+)/.exec(command) ?? [];
      expect(existsSync(new URL(`${kind}/${name}.js`, FOLDER)), command).toBe(true);
    }
    for (const figure of reached) {
      expect(commands.length, head).toBeGreaterThan(0);
      expect(figure, head).toMatch(
        IS_MEASURED.test(figure)
          ? /\([0-9a-f]{7}, \d{4}(-\d\d){2}, \w.*\)$/
          : /\([0-9a-f]{7}, \d{4}(-\d\d){2}\)$/,
      );
    }
  }
});

test('every threat has a test whose title carries its code, and every code of a title is a threat', () => {
  const told = THREATS.filter(threat => !threat.startsWith('# '));
  const codes = told.flatMap(threat => codeOf(threat) ?? []);
  expect(codes).toHaveLength(told.length);
  expect(codes.length).toBeGreaterThan(40);
  expect(new Set(codes).size).toBe(codes.length);
  const carried = new Set(CODED_TITLES.map(({ code }) => code));
  expect(codes.filter(code => !carried.has(code))).toEqual([]);
  expect([...carried].filter(code => !codes.includes(code))).toEqual([]);
});
