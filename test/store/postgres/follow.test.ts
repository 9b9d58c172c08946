import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { grantsTo } from '../../../src/store/contract/grants.js';
import { openEngine } from '../../../src/store/open.js';
import { changesSince } from '../../support/changes.js';
import { openAs, stageOn } from '../../support/engines.js';
import { followKilled } from '../../support/follower.js';
import { credit } from '../../support/mirror.js';
import { brokenProgram, PROGRAM } from '../../support/mutant.js';
import { temporaryDatabase } from '../../support/postgres.js';

const CHANNEL = 'carbon_mirror_changes';

async function follow(program: string) {
  const database = await temporaryDatabase();
  const scene = await stageOn(openAs(database));
  const seen = await followKilled(scene, { program, env: { MIRROR_DATABASE_URL: database.url } }, 3);
  return { seen, told: (await changesSince(scene.db, 0)).map(({ number }) => number) };
}

test('a follower that is killed at random has each change once, where the mirror is in PostgreSQL', async () => {
  const { seen, told } = await follow(PROGRAM);
  expect(seen).toEqual(told);
  expect(seen.length).toBeGreaterThan(10);
});

test('the same test notices a follower that begins at its number instead of after it', async () => {
  const { seen, told } = await follow(
    brokenProgram('main.js', '"number", ">", after', '"number", ">=", after'),
  );
  expect(seen).not.toEqual(told);
});

test('a follower goes on where it was once a server that went away is back, and says that it waits', async () => {
  const database = await temporaryDatabase();
  const owner = openAs(database);
  const scene = await stageOn(openAs(database));
  const role = `${database.name}_reader`;
  await owner.query(`CREATE ROLE ${role} LOGIN`);
  for (const grant of grantsTo('read', role)) await owner.query(grant);
  const env = { MIRROR_DATABASE_URL: database.url.replace('//postgres@', `//${role}@`) };
  const words = [PROGRAM, 'changes', '--follow', '--after', '0'];
  const follower = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void follower.kill('SIGKILL'));
  const seen: number[] = [];
  let said = '';
  createInterface({ input: follower.stdout }).on('line', line => seen.push(JSON.parse(line).number));
  follower.stderr.on('data', text => (said += String(text)));
  const newest = async () => (await changesSince(scene.db, 0)).map(({ number }) => number);
  await scene.read('warehouse', [credit('c-1')]);
  await expect.poll(() => seen).toEqual(await newest());
  await owner.query(`ALTER ROLE ${role} CONNECTION LIMIT 0`);
  await owner.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
  await expect.poll(() => said).toContain('It is asked again each second');
  await scene.read('warehouse', [credit('c-1'), credit('c-2')]);
  await owner.query(`ALTER ROLE ${role} CONNECTION LIMIT -1`);
  await expect.poll(() => seen).toEqual(await newest());
  expect(said.split('It is asked again each second')).toHaveLength(2);
  expect(follower.exitCode).toBeNull();
}, 120_000);

test('the server tells of what changed when that is committed, and of nothing else', async () => {
  const database = await temporaryDatabase();
  const scene = await stageOn(openAs(database));
  const ear = new Client({ connectionString: database.url });
  await ear.connect();
  const heard: (string | undefined)[] = [];
  ear.on('notification', ({ payload }) => heard.push(payload));
  await ear.query(`LISTEN ${CHANNEL}`);
  await scene.read('warehouse', [credit('c-1')]);
  await ear.query(`NOTIFY ${CHANNEL}, 'changed'`);
  await scene.read('warehouse', [credit('c-1')]);
  await ear.query(`NOTIFY ${CHANNEL}, 'the same'`);
  await expect.poll(() => heard.at(-1), { timeout: 60_000 }).toBe('the same');
  expect([heard[0], ...heard.slice(-2)]).toEqual(['', 'changed', 'the same']);
  await ear.end();
}, 90_000);

test('who follows changes listens to the server, and still looks where that was cut', async () => {
  const database = await temporaryDatabase();
  const postgres = openAs(database);
  const engine = openEngine({
    dataDir: '',
    database: { url: database.url, queryUrl: null, pool: null },
    diskReserveMb: null,
  });
  let looks = 0;
  const stop = await engine.watchChanges(() => (looks += 1));
  const ears = async () =>
    await postgres.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN ${CHANNEL}'`,
    );
  await expect.poll(async () => (await ears()).length, { timeout: 60_000 }).toBe(1);
  await postgres.query('SELECT pg_terminate_backend($1::int)', [(await ears())[0]?.pid ?? 0]);
  const before = looks;
  await expect.poll(() => looks, { timeout: 60_000 }).toBeGreaterThan(before + 1);
  await expect.poll(async () => (await ears()).length, { timeout: 60_000 }).toBe(1);
  await stop();
}, 200_000);
