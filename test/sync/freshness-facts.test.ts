import { expect, test } from 'vitest';
import type { LivingProcess } from '../../src/inbox/process.js';
import { createFreshnessFacts } from '../../src/sync/schedule/freshness-facts.js';
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
    tell: async (...given: Parameters<typeof context.mirror.tell>) => {
      looks += 1;
      if (looks === 1) throw new Error('the disk is full');
      await context.mirror.tell(...given);
    },
  };
  const facts = createFreshnessFacts({ ...context, mirror, self: SELF, log, everyMs: 1 });
  facts.start();
  await expect.poll(() => looks).toBeGreaterThan(3);
  await facts.stop();
  const before = looks;
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(looks).toBe(before);
  expect(warned).toEqual(['no heartbeat could be written this time']);
  expect(await program.rows("SELECT pid FROM processes WHERE role = 'work'")).toEqual([{ pid: 1 }]);
  expect(await program.rows('SELECT worker_seen_at FROM origin')).toEqual([
    { worker_seen_at: expect.any(String) },
  ]);
});
