import { expect, test } from 'vitest';
import { createSealedReads } from '../../src/store/evidence-log/sealed-reads.js';
import type { EvidenceDatabase } from '../../src/store/evidence-log/evidence-database.js';

/** Creates a log that returns these rows for every query, in this order. */
function createLog(rows: readonly object[]): EvidenceDatabase;
function createLog(rows: readonly object[]): object {
  return { runOnLog: () => Promise.resolve([rows]) };
}

test('T93 sealed reads are sorted by resource, in whatever order the database joins them', async () => {
  const rows = ['retirements', 'addresses', 'members'].map((resource, place) => ({
    resource,
    place,
    read_at: '2026-05-04T12:00:00.000Z',
    failed: 0,
  }));
  const { listSealedReads: reads } = createSealedReads(createLog(rows));
  const resources = (await reads('organization-1', 10)).map(({ resource }) => resource);
  expect(resources).toEqual(['addresses', 'members', 'retirements']);
});
