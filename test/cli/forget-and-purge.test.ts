import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';

const demo = await startDemoForFile();

async function run(...argv: string[]) {
  return await runCommand(argv, { env: { DATA_DIR: demo.folder } });
}

async function nameOf(id: string): Promise<string> {
  return String(await demo.value('SELECT full_name FROM organizations WHERE id = ?', id));
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  await expect.poll(holds, { interval: 20 }).toBe(true);
}

describe('forget', () => {
  const member = async () =>
    demo.row('SELECT organization_id, email FROM members WHERE email IS NOT NULL ORDER BY email LIMIT 1');

  test('refuses a text that is no e-mail address with exit code 2', async () => {
    expect(await run('forget', '--person', 'somebody')).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await run('forget')).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('removes a person from members, history and signed webhooks and reports what remains', async () => {
    const email = String((await member())?.['email']);
    const about = `%${email}%`;
    const signed = (await demo.rows('SELECT signed_data FROM signed_texts')).filter(row =>
      Buffer.from(String(row['signed_data']), 'base64').toString().includes(email),
    );
    const { exitCode, stdout, stderr } = await run('forget', '--person', email.toUpperCase(), '--json');
    expect(exitCode).toBe(0);
    const forgotten = JSON.parse(stdout);
    expect(forgotten).toMatchObject({ signed_texts: signed.length, vacuumed: true });
    expect(forgotten.member_rows).toBeGreaterThan(0);
    expect(stderr).toContain('backups and snapshots were not changed');
    expect(await demo.rows(`SELECT 1 FROM members_history WHERE document LIKE '${about}'`)).toEqual([]);
    for (const row of await demo.rows('SELECT signed_data FROM signed_texts')) {
      expect(Buffer.from(String(row['signed_data']), 'base64').toString()).not.toContain(email);
    }
    for (const file of readdirSync(demo.folder).filter(name => name.startsWith('mirror.db'))) {
      expect(readFileSync(join(demo.folder, file)).includes(email)).toBe(false);
    }
    const verified = await runCommand(['verify', '--against-registry'], { env: demo.env });
    expect(verified).toMatchObject({ exitCode: 0, stdout: '' });
  });

  test('empties the webhook of a person who triggered it, and the delivery says so', async () => {
    const email = 'sender@example.org';
    const [row] = await demo.rows<{ id: number; stored_text_id: number }>(
      'SELECT id, stored_text_id FROM deliveries ORDER BY id LIMIT 1',
    );
    const text = JSON.stringify({ event: 'installed', sender: { email } }).replace('@', '\\u0040');
    await demo.change(
      'UPDATE signed_texts SET signed_data = ? WHERE id = ?',
      Buffer.from(text).toString('base64'),
      row?.stored_text_id ?? null,
    );
    const { stdout } = await run('forget', '--person', email, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ member_rows: 0, signed_texts: 1, deliveries: 1 });
    const outcome = await run('deliveries', 'show', String(row?.id));
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stderr).toContain('a person who was forgotten');
    const again = await run('forget', '--person', email);
    expect(again).toMatchObject({ exitCode: 0, stdout: '' });
    expect(again.stderr).toContain('Emptied 0 signed texts');
  });

  test('T75 erases the address of a person from the orders of the console', async () => {
    await demo.change(`INSERT INTO inbox.orders
      (key, actor, action, organization_id, credit_id, amount_exact, beneficiary, state, result, created_at, finished_at)
      VALUES ('key-1', 'Dana@example.com', 'reserve', 'o-1', 'c-1', '1', 'Harbour Ferries', 'refused', 'Too late.',
        '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z')`);
    const { exitCode, stdout, stderr } = await run('forget', '--person', 'dana@EXAMPLE.com', '--json');
    expect({ exitCode }, stderr).toEqual({ exitCode: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ orders: 1, waiting_orders: 0 });
    expect(stderr).toContain('Erased the address from 1 order of the console.');
    expect(await demo.rows('SELECT actor, beneficiary FROM inbox.orders')).toEqual([
      { actor: '(erased)', beneficiary: 'Harbour Ferries' },
    ]);
    for (const file of readdirSync(demo.folder).filter(name => name.startsWith('inbox.db')))
      expect(readFileSync(join(demo.folder, file)).includes('Dana@example.com'), file).toBe(false);
    await demo.change(
      "UPDATE inbox.orders SET actor = 'dana@example.com', state = 'waiting', finished_at = NULL",
    );
    const waiting = await run('forget', '--person', 'dana@example.com');
    expect(waiting.stderr).toContain('NOT removed: 1 order of the console will be sent with the address.');
    await demo.change('DELETE FROM inbox.orders');
  });
});

describe('purge', () => {
  const id = () => demo.organizationIds[0] ?? '';

  test('removes nothing and exits with 2 without the exact name', async () => {
    const before = await demo.rows('SELECT count(*) AS n FROM retirements');
    const wrong = await run('purge', '--organization', id(), '--confirm', (await nameOf(id())).toLowerCase());
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
    expect(wrong.stderr).toContain(await nameOf(id()));
    expect(await run('purge', '--organization', id())).toMatchObject({ exitCode: 2, stdout: '' });
    const nobody = await run('purge', '--organization', 'nobody', '--confirm', 'nobody');
    expect(nobody).toMatchObject({ exitCode: 6, stdout: '' });
    expect(await demo.rows('SELECT count(*) AS n FROM retirements')).toEqual(before);
  });

  test('refuses an organization on which the app is active with exit code 3', async () => {
    const active = await run('purge', '--organization', id(), '--confirm', await nameOf(id()));
    expect(active).toMatchObject({ exitCode: 3, stdout: '' });
    expect(active.stderr).toContain('--force');
    expect(await demo.rows(`SELECT 1 FROM retirements WHERE organization_id = '${id()}'`)).not.toEqual([]);
  });

  test('removes an uninstalled organization with its history and files, and no other', async () => {
    const name = await nameOf(id());
    const files = await demo.rows(
      `SELECT file FROM certificates WHERE organization_id = '${id()}' AND file IS NOT NULL`,
    );
    const others = await demo.rows(
      `SELECT count(*) AS n FROM retirements WHERE organization_id <> '${id()}'`,
    );
    const { installations } = demo.sandbox.registry;
    const installation = installations.listAll().find(({ organization }) => organization.id === id());
    installations.uninstall(installation?.id ?? '');
    await until(
      async () =>
        (await demo.value('SELECT state FROM installations WHERE organization_id = ?', id())) ===
        'uninstalled',
    );
    const { exitCode, stdout, stderr } = await run(
      'purge',
      '--organization',
      id(),
      '--confirm',
      name,
      '--json',
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      organization_id: id(),
      name,
      certificate_files: files.length,
    });
    expect(stderr).toContain(`Removed everything mirrored for ${name}`);
    for (const table of [
      'retirements_history',
      'warehouse_credits_history',
      'certificates_history',
      'syncs',
    ]) {
      expect(await demo.rows(`SELECT 1 FROM ${table} WHERE organization_id = '${id()}'`)).toEqual([]);
    }
    const present = readdirSync(join(demo.folder, 'certificates'));
    expect(files.filter(({ file }) => present.includes(String(file)))).toEqual([]);
    expect(
      await demo.rows(`SELECT count(*) AS n FROM retirements WHERE organization_id <> '${id()}'`),
    ).toEqual(others);
    expect(await run('purge', '--organization', id(), '--confirm', name)).toMatchObject({ exitCode: 6 });
    const jobs = await run('jobs', 'list', '--organization', id(), '--json');
    expect(JSON.parse(jobs.stdout).rows).not.toEqual([]);
  });

  test('removes an active organization with --force, which the next read restores', async () => {
    const other = demo.organizationIds[1] ?? '';
    const name = await nameOf(other);
    const forced = await run('purge', '--organization', other, '--confirm', name, '--force');
    expect(forced.exitCode).toBe(0);
    expect(forced.stderr).toContain('the next scheduled read');
    expect(await demo.rows(`SELECT 1 FROM retirements WHERE organization_id = '${other}'`)).toEqual([]);
    await run('sync');
    await until(
      async () =>
        (
          await demo.rows(
            `SELECT 1 FROM freshness WHERE organization_id = '${other}' AND resource = 'retirements' AND state = 'fresh'`,
          )
        ).length === 1,
    );
    expect(await nameOf(other)).toBe(name);
  });
});
