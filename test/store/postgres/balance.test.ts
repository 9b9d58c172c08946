import { expect, test } from 'vitest';
import { takeEmptyDatabase, openDatabase } from '../../support/postgres.js';
import { openMirrorOnPostgres } from '../../support/mirror/open.js';
import { credit } from '../../support/mirror/rows.js';

const CREDITS = 12_000;
const REMOVED = /Rows Removed by Join Filter: (\d+)/g;

test('a balance of projects scans the credits a few times, not once per project', async () => {
  const owner = openDatabase(await takeEmptyDatabase());
  const { read } = await openMirrorOnPostgres(owner);
  await read(
    'warehouse',
    Array.from({ length: CREDITS }, (_, n) =>
      credit(`c-${n}`, {
        project: { id: `project-${n % 40}`, fullName: null },
        vintage: String(2015 + (n % 8)),
      }),
    ),
  );
  await read('inventory', []);
  await read('reservations', []);
  await owner.query('ANALYZE');
  const plan = JSON.stringify(await owner.query('EXPLAIN ANALYZE SELECT * FROM mirror.balance_projects'));
  const removed = [...plan.matchAll(REMOVED)].reduce((sum, [, rows]) => sum + Number(rows), 0);
  expect(plan).toMatch(new RegExp(`rows=${CREDITS}\\b`));
  expect(removed).toBeLessThan(10 * CREDITS);
});

test('a balance of retirements scans them a fixed number of times, however many organizations there are', async () => {
  const owner = openDatabase(await takeEmptyDatabase());
  const plan = JSON.stringify(await owner.query('EXPLAIN SELECT * FROM mirror.balance_retirements'));
  expect(plan).toContain('retirements');
  expect(plan).not.toContain('SubPlan');
});
