import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SETTINGS } from '../../../src/app/config/settings-table.js';
import { runCommand } from '../../support/command.js';
import { openForTest, createDatabase } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/inbox.js';
import { listCodeBlocks } from '../../support/readme.js';

const ROOT = new URL('../../../', import.meta.url);
const [, document = ''] = readFileSync(new URL('docs/deploy.md', ROOT), 'utf8').split(/^## (?=PostgreSQL)/m);
/** Named to say that they are not used, or as another's: a setting or a right. */
const NOT_OURS = ['DATABASE_URL', 'MIRROR_DATABASE', 'FILE', 'MAINTAIN'];

test('each setting that docs/deploy.md names exists', () => {
  const named = Array.from(document.matchAll(/`([A-Z][A-Z_]+)`/g), ([, name = '']) => name);
  const known = [...SETTINGS.map(({ name }) => name), ...NOT_OURS];
  expect(named.length).toBeGreaterThan(5);
  const isKnown = (name: string) => [name, name.replace(/_FILE$/, '')].some(each => known.includes(each));
  expect(named.filter(name => !isKnown(name))).toEqual([]);
});

test('each PostgreSQL setting that docs/deploy.md names exists', async () => {
  const { query } = openForTest(await createDatabase(), 1);
  for (const name of ['fsync', 'full_page_writes', 'synchronous_standby_names', 'synchronous_commit']) {
    expect(document).toContain(`\`${name}\``);
    expect(await query('SELECT current_setting($1)', [name])).toHaveLength(1);
  }
});

test('the statements of docs/deploy.md create a database that can be migrated, and a query role', async () => {
  const [make = '', questions = ''] = listCodeBlocks(document, 'sql');
  const role = `carbon_${randomBytes(4).toString('hex')}`;
  const empty = openForTest(await createDatabase({ migrated: false }), 1);
  await empty.query(make.replaceAll('carbon_mirror', role));
  await empty.query(questions.replaceAll('questions', `${role}_questions`));
  expect(await empty.query("SELECT 1 FROM pg_roles WHERE rolname LIKE $1 || '%'", [role])).toHaveLength(2);
});

test('the commands that backup prints save and restore a mirror, with a role that cannot create schemas', async context => {
  const role = `carbon_${randomBytes(4).toString('hex')}`;
  const database = await createDatabase({ migrated: false });
  const superuser = openForTest(database, 1);
  await superuser.query((listCodeBlocks(document, 'sql')[0] ?? '').replaceAll('carbon_mirror', role));
  const env = { MIRROR_DATABASE_URL: database.url.replace('//postgres@', `//${role}@`) };
  expect(await runCommand(['migrate'], { env })).toMatchObject({ exitCode: 0 });
  const { stderr } = await runCommand(['backup', 'never made'], { env });
  const [, dump = '', ...restore] = stderr.trim().split('\n').slice(0, -1);
  expect(listCodeBlocks(document, 'sh').map(block => block.trim())).toContain([dump, ...restore].join('\n'));
  const cwd = temporaryFolder();
  const play = (line: string) =>
    spawnSync('sh', ['-c', line], { cwd, env: { ...process.env, ...env }, encoding: 'utf8' });
  const dumped = play(dump);
  // Tools that are older than the server, or none.
  if (/version mismatch|not found/.test(dumped.stderr)) context.skip();
  expect(dumped).toMatchObject({ status: 0, stderr: '' });
  await superuser.query('UPDATE mirror.version_counter SET last = 77');
  for (const line of restore) expect(play(line)).toMatchObject({ status: 0, stderr: '' });
  expect(await superuser.query('SELECT last FROM mirror.version_counter')).not.toEqual([{ last: 77 }]);
  expect(await runCommand(['verify'], { env })).toMatchObject({ exitCode: 0 });
});
