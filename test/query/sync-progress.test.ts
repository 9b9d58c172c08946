import { expect, test } from 'vitest';
import { isAnyJobRunning, readFollowed, readWatermark, readSynced } from '../../src/query/sync-progress.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { credit } from '../support/mirror/rows.js';

const MINUTE = 60_000;
const job = (key: string, more: object = {}) => ({
  kind: 'installation',
  dedupeKey: key,
  trigger: 'person',
  installationId: `installation-${key}`,
  ...more,
});

test('a watermark contains the last job, the last sync and the time', async () => {
  const { reader, inbox, clock, tables } = await openFilledMirror({ organizations: 1 });
  const sync = Number(await tables.value('SELECT max(id) FROM syncs'));
  expect(await readWatermark(reader, clock.at)).toEqual({
    job: 0,
    sync,
    at: new Date(clock.at).toISOString(),
  });
  const [id] = await inbox.enqueue([job('1')]);
  expect((await readWatermark(reader, clock.at)).job).toBe(id);
});

test('a watermark of a mirror without jobs and syncs precedes the first of both', async () => {
  const { reader, clock, db } = await openFilledMirror({ organizations: 0 });
  await db.change('DELETE FROM syncs');
  expect(await readWatermark(reader, clock.at)).toMatchObject({ job: 0, sync: 0 });
});

test('requested jobs are followed, and the jobs they cause too unless one organization was named', async () => {
  const { reader, inbox, clock } = await openFilledMirror({ organizations: 1 });
  await inbox.enqueue([job('9')]);
  const watermark = await readWatermark(reader, clock.at);
  const [asked = 0] = await inbox.enqueue([job('1')]);
  const [found = 0] = await inbox.enqueue([job('2', { trigger: 'schedule' })]);
  const followed = async (organizationId: string | null, jobs = [asked]) =>
    (await readFollowed(reader, { watermark, jobs, organizationId }, clock.at)).map(({ id }) => id);
  expect(await followed(null)).toEqual([asked, found]);
  expect(await followed(null, [asked, found])).toEqual([asked, found]);
  expect(await followed('organization-1')).toEqual([asked]);
});

test('of a requested job that was merged into another one, the other one is followed', async () => {
  const { reader, inbox, clock, tables } = await openFilledMirror({ organizations: 1 });
  const [other = 0, requested = 0] = await inbox.enqueue([job('1'), job('2')]);
  await tables.change(
    `UPDATE inbox.jobs SET state = 'done', outcome = 'merged', finished_at = run_at,
      merged_into = ${other} WHERE id = ${requested}`,
  );
  const watermark = await readWatermark(reader, clock.at);
  const followed = await readFollowed(
    reader,
    { watermark, jobs: [requested], organizationId: 'organization-1' },
    clock.at,
  );
  expect(followed.map(({ id }) => id)).toEqual([other]);
});

test('a worker counts as busy until its lease expires', async () => {
  const { reader, inbox, clock } = await openFilledMirror({ organizations: 1 });
  expect(await isAnyJobRunning(reader, clock.at)).toBe(false);
  await inbox.enqueue([job('1')]);
  await inbox.claim({ parts: [{ part: 'data', slots: 1 }], leaseMs: MINUTE });
  expect(await isAnyJobRunning(reader, clock.at + MINUTE - 1)).toBe(true);
  expect(await isAnyJobRunning(reader, clock.at + MINUTE)).toBe(false);
});

test('the results of a resource are summed since the watermark, and unread resources are reported as such', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 2 });
  clock.at += 1_000;
  const watermark = await readWatermark(reader, clock.at);
  const all = { watermark, jobs: [], organizationId: null };
  clock.at += 1_000;
  await read('warehouse', [credit('c-1-0'), credit('c-9')]);
  await read('warehouse', [credit('c-1-0'), credit('c-9')]);
  await read('warehouse', [credit('c-9', { vintage: '2023' })], { findGone: async ids => ids });
  expect(await readSynced(reader, all, ['warehouse'])).toMatchObject([
    {
      organization: 'Organization 1',
      state: 'fresh',
      added: 1,
      changed: 2,
      removed: 1,
      unchanged: 2,
      refused: false,
    },
    { organization: 'Organization 2', state: 'not_read', added: 0, unchanged: 0 },
  ]);
  const own = await readSynced(reader, { ...all, organizationId: 'organization-2' }, ['warehouse']);
  expect(own.map(({ organization }) => organization)).toEqual(['Organization 2']);
});

test('a list that was refused, and a remark about a complete read, are told apart from a failure', async () => {
  const { reader, read, clock, db } = await openFilledMirror({ organizations: 1 });
  const watermark = await readWatermark(reader, clock.at);
  clock.at += 1_000;
  await read('warehouse', [credit('c-1-0')]);
  const request = { watermark, jobs: [], organizationId: 'organization-1' };
  const resultWith = async (change: string) => {
    await db.change(`UPDATE resource_states SET ${change} WHERE resource = 'warehouse'`);
    const [result] = await readSynced(reader, request, ['warehouse']);
    return [result?.noted, result?.refused, result?.state];
  };
  expect(await resultWith('error = NULL')).toEqual([false, false, 'fresh']);
  expect(await resultWith("error = 'a row was restored', error_code = 'mended'")).toEqual([
    true,
    false,
    'fresh',
  ]);
  expect(await resultWith("attempted_at = '2020-01-01T00:00:00.000Z'")).toEqual([false, false, 'not_read']);
  expect(await resultWith('no_permission_at = as_of')).toEqual([false, false, 'no_access']);
  expect(await resultWith("error_code = 'forbidden'")).toEqual([false, true, 'no_access']);
});

test('an uninstalled organization is left out unless it was named', async () => {
  const { reader, db, clock } = await openFilledMirror({ organizations: 2 });
  await db.change("UPDATE installations SET state = 'uninstalled' WHERE id = 'installation-2'");
  const watermark = await readWatermark(reader, clock.at);
  const names = async (organizationId: string | null) =>
    (await readSynced(reader, { watermark, jobs: [], organizationId }, ['warehouse'])).map(
      each => each.organization,
    );
  expect(await names(null)).toEqual(['Organization 1']);
  expect(await names('organization-2')).toEqual(['Organization 2']);
});
