import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { type DemoMirror, startDemoMirror } from '../support/demo-mirror.js';
import { steadyInPlace } from '../support/steady.js';

let demo: DemoMirror;
let organization = '';

beforeAll(async () => {
  demo = await startDemoMirror();
  const [first] = await demo.rows('SELECT full_name FROM organizations ORDER BY full_name LIMIT 1');
  organization = String(first?.['full_name']);
});

afterAll(async () => {
  await demo.stop();
});

const OF = ['--organization', 'ORGANIZATION'];
const COMMANDS: readonly (readonly string[])[] = [
  ['warehouse', 'list', ...OF, '--limit', '3'],
  ['inventory', 'list', ...OF, '--limit', '3'],
  ['retirements', 'list', ...OF, '--limit', '3'],
  ['organizations', 'list'],
  ['projects', 'list', '--limit', '3'],
  ['members', 'list', ...OF],
  ['schema', 'freshness'],
];

/** How it is looked at, and the options that it is asked with. */
const EYES = [
  { eyes: '60 columns', columns: 60, more: [] },
  { eyes: '100 columns', columns: 100, more: [] },
  { eyes: '200 columns', columns: 200, more: [] },
  { eyes: 'a pipe', columns: null, more: [] },
  { eyes: 'json', columns: null, more: ['--json'] },
];

function ofEveryRun(text: string): string {
  return steadyInPlace(text.replaceAll(demo.sandbox.url, 'http://registry/'));
}

/** To approve what changed: npx vitest run test/cli/approved.test.ts -u, and read the difference. */
test.each(COMMANDS.map(words => [words.join(' '), words] as const))(
  'people see what was approved: %s',
  async (name, words) => {
    const seen: string[] = [];
    for (const { eyes, columns, more } of EYES) {
      const argv = [...words.map(word => (word === 'ORGANIZATION' ? organization : word)), ...more];
      const terminal = columns === null ? {} : { terminal: true, columns };
      const { exitCode, stdout, stderr } = await runCommand(argv, {
        env: { DATA_DIR: demo.folder, NO_COLOR: '1' },
        ...terminal,
      });
      expect(exitCode, stderr).toBe(0);
      seen.push(
        `=== ${eyes}\n${ofEveryRun(stdout)}`,
        ...(stderr === '' ? [] : [`--- said\n${ofEveryRun(stderr)}`]),
      );
    }
    const file = name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase();
    await expect(seen.join('\n')).toMatchFileSnapshot(`../fixtures/approved/${file}.txt`);
  },
);
