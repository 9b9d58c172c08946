import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../../src/store/postgres/open-postgres.js';
import { openForTest, createDatabase } from '../../support/postgres.js';

test('broken idle connections are reported once, and again only after a new connection was opened', async () => {
  const database = await createDatabase();
  const owner = openForTest(database, 1);
  const told: Error[] = [];
  const postgres = openPostgres({
    url: database.url,
    name: 'idle',
    connections: 4,
    onFault: error => told.push(error),
  });
  onTestFinished(postgres.close);
  const ask = () => Promise.all([1, 2, 3, 4].map(() => postgres.query('SELECT pg_sleep(0.02)')));
  const cut = async () => {
    await owner.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idle'",
    );
    await expect.poll(() => told.length).toBeGreaterThan(0);
    await setTimeout(50);
    return told.splice(0).length;
  };
  await ask();
  expect(await cut()).toBe(1);
  await ask();
  expect(await cut()).toBe(1);
});
