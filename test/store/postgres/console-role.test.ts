import { expect, test } from 'vitest';
import { createInstallationJob } from '../../../src/inbox/job.js';
import { createDatabase, openForTest, openInboxOnPostgres, openWithRole } from '../../support/postgres.js';
import { NOON } from '../../support/inbox.js';
import { createOrder } from '../../support/orders.js';

test('T111 the role of the console can store orders and jobs, and change nothing else', async () => {
  const database = await createDatabase();
  const owner = openForTest(database);
  const role = await openWithRole(owner, database, 'console');
  const inbox = openInboxOnPostgres(role).open(() => NOON);
  const order = createOrder();
  expect(await inbox.placeOrder(order)).toMatchObject({ state: 'waiting' });
  expect(await inbox.placeOrder(order)).toMatchObject({ id: 1 });
  expect(await inbox.enqueue([createInstallationJob('installation-1', null, 'person')])).toHaveLength(1);
  for (const statement of [
    "UPDATE inbox.orders SET state = 'done'",
    'DELETE FROM inbox.orders',
    'DELETE FROM inbox.deliveries',
    "UPDATE mirror.installations SET state = 'active'",
    'INSERT INTO mirror.past DEFAULT VALUES',
  ])
    await expect(role.query(statement), statement).rejects.toThrow(/permission denied/);
  await expect(inbox.startOrder(order.key, new Date(NOON).toISOString())).rejects.toThrow(
    /permission denied/,
  );
});
