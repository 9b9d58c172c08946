import { expect, test } from 'vitest';
import type { SyncedResource } from '../../src/sync/plan.js';
import { createUrgentReads } from '../../src/sync/installation/urgent-reads.js';
import { openJobStage } from '../support/job-stage.js';

test('urgent reads look for deliveries at most once a second, and not during an urgent read', async () => {
  const { context } = await openJobStage();
  let now = 0;
  let queries = 0;
  let rechecks = 0;
  const read: string[] = [];
  const urgentReads = createUrgentReads(
    {
      now: () => now,
      inbox: {
        ...context.inbox,
        haveDeliveriesArrived: async () => {
          queries += 1;
          return [queries < 3];
        },
      },
      installationId: 'i1',
      signal: new AbortController().signal,
      yieldTurn: async () => undefined,
    },
    {
      accessChecker: {
        checkAtStart: async () => null,
        recheck: async () => {
          rechecks += 1;
          return {
            installation: { id: 'i1', permissions: null },
            organizationId: 'o1',
            permissionsChanged: false,
          };
        },
        getState: () => 'active',
        hasChanged: () => false,
      },
      listReadable: async () => ['warehouse', 'reservations'],
      readResource: async (resource: SyncedResource) => {
        read.push(resource);
        now += 5000;
        await urgentReads.yieldTurn(resource);
      },
    },
  );
  now += 999;
  await urgentReads.yieldTurn();
  expect({ queries, rechecks, read }).toEqual({ queries: 0, rechecks: 0, read: [] });
  now += 1;
  await urgentReads.yieldTurn();
  expect({ queries, rechecks, read }).toEqual({
    queries: 1,
    rechecks: 1,
    read: ['warehouse', 'reservations'],
  });
  await urgentReads.yieldTurn('warehouse');
  expect({ queries, rechecks, read: read.slice(2) }).toEqual({
    queries: 2,
    rechecks: 2,
    read: ['reservations'],
  });
});
