import { expect, test } from 'vitest';
import { takeEmptyDatabase, openDatabase } from '../../support/postgres.js';

test('a balance of retirements scans them a fixed number of times, however many organizations there are', async () => {
  const owner = openDatabase(await takeEmptyDatabase());
  const plan = JSON.stringify(await owner.query('EXPLAIN SELECT * FROM mirror.balance_retirements'));
  expect(plan).toContain('retirements');
  expect(plan).not.toContain('SubPlan');
});
