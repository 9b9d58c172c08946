import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/cli/all-commands.js';
import { createHistoryClock } from '../src/cli/commands/demo/demo-history.js';
import { runCommand } from './support/command.js';
import { type DemoMirror, startDemoMirror } from './support/mirror/demo.js';
import { splitWords } from './support/command-lines.js';
import { listAnchors, listCodeBlocks, listLinks } from './support/readme.js';

const ROOT = new URL('../', import.meta.url);
const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
const manifest: {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
} = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));

describe('README', () => {
  let demo: DemoMirror;

  beforeAll(async () => {
    demo = await startDemoMirror({ seed: 1, past: true });
  }, 900_000);

  afterAll(async () => {
    await demo.stop();
  });

  test('begins with three commands that work as written', async () => {
    const tried = listCodeBlocks(readme, 'sh').flatMap(block =>
      Array.from(block.matchAll(/^npx carbon-mirror (.*)$/gm), match => match[1] ?? ''),
    );
    expect(tried.length).toBeGreaterThanOrEqual(3);
    for (const line of tried.filter(words => !words.includes('>'))) {
      const answer = await runCommand(splitWords(withDemoYear(line)), { env: { DATA_DIR: demo.folder } });
      expect(answer, line).toMatchObject({ exitCode: 0 });
    }
  });

  test('shows the output that the demo prints', async () => {
    const shown = listCodeBlocks(readme, 'text').flatMap(block =>
      block.split(/^\$ npx carbon-mirror /m).slice(1),
    );
    expect(shown.length).toBeGreaterThanOrEqual(6);
    for (const each of shown) {
      const [line = '', ...lines] = each.trimEnd().split('\n');
      const { stdout, stderr } = await until(splitWords(withDemoYear(line)), demo);
      const answered = `${stdout}\n${stderr}`.split('\n').map(ofAnySync);
      for (const row of lines.filter(text => text !== '…')) {
        const isThere = answered.some(text => text.startsWith(ofAnySync(row)));
        expect(isThere, `"${row}" of "${line}" in\n${stdout}`).toBe(true);
      }
    }
  });
});

/** Replaces the year by that in which the demo's history begins. */
function withDemoYear(line: string): string {
  const year = new Date(createHistoryClock(Date.now).now()).getUTCFullYear();
  return line.replaceAll(/(?<=--year )\d{4}|\d{4}(?=-12-31)/g, String(year));
}

/** The worker takes up a delivery a moment after it came. */
async function until(argv: readonly string[], { env }: DemoMirror) {
  const isAtWork = (text: string) => /\b(waiting|running)\b/.test(text);
  for (;;) {
    const answer = await runCommand(argv, { env });
    expect(answer, argv.join(' ')).toMatchObject({ exitCode: 0 });
    if (argv[0] !== 'deliveries' || !isAtWork(answer.stdout)) return answer;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/** Without what is of this run alone: instants, ages, ids, ports, and how wide a column is for them. */
function ofAnySync(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'INSTANT')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/\b\d+(\.\d+)? (s|min)\b/g, 'AGE')
    .replaceAll(/(?<=read in AGE): .*$/g, '')
    .replaceAll(/^ *\d+ (?= *INSTANT)/g, 'N ')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/(?<=done )\d+(?= read in)/g, 'N')
    .trim();
}

test('every command, script, file and heading that README or a document names exists', () => {
  const documents = [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...readdirSync(new URL('docs/', ROOT))
      .filter(name => name.endsWith('.md'))
      .map(name => `docs/${name}`),
  ];
  for (const name of documents) {
    const text = readFileSync(new URL(name, ROOT), 'utf8');
    for (const [, command] of text.matchAll(/npx carbon-mirror ([a-z-]+)/g)) {
      expect(Object.keys(COMMANDS), `${name}: ${command}`).toContain(command);
    }
    for (const [, script] of text.matchAll(/npm run ([a-z:]+)/g))
      expect(Object.keys(manifest.scripts), `${name}: ${script}`).toContain(script);
    for (const { file, anchor } of listLinks(text, name)) {
      expect(existsSync(new URL(file, ROOT)), `${name}: ${file}`).toBe(true);
      if (anchor !== undefined)
        expect(listAnchors(readFileSync(new URL(file, ROOT), 'utf8')), name).toContain(anchor);
    }
  }
});

test('every document that the program names exists', () => {
  const files = readdirSync(new URL('src/', ROOT), { recursive: true, encoding: 'utf8' });
  const named = files
    .filter(file => file.endsWith('.ts'))
    .flatMap(file => readFileSync(new URL(`src/${file}`, ROOT), 'utf8').match(/docs\/[\w/.-]+\.\w+/g) ?? []);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(name => !existsSync(new URL(name, ROOT)))).toEqual([]);
});

test('CONTRIBUTING.md gives a reason for every dependency', () => {
  const [, text = ''] = readFileSync(new URL('CONTRIBUTING.md', ROOT), 'utf8').split('## Dependencies');
  const rows = Array.from(text.matchAll(/^\| (`.+`) \| .+ \|$/gm), ([, names = '']) => names);
  const named = rows.flatMap(names => Array.from(names.matchAll(/`([^`]+)`/g), match => match[1]));
  const direct = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  expect(new Set(named)).toEqual(new Set(direct));
  expect(named).toHaveLength(direct.length);
});

test('the Procfile starts a receiver and a worker', () => {
  expect(readFileSync(new URL('Procfile', ROOT), 'utf8')).toBe(
    'web: exec node dist/main.js receive\nworker: exec node dist/main.js work\n',
  );
});
