import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';

/** Nested deeper than SQLite (1,000 levels) and JSON.stringify (some 10,000) can handle. */
const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

const demo = await startDemoForFile();

async function run(...argv: string[]) {
  return await runCommand(argv, { env: demo.env });
}

/** Nests all documents deeply, as an earlier version may have stored them. */
async function nestAllDocuments(): Promise<void> {
  let deepened = 0;
  for (const table of await demo.tables()) {
    if (!(await demo.columns(table)).includes('document')) continue;
    await demo.change(`UPDATE ${table} SET document = '{"deep":' || ? || ',' || substr(document, 2)`, DEEP);
    deepened += 1;
  }
  expect(deepened).toBeGreaterThan(10);
  const signed = Buffer.from(`{"event":"installed","deep":${DEEP}}`).toString('base64');
  await demo.change('UPDATE signed_texts SET signed_data = ?', signed);
}

test('T47 documents and signed texts nested deeper than SQLite reads break no command, view, purge or forget', async () => {
  const [id = '', other = ''] = demo.organizationIds;
  const [{ delivery } = {}] = await listDeliveries();
  const email = String(
    (await demo.rows(`SELECT email FROM members WHERE organization_id = '${other}' LIMIT 1`))[0]?.['email'],
  );
  const commands: readonly (readonly string[])[] = [
    ['status'],
    ['doctor'],
    ['available'],
    ['organizations', 'list'],
    ['installations', 'list'],
    ['warehouse', 'show', '--organization', id],
    ['retirements', 'show', '--organization', id, '--json'],
    ['members', 'show', '--organization', id],
    ['installations', 'show', '--json'],
    ['deliveries', 'list'],
    ['deliveries', 'show', String(delivery)],
    ['deliveries', 'show', String(delivery), '--json'],
  ];
  const before = new Map<string, number>();
  for (const command of commands) before.set(command.join(' '), (await run(...command)).exitCode);
  const expectSameExitCodes = async (some: typeof commands) => {
    for (const command of some) {
      const { exitCode, stderr } = await run(...command);
      expect([command, exitCode, stderr]).toEqual([command, before.get(command.join(' ')), stderr]);
      expect(stderr).not.toMatch(/malformed|call stack/i);
    }
  };
  await nestAllDocuments();
  const verified = await run('verify');
  expect([verified.exitCode, verified.stderr]).toEqual([3, expect.stringContaining('Verification failed: ')]);
  expect(verified.stdout).not.toMatch(/malformed|call stack/i);
  await expectSameExitCodes(commands);
  await demo.change('DELETE FROM organizations');
  await expectSameExitCodes(commands);
  for (const view of await demo.views()) {
    expect(await demo.rows(`SELECT * FROM ${view}`)).toBeInstanceOf(Array);
  }
  const forgotten = await run('forget', '--person', email);
  expect([forgotten.exitCode, forgotten.stderr]).toEqual([0, expect.stringContaining('Removed')]);
  const purged = await run('purge', '--organization', id, '--confirm', id, '--force');
  expect([purged.exitCode, purged.stderr]).toEqual([0, expect.stringContaining('Removed everything')]);
  expect(await demo.rows(`SELECT 1 FROM retirements_history WHERE organization_id = '${id}'`)).toEqual([]);
});

async function listDeliveries(): Promise<{ readonly delivery: number }[]> {
  const { stdout } = await run('deliveries', 'list', '--json');
  return JSON.parse(stdout).rows.map(({ id }: { readonly id: number }) => ({ delivery: id }));
}
