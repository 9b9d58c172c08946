import { expect, test } from 'vitest';
import { PendingWrites } from '../../src/mirror/list/pending-writes.js';

function createWrite(id: string, projectId: string | null = null) {
  const insert = { key: [id], cells: [], document: `{"id":"${id}"}`, observedAt: '', replacedVersion: null };
  return { insert, projectId };
}

/** A buffer with one pending version for each of these ids. */
function createBuffer(...ids: readonly string[]): PendingWrites {
  const pending = new PendingWrites();
  for (const id of ids) pending.add(id, createWrite(id, 'project-1'));
  return pending;
}

test('a batch takes the oldest pending versions, which no longer count but are known until the commit', () => {
  const pending = createBuffer('a', 'b', 'c');
  const batch = pending.takeBatch(2);
  expect(batch.keyTexts).toEqual(['a', 'b']);
  expect(batch.inserts.map(({ key }) => key)).toEqual([['a'], ['b']]);
  expect([pending.pendingCount, pending.has('a'), pending.has('c')]).toEqual([1, true, true]);
  pending.confirmWritten(batch);
  expect([pending.pendingCount, pending.has('a'), pending.has('c')]).toEqual([1, false, true]);
  expect(pending.takeBatch(2).keyTexts).toEqual(['c']);
});

test('the length is that of the documents that are not written yet', () => {
  const pending = createBuffer('a', 'long-id');
  expect(pending.pendingLength).toBe('{"id":"a"}{"id":"long-id"}'.length);
  pending.confirmWritten(pending.takeBatch(1));
  expect(pending.pendingLength).toBe('{"id":"long-id"}'.length);
});

test('a batch names each project once, and not again after it was written', () => {
  const pending = createBuffer('a', 'b');
  pending.add('c', createWrite('c'));
  const batch = pending.takeBatch(3);
  expect(batch.projects).toEqual(['project-1']);
  pending.confirmWritten(batch);
  pending.add('d', createWrite('d', 'project-1'));
  pending.add('e', createWrite('e', 'project-2'));
  expect(pending.takeBatch(2).projects).toEqual(['project-2']);
});

test('a batch takes all repairs, whatever its limit', () => {
  const pending = createBuffer('a');
  pending.addRepair({ version: 7, cells: ['2021'] });
  expect(pending.repairCount).toBe(1);
  expect(pending.takeBatch(0)).toEqual({
    inserts: [],
    keyTexts: [],
    projects: [],
    repairs: [{ version: 7, cells: ['2021'] }],
  });
  expect([pending.repairCount, pending.pendingCount]).toEqual([0, 1]);
});

test('a cleared buffer holds no versions', () => {
  const pending = createBuffer('a', 'b');
  pending.takeBatch(1);
  pending.clear();
  expect([pending.pendingCount, pending.pendingLength, pending.has('a')]).toEqual([0, 0, false]);
});
