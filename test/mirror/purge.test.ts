import { expect, test } from 'vitest';
import { createMirror } from '../../src/mirror/create-mirror.js';
import { retirements } from '../support/mirror/rows.js';
import { openMirror } from '../support/mirror/open.js';

test('a purge removes rows in small batches before its last transaction, which blocks other writers', async () => {
  const { port, pdfs, clock, db, read } = await openMirror();
  await read('retirements', retirements(2_000));
  const rows = () => db.value<number>('SELECT count(*) FROM retirements_history');
  let rowsLeft = await rows();
  const observedPort = {
    ...port,
    endPurge: async (...parameters: Parameters<typeof port.endPurge>) => {
      rowsLeft = await rows();
      return port.endPurge(...parameters);
    },
  };
  await createMirror(observedPort, () => clock.at).purge({
    organizationId: 'organization-1',
    acquireClaim: async () => 2,
    pdfs: pdfs(1_000),
  });
  expect(rowsLeft).toBe(0);
});
