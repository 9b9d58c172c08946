import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { grantsTo } from '../../../src/store/contract/grants.js';
import { changesSince } from '../../support/changes.js';
import { openAs, stageOn } from '../../support/engines.js';
import { followKilled } from '../../support/follower.js';
import { credit } from '../../support/mirror.js';
import { brokenProgram, PROGRAM } from '../../support/mutant.js';
import { temporaryDatabase } from '../../support/postgres.js';

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
  const { seen, told } = await follow(brokenProgram('main.js', 'number > ${seen}', 'number >= ${seen}'));
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
