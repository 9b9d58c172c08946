import { expect, test } from 'vitest';
import { startInstalled } from '../support/installed.js';

const MINUTE_MS = 60_000;
const SAID = `SELECT organization_id, event, type, status, amount_exact, fault FROM transactions ORDER BY delivery_id`;

test('what webhooks say of transactions stands in the mirror, once however often it comes, and after a kill too', async () => {
  const { program, retire, organizationId } = await startInstalled();
  retire(1.5);
  await program.rest();
  const first = await program.rows(SAID);
  expect(first).toContainEqual(
    expect.objectContaining({ organization_id: organizationId, amount_exact: '1.5', fault: null }),
  );
  const [latest] = program.registry.deliveries.list(1);
  program.time.move(2 * MINUTE_MS);
  program.registry.deliveries.resend(latest?.id ?? 0);
  await program.rest();
  expect(await program.rows(SAID)).toEqual(first);
  expect(
    await program.rows('SELECT 1 FROM deliveries WHERE digest IN (SELECT digest FROM transactions)'),
  ).not.toEqual([]);
  await program.kill();
  retire(2.25);
  await program.startWorker();
  await program.rest();
  const after = await program.rows(SAID);
  expect(after.slice(0, first.length)).toEqual(first);
  expect(after.slice(first.length)).toContainEqual(expect.objectContaining({ amount_exact: '2.25' }));
});
