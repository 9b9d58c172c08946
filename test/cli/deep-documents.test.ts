import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Sqlite } from '../../src/engines/sqlite/open.js';
import { runCommand } from '../support/command.js';
import { type DemoMirror, startDemoMirror } from '../support/demo-mirror.js';

/** SQLite reads JSON of 1,000 levels, and JSON.stringify ends at some 10,000. */
const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

let demo: DemoMirror;

beforeAll(async () => {
  demo = await startDemoMirror();
});

afterAll(async () => {
  await demo.stop();
});

async function run(...argv: string[]) {
  return await runCommand(argv, { env: demo.env });
}

function write(file: 'mirror' | 'inbox', work: (db: Sqlite) => void): void {
  const db = openDatabase(join(demo.folder, `${file}.db`), { busyTimeoutMs: 5000 });
  work(db);
  db.close();
}

/** As an earlier program may have stored them. */
function deepen(): void {
  write('mirror', db => {
    const tables = db
      .prepare<[], string>(
        "SELECT t.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND c.name = 'document'",
      )
      .pluck()
      .all();
    for (const table of tables)
      db.prepare(`UPDATE ${table} SET document = '{"deep":' || ? || ',' || substr(document, 2)`).run(DEEP);
    expect(tables.length).toBeGreaterThan(15);
  });
  const signed = Buffer.from(`{"event":"installed","deep":${DEEP}}`).toString('base64');
  write('inbox', db => {
    db.prepare('UPDATE signed_texts SET signed_data = ?').run(signed);
  });
}

test('T47 documents and signed texts deeper than SQLite reads end no command, no view, no purge and no forgetting', async () => {
  const [id = '', other = ''] = demo.organizationIds;
  const [{ delivery } = {}] = await deliveries();
  const email = String(
    demo.query(`SELECT email FROM members WHERE organization_id = '${other}' LIMIT 1`)[0]?.['email'],
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
    ['certificates', 'verify'],
  ];
  const before = new Map<string, number>();
  for (const command of commands) before.set(command.join(' '), (await run(...command)).exitCode);
  const again = async (some: typeof commands) => {
    for (const command of some) {
      const { exitCode, stderr } = await run(...command);
      expect([command, exitCode, stderr]).toEqual([command, before.get(command.join(' ')), stderr]);
      expect(stderr).not.toMatch(/malformed|call stack/i);
    }
  };
  deepen();
  const verified = await run('verify');
  expect([verified.exitCode, verified.stderr]).toEqual([3, expect.stringContaining('faults')]);
  expect(verified.stdout).not.toMatch(/malformed|call stack/i);
  await again(commands);
  write('mirror', db => void db.prepare('DELETE FROM organizations').run());
  await again(commands);
  for (const row of demo.query("SELECT name FROM sqlite_schema WHERE type = 'view'"))
    expect(demo.query(`SELECT * FROM ${String(row['name'])}`)).toBeInstanceOf(Array);
  const forgotten = await run('forget', '--person', email);
  expect([forgotten.exitCode, forgotten.stderr]).toEqual([0, expect.stringContaining('Removed')]);
  const purged = await run('purge', '--organization', id, '--confirm', id, '--force');
  expect([purged.exitCode, purged.stderr]).toEqual([0, expect.stringContaining('Removed all')]);
  expect(demo.query(`SELECT 1 FROM retirements_history WHERE organization_id = '${id}'`)).toEqual([]);
}, 120_000);

async function deliveries(): Promise<{ readonly delivery: number }[]> {
  const { stdout } = await run('deliveries', 'list', '--json');
  return JSON.parse(stdout).map(({ id }: { readonly id: number }) => ({ delivery: id }));
}
