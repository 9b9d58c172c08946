import { expect, test } from 'vitest';
import { createMirror } from '../../src/mirror/create-mirror.js';
import { MirrorError } from '../../src/mirror/mirror-error.js';
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

test('a purge flushes the removal of its files before it removes the rows by which it finds them', async () => {
  const { port, pdfs, clock, read } = await openMirror();
  await read('retirements', retirements(3));
  const steps: string[] = [];
  const observedPort = {
    ...port,
    removeRows: async (...parameters: Parameters<typeof port.removeRows>) => {
      const [scope] = parameters;
      steps.push(scope === 'members' ? scope : scope.kind);
      return port.removeRows(...parameters);
    },
  };
  const files = { ...pdfs(1_000), flush: async () => void steps.push('flush') };
  await createMirror(observedPort, () => clock.at).purge({
    organizationId: 'organization-1',
    acquireClaim: async () => 2,
    pdfs: files,
  });
  expect(steps.indexOf('flush')).toBe(steps.indexOf('lists') - 1);
});

test('a purge takes a new claim when a newer one has written, and reports any other refusal', async () => {
  const { port, pdfs, clock } = await openMirror();
  let claim = 10;
  const purgeAfter = async (code: 'fenced' | 'foreign_registry') => {
    const errors = [new MirrorError(code, code)];
    const endPurge: typeof port.endPurge = async (...parameters) => {
      const error = errors.pop();
      if (error !== undefined) throw error;
      return port.endPurge(...parameters);
    };
    await createMirror({ ...port, endPurge }, () => clock.at).purge({
      organizationId: 'organization-1',
      acquireClaim: async () => (claim += 1),
      pdfs: pdfs(1_000),
    });
  };
  await purgeAfter('fenced');
  expect(claim).toBe(13);
  await expect(purgeAfter('foreign_registry')).rejects.toMatchObject({ code: 'foreign_registry' });
});
