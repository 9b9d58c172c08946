import { expect, test } from 'vitest';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import { SQLITE } from '../../../src/store/dialect.js';
import { createEvidencePort, type EvidenceStore } from '../../../src/store/evidence.js';
import { openMirror } from '../../support/mirror/open.js';

test('changes are found by their numbers, without scanning a whole list or its history', async () => {
  const { db } = await openMirror();
  const plan: string[] = [];
  const mirror = async (sql: string) => {
    const given = sql.replaceAll(/\$\d/g, "'[[5]]'");
    const steps = await db.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${given}`);
    plan.push(...steps.map(({ detail }) => detail));
    return [];
  };
  const nothing = async () => [];
  const store: EvidenceStore = {
    dialect: SQLITE,
    mirror,
    log: nothing,
    insert: async () => undefined,
    close: async () => undefined,
  };
  const port = createEvidencePort(store);
  await port.facts('change', 1, 5);
  for (const { resource } of RESOURCES) await port.versions(resource, [5]);
  const tables = ['p', ...RESOURCES.map(({ table }) => table)];
  expect(plan.filter(step => tables.some(table => step.startsWith(`SEARCH ${table} `))).length).toBe(
    6 * RESOURCES.length,
  );
  const isLong = (step: string) => tables.some(table => step.startsWith(`SCAN ${table}`));
  expect(plan.filter(step => isLong(step) || step.includes('past_by_key'))).toEqual([]);
});
