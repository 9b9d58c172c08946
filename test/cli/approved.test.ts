import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { type DemoMirror, startDemoMirror } from '../support/demo-mirror.js';

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

/** What is of this run alone; as long as it was, so that what stands beside it keeps its place. */
function ofEveryRun(text: string): string {
  return text
    .replaceAll(demo.sandbox.url, 'http://registry/')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, id => id.replaceAll(/[0-9a-f]/g, '0'))
    .replaceAll(/\b[0-9a-f]{8}…/g, '00000000…')
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, at => at.replaceAll(/\d/g, '0'))
    .replaceAll(/"(age_seconds|version|sync_run_id)":\d+/g, '"$1":0')
    .replaceAll(
      /\b\d{1,2} s( {1,2}|$)/gm,
      (age, space: string) => `0 s${' '.repeat(age.length - 3 - space.length)}${space}`,
    );
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
