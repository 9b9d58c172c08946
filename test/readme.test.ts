import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/cli/commands.js';
import { runCommand } from './support/command.js';
import { type DemoMirror, startDemoMirror } from './support/demo-mirror.js';
import { blocks, commandsTable, settingsTable } from './support/readme.js';

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
    demo = await startDemoMirror();
  });

  afterAll(async () => {
    await demo.stop();
  });

  test('its settings and commands are those of the code', async () => {
    expect(readme).toContain(settingsTable());
    expect(readme).toContain(await commandsTable());
  });

  test('the three commands to try first work as written', async () => {
    const tried = blocks(readme, 'sh').flatMap(block =>
      Array.from(block.matchAll(/^npx carbon-mirror (.*)$/gm), match => match[1] ?? ''),
    );
    expect(tried.length).toBeGreaterThanOrEqual(3);
    for (const line of tried.filter(words => !words.includes('>'))) {
      const argv = Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), match => match[1] ?? match[2] ?? '');
      expect(await runCommand(argv, { env: { DATA_DIR: demo.folder } }), line).toMatchObject({ exitCode: 0 });
    }
  });
});

test('every command, script and file that README or a document names is there', () => {
  const documents = [
    'README.md',
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
    for (const [, target] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      expect(existsSync(new URL(target ?? '', new URL(name, ROOT))), `${name}: ${target}`).toBe(true);
    }
  }
});

test('every package that runs has its reason in docs/dependencies.md', () => {
  const text = readFileSync(new URL('docs/dependencies.md', ROOT), 'utf8');
  const rows = Array.from(text.matchAll(/^\| (`.+`) \| .+ \|$/gm), ([, names = '']) => names);
  const named = rows.flatMap(names => Array.from(names.matchAll(/`([^`]+)`/g), match => match[1]));
  const direct = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  expect(new Set(named)).toEqual(new Set(direct));
  expect(named).toHaveLength(direct.length);
});

test('the Procfile starts what README says', () => {
  expect(readFileSync(new URL('Procfile', ROOT), 'utf8')).toBe(
    'web: exec node dist/main.js receive\nworker: exec node dist/main.js work\n',
  );
});
