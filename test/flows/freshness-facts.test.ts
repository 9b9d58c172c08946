import { describe, expect, test } from 'vitest';
import type { SyncContext } from '../../src/sync/sync-context.js';
import { playFlood, startWatched } from '../support/watched-program.js';

test('a freshness fact in the mirror is removed when its resource has been read', async () => {
  const scene = await startWatched();
  const announced = () => scene.program.rows('SELECT * FROM freshness_facts');
  await scene.watch(true);
  await scene.work(false);
  await scene.announce();
  await scene.pass(62);
  expect(await announced()).not.toEqual([]);
  await scene.read();
  await scene.pass(15);
  expect(await announced()).toEqual([]);
});

test('members that are not mirrored have no freshness fact', async () => {
  const off = await startWatched({ context: { mirrorMembers: false } });
  await off.program.change(
    `INSERT INTO resource_states (organization_id, resource, as_of) VALUES (?, 'members', ?)
       ON CONFLICT (organization_id, resource) DO UPDATE SET as_of = excluded.as_of`,
    off.organizationId,
    new Date(off.program.time.now()).toISOString(),
  );
  await off.watch(true);
  await off.pass(5);
  await off.announce();
  await off.read();
  await off.pass(90);
  expect(await off.resources('unread_webhook')).toEqual([]);
});

describe('the flood test detects broken freshness facts', () => {
  const newest = (context: SyncContext): SyncContext => {
    const { inbox, mirror } = context;
    return {
      ...context,
      inbox: {
        ...inbox,
        listAcceptedDeliveries: async stretch => {
          const { deliveries, next } = await inbox.listAcceptedDeliveries(stretch);
          return { deliveries: deliveries.toReversed(), next };
        },
      },
      mirror: {
        ...mirror,
        readFreshnessFacts: async () => ({ ...(await mirror.readFreshnessFacts()), waitingResources: [] }),
      },
    };
  };

  test('facts with the newest instead of the oldest delivery never show an unread resource', async () => {
    const scene = await startWatched({}, newest);
    await scene.watch(true);
    expect(await playFlood(scene, false)).toEqual(new Set(['fresh']));
  });

  test('a view that counts every unread delivery calls a resource stale that is read every 25 seconds', async () => {
    const scene = await startWatched();
    const { program } = scene;
    const intactSql =
      (await program.value<string>("SELECT sql FROM sqlite_schema WHERE name = 'freshness'")) ?? '';
    const broken = intactSql.replace(
      'unixepoch(r.oldest_unread_at) > 60',
      'unixepoch(r.oldest_unread_at) > 0',
    );
    expect(broken).not.toBe(intactSql);
    await program.change(`DROP VIEW freshness; ${broken}`);
    await scene.watch(true);
    expect(await playFlood(scene, true)).toContain('unread_webhook');
  });
});
