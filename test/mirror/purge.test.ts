import { expect, test } from 'vitest';
import { createMirror } from '../../src/mirror/create-mirror.js';
import { retirements } from '../support/mirror/rows.js';
import { openMirror } from '../support/mirror/open.js';

test('a purge has taken out its rows slice by slice before its end, which holds all others up', async () => {
  const { port, pdfs, clock, db, read } = await openMirror();
  await read('retirements', retirements(2_000));
  const rows = () => db.value<number>('SELECT count(*) FROM retirements_history');
  let left = await rows();
  const slow = {
    ...port,
    endPurge: async (...given: Parameters<typeof port.endPurge>) => {
      left = await rows();
      return port.endPurge(...given);
    },
  };
  await createMirror(slow, () => clock.at).purge({
    organizationId: 'organization-1',
    takeClaim: async () => 2,
    pdfs: pdfs(1_000),
  });
  expect(left).toBe(0);
});
