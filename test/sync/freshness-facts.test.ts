import { expect, test } from 'vitest';
import type { LivingProcess } from '../../src/inbox/process.js';
import { installationJob } from '../../src/inbox/job.js';
import { createFreshnessFacts, writeFreshnessFacts } from '../../src/sync/schedule/freshness-facts.js';
import { stageOfJobs } from '../support/at-work.js';
import { receivedBy } from '../support/box.js';
import { acceptedDelivery } from '../support/inbox.js';
import { contextOf, startProgram } from '../support/program.js';

const SELF: LivingProcess = { role: 'work', host: 'here', pid: 1, startedAt: 0 };

test('it looks again and again, goes on after a look that failed, and stops where it is told to', async () => {
  const program = await startProgram({ receiveOnly: true });
  const context = await contextOf(program, {});
  await context.mirror.checkOrigin({ baseUrl: context.client.http.baseUrl, appId: context.appId });
  const warned: string[] = [];
  const log = {
    info: () => {},
    error: () => {},
    warn: (_fields: object, message: string) => void warned.push(message),
  };
  let looks = 0;
  const mirror = {
    ...context.mirror,
    report: async (...given: Parameters<typeof context.mirror.report>) => {
      looks += 1;
      if (looks === 1) throw new Error('the disk is full');
      await context.mirror.report(...given);
    },
  };
  const facts = createFreshnessFacts({ ...context, mirror, self: SELF, log, intervalMs: 1 });
  facts.start();
  await expect.poll(() => looks).toBeGreaterThan(3);
  await facts.stop();
  const before = looks;
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(looks).toBe(before);
  expect(warned).toEqual(['heartbeat failed']);
  expect(await program.rows("SELECT pid FROM processes WHERE role = 'work'")).toEqual([{ pid: 1 }]);
  expect(await program.rows('SELECT worker_seen_at FROM origin')).toEqual([
    { worker_seen_at: expect.any(String) },
  ]);
});

test('each resource waits for the oldest delivery that no read has answered, until it is read', async () => {
  const stage = await stageOfJobs({ context: { mirrorMembers: false } });
  const { context, organization, installationId, mirror, now, move } = stage;
  const look = installationJob(installationId, null, 'person');
  await stage.run(look);
  const store = async (id: string): Promise<string> => {
    move(1_000);
    const receivedAt = now();
    const delivery = acceptedDelivery({ receivedAt, installationId: id, organizationId: organization.id });
    await context.inbox.store([receivedBy(receivedAt, delivery)]);
    return (await stage.inbox.value<string>('SELECT max(received_at) FROM deliveries')) ?? '';
  };
  const waiting = async (): Promise<Map<unknown, unknown>> => {
    move(20_000);
    await writeFreshnessFacts({ ...context, mirrorMembers: false }, now());
    const rows = await mirror.rows(
      'SELECT resource, oldest_unread_at FROM freshness_facts WHERE oldest_unread_at IS NOT NULL',
    );
    return new Map(rows.map(row => [row['resource'], row['oldest_unread_at']]));
  };
  const first = await store(installationId);
  await store(installationId);
  const found = await waiting();
  expect(found.get('warehouse')).toBe(first);
  expect(new Set(found.values())).toEqual(new Set([first]));
  expect(found.has('members')).toBe(false);
  await stage.run(look);
  expect(await waiting()).toEqual(new Map());
  const later = await store(installationId);
  expect(new Set((await waiting()).values())).toEqual(new Set([later]));
});
