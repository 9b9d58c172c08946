import { expect, test } from 'vitest';
import type { ProcessIdentity } from '../../src/inbox/process.js';
import { createInstallationJob } from '../../src/inbox/job.js';
import {
  createUnreadDeliveryTask,
  recordUnreadDeliveries,
} from '../../src/sync/schedule/unread-deliveries.js';
import { openJobStage } from '../support/job-stage.js';
import { toNewDelivery, acceptedDelivery } from '../support/inbox.js';
import { openSyncContext, startProgram } from '../support/program.js';
import { countCallsTo, issueCredit } from '../support/sandbox.js';

const SELF: ProcessIdentity = { role: 'work', host: 'here', pid: 1, startedAt: 0 };

test('freshness facts are written repeatedly, also after a failure, until the task is stopped', async () => {
  const program = await startProgram({ receiveOnly: true });
  const context = await openSyncContext(program, {});
  await context.mirror.checkOrigin({ baseUrl: context.client.http.baseUrl, appId: context.appId });
  const warnings: string[] = [];
  const log = {
    info: () => {},
    error: () => {},
    warn: (_fields: object, message: string) => void warnings.push(message),
  };
  let reports = 0;
  const mirror = {
    ...context.mirror,
    report: async (...args: Parameters<typeof context.mirror.report>) => {
      reports += 1;
      if (reports === 1) throw new Error('the disk is full');
      await context.mirror.report(...args);
    },
  };
  const task = createUnreadDeliveryTask({ ...context, mirror, self: SELF, log, intervalMs: 1 });
  task.start();
  await expect.poll(() => reports).toBeGreaterThan(3);
  await task.stop();
  const before = reports;
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(reports).toBe(before);
  expect(warnings).toEqual(['heartbeat failed']);
  expect(await program.rows("SELECT pid FROM processes WHERE role = 'work'")).toEqual([{ pid: 1 }]);
  expect(await program.rows('SELECT worker_seen_at FROM origin')).toEqual([
    { worker_seen_at: expect.any(String) },
  ]);
});

test('each resource reports its oldest unread delivery until it is read', async () => {
  const stage = await openJobStage({ context: { mirrorMembers: false } });
  const { context, organization, installationId, mirror, now, move } = stage;
  const readJob = createInstallationJob(installationId, null, 'person');
  await stage.run(readJob);
  const storeDelivery = async (id: string): Promise<string> => {
    move(1_000);
    const receivedAt = now();
    const delivery = acceptedDelivery({ receivedAt, installationId: id, organizationId: organization.id });
    await context.inbox.store([toNewDelivery(receivedAt, delivery)]);
    return (await stage.inbox.value<string>('SELECT max(received_at) FROM deliveries')) ?? '';
  };
  const readUnread = async (): Promise<Map<unknown, unknown>> => {
    move(20_000);
    await recordUnreadDeliveries({ ...context, mirrorMembers: false }, now());
    const rows = await mirror.rows(
      'SELECT resource, oldest_unread_at FROM freshness_facts WHERE oldest_unread_at IS NOT NULL',
    );
    return new Map(rows.map(row => [row['resource'], row['oldest_unread_at']]));
  };
  const first = await storeDelivery(installationId);
  await storeDelivery(installationId);
  const found = await readUnread();
  expect(found.get('warehouse')).toBe(first);
  expect(new Set(found.values())).toEqual(new Set([first]));
  expect(found.has('members')).toBe(false);
  await stage.run(readJob);
  expect(await readUnread()).toEqual(new Map());
  await storeDelivery(installationId);
  await stage.run(readJob);
  expect(await readUnread()).toEqual(new Map());
  const later = await storeDelivery(installationId);
  expect(new Set((await readUnread()).values())).toEqual(new Set([later]));

  // While the inventory is read, another delivery arrives, and the check still knows the earlier one.
  issueCredit(stage.sandbox, organization.id, { place: 'inventory' });
  const countReads = () => countCallsTo(stage.sandbox, `${organization.id}/inventory`);
  const readsBefore = countReads();
  let during = '';
  const onTurn = async () => {
    if (during !== '' || countReads() === readsBefore) return;
    during = await storeDelivery(installationId);
    expect((await readUnread()).get('inventory')).toBe(later);
  };
  await stage.run(readJob, { onTurn });
  expect((await readUnread()).get('inventory')).toBe(during);
});
