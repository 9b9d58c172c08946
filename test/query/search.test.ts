import { expect, test } from 'vitest';
import { findNumbered, search, SEARCHED_ROWS } from '../../src/query/search.js';
import { acceptedDelivery } from '../support/inbox.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { credit, organization, retirement } from '../support/mirror/rows.js';

const hitsOf = async (reader: Parameters<typeof search>[0], text: string) =>
  (await search(reader, text)).map(({ list, column, rows }) => [list.name, column, rows.length]);

test('a row is found by the beginning of its id, in every list', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  expect(await hitsOf(reader, 'r-2-')).toEqual([['retirements', 'id', 2]]);
  expect(await hitsOf(reader, 'organization-2')).toEqual([['organizations', 'id', 1]]);
  expect(await hitsOf(reader, 'tion-2')).toEqual([]);
});

test('a text is found in any part of a name, in any letter case', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  expect(await hitsOf(reader, 'harbour F')).toEqual([['retirements', 'beneficiary', 3]]);
  expect(await hitsOf(reader, 'eat bo')).toEqual([
    ['warehouse', 'project_name', 3],
    ['retirements', 'project_name', 3],
  ]);
});

test('a text is found in each column that is searched, also in the errors of jobs and syncs', async () => {
  const { reader, read, tables } = await openFilledMirror({ organizations: 0 });
  const project = { id: 'p-1', fullName: 'Needle project' };
  const serialization = 'ICR-NEEDLE-1';
  const named = { beneficiary: 'A needle', comment: 'No needles', serialization, project };
  await read('retirements', [retirement('r-1', named)]);
  await read('warehouse', [credit('c-1', { serialization, project })]);
  await read('inventory', [credit('c-2', { serialization, project })]);
  await read('organization', [organization('organization-1', { fullName: 'Needle & Co' })]);
  await tables.change(
    `INSERT INTO projects (version, id, full_name, valid_from, sync_id, document)
     VALUES (900, 'p-1', 'Needle project', '2026-01-01T00:00:00.000Z', 1, '{}')`,
  );
  await tables.change(
    `INSERT INTO inbox.jobs (kind, dedupe_key, trigger, state, run_at, created_at, last_error)
     VALUES ('installation', 'k', 'person', 'waiting', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'a needle')`,
  );
  await tables.change("UPDATE syncs SET error = 'needle' WHERE resource = 'warehouse'");
  const found = (await hitsOf(reader, 'needle')).map(([list, column]) => `${list} ${column}`);
  expect(found.toSorted()).toEqual([
    'inventory project_name',
    'inventory serialization',
    'jobs last_error',
    'organizations full_name',
    'projects full_name',
    'retirements beneficiary',
    'retirements comment',
    'retirements project_name',
    'retirements serialization',
    'syncs error',
    'warehouse project_name',
    'warehouse serialization',
  ]);
  const [hit] = (await search(reader, 'A needle')).filter(({ list }) => list.name === 'retirements');
  expect(hit?.rows).toEqual([
    {
      id: 'r-1',
      created_at: '2026-03-01T10:00:00.000Z',
      beneficiary: 'A needle',
      version: expect.any(Number),
      amount_exact: '12.5',
      project_name: 'Needle project',
      vintage: '2021',
      organization_id: 'organization-1',
    },
  ]);
});

test('at most ten rows are found per column, newest first', async () => {
  const { reader, read } = await openFilledMirror({ organizations: 1 });
  const items = Array.from({ length: 12 }, (_, n) =>
    credit(`c-${n}`, { project: { id: 'p', fullName: 'Cove' } }),
  );
  await read('warehouse', items, { findGone: async ids => ids });
  const [hits] = await search(reader, 'Cove');
  expect(hits?.rows).toHaveLength(10);
  expect(hits?.rows[0]).toMatchObject({ credit_id: 'c-11' });
});

test('an error is found among the newest syncs only', async () => {
  const { reader, db } = await openFilledMirror({ organizations: 1 });
  const insertSyncs = (count: number, error: string) =>
    db.change(
      `INSERT INTO syncs (organization_id, resource, trigger, claim, started_at, finished_at, state, error)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
       SELECT 'organization-1', 'warehouse', 'schedule', 1, '2026-11-01T00:00:00Z', '2026-11-01T00:00:01Z', 'failed', ${error} FROM n`,
    );
  await insertSyncs(12, "'Answered 503'");
  expect(await hitsOf(reader, 'answered 5')).toEqual([['syncs', 'error', 10]]);
  await insertSyncs(SEARCHED_ROWS - 1, 'NULL');
  expect(await hitsOf(reader, 'answered 5')).toEqual([['syncs', 'error', 1]]);
  await insertSyncs(1, 'NULL');
  expect(await hitsOf(reader, 'answered 5')).toEqual([]);
});

test('a number finds the deliveries, jobs and syncs with that id', async () => {
  const { reader, inbox } = await openFilledMirror({ organizations: 1 });
  const namesOf = async (number: number) => (await findNumbered(reader, number)).map(({ name }) => name);
  expect(await namesOf(1)).toEqual(['syncs']);
  const { receivedAt: _, ...delivery } = acceptedDelivery();
  await inbox.store([{ ...delivery, receivedMsAgo: 0 }]);
  expect(await namesOf(1)).toEqual(['deliveries', 'jobs', 'syncs']);
  expect(await namesOf(9_999)).toEqual([]);
});
