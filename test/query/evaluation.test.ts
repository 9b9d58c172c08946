import { expect, test } from 'vitest';
import { readFailedJobs, readStaleAndFreshLists } from '../../src/query/evaluation.js';
import { breakReads, openFilledMirror } from '../support/mirror/open.js';

test('stale and fresh lists are read apart, and lists in other states are left out', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  await breakReads(filled, 'organization-2');
  await filled.mirror.report({
    at: new Date(filled.clock.at).toISOString(),
    awaitedInstallations: [{ id: 'installation-9', organizationId: null }],
  });
  const listsOf = (id: string) =>
    ['organization', 'retirements', 'warehouse'].map(resource => ({ organization_id: id, resource }));
  expect(await readStaleAndFreshLists(filled.reader)).toEqual({
    stale: listsOf('organization-2').map(list => ({ ...list, reason: 'read_failed' })),
    fresh: listsOf('organization-1'),
  });
});

test('the jobs that failed at or after an instant are read, the oldest first', async () => {
  const { reader, tables } = await openFilledMirror({ organizations: 1 });
  const instant = (minute: number) => `2026-05-04T12:0${minute}:00.000Z`;
  const add = async (id: number, state: string, minute: number) =>
    await tables.change(
      `INSERT INTO inbox.jobs (id, kind, organization_id, dedupe_key, trigger, state, run_at, created_at, finished_at, error_or_pause_code)
       VALUES (?, 'installation', 'organization-1', ?, 'person', ?, ?, ?, ?, 'refused')`,
      id,
      `key-${id}`,
      state,
      instant(0),
      instant(0),
      instant(minute),
    );
  await add(1, 'failed', 1);
  await add(2, 'failed', 4);
  await add(3, 'failed', 3);
  await add(4, 'done', 5);
  await add(5, 'failed', 4);
  const failed = await readFailedJobs(reader, instant(3));
  expect(failed.map(({ id }) => id)).toEqual([3, 2, 5]);
  expect(failed[0]).toEqual({
    id: 3,
    organization_id: 'organization-1',
    code: 'refused',
    finished_at: instant(3),
  });
});
