import { expect, test } from 'vitest';
import { changesSince } from '../../support/changes.js';
import { openAs, stageOn } from '../../support/engines.js';
import { followKilled } from '../../support/follower.js';
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
  const { seen, told } = await follow(
    brokenProgram('main.js', '"number", ">", after', '"number", ">=", after'),
  );
  expect(seen).not.toEqual(told);
});
