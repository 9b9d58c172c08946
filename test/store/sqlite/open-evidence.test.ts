import { expect, test } from 'vitest';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import { createEvidencePort } from '../../../src/store/evidence-log/create-evidence-port.js';
import { createBatch } from '../../../src/store/sqlite/database.js';
import { openMirror } from '../../support/mirror/open.js';

test('changes are found by their numbers, without scanning a whole list or its history', async () => {
  const { db } = await openMirror();
  const plan: string[] = [];
  const readMirror = createBatch(async all => {
    for (const bound of all) {
      if (bound === null) continue;
      const steps = await db.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${bound.text}`, ...bound.values);
      plan.push(...steps.map(({ detail }) => detail));
    }
    return all.map(() => []);
  });
  const nothing = createBatch(all => all.map(() => []));
  const port = createEvidencePort({
    readMirror,
    runOnLog: nothing,
    commitToLog: nothing,
    close: async () => undefined,
  });
  await port.listNumberedInputs('change', 1, 5);
  for (const { resource } of RESOURCES) await port.listChangesByNumber(resource, [5]);
  const tables = ['p', ...RESOURCES.map(({ table }) => table)];
  expect(plan.filter(step => tables.some(table => step.startsWith(`SEARCH ${table} `))).length).toBe(
    6 * RESOURCES.length,
  );
  const isLong = (step: string) => tables.some(table => step.startsWith(`SCAN ${table}`));
  expect(plan.filter(step => isLong(step) || step.includes('past_by_key'))).toEqual([]);
});
