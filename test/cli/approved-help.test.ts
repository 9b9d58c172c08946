import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { listHelps } from '../support/commands.js';

const WIDTHS = [60, 100, 200];
const NOW = Date.UTC(2026, 0, 31, 12);

/** To approve what changed: npx vitest run test/cli/approved-help.test.ts -u, and read the difference. */
test.each(Object.entries(listHelps()))('what --help says was approved: %s', async (top, names) => {
  const said: string[] = [];
  for (const name of names) {
    for (const columns of WIDTHS) {
      const argv = [...name.split(' ').filter(word => word !== ''), '--help'];
      const { exitCode, stdout, stderr } = await runCommand(argv, {
        env: { NO_COLOR: '1' },
        now: () => NOW,
        terminal: true,
        columns,
      });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: carbon-mirror/);
      said.push(`=== carbon-mirror ${name} --help, ${columns} columns\n${stdout}`);
    }
  }
  await expect(said.join('\n')).toMatchFileSnapshot(`../fixtures/approved/help/${top}.txt`);
});
