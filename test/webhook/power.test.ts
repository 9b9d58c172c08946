import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/folder.js';
import { canCutPower, cutPower } from '../support/power-cut.js';

const LOAD = { cuts: 2, connections: 16, answeredPerLife: 60 };

test.runIf(canCutPower())('T62 a power cut loses no delivery that was answered', async () => {
  const result = await cutPower({ folder: temporaryFolder(), ...LOAD });
  expect(result).toMatchObject({ lost: 0, halfWritten: 0, cutsThatLost: 0 });
  expect(result.acknowledged).toBeGreaterThanOrEqual(120);
});

test.runIf(canCutPower())(
  'control: a receiver that does not flush each commit loses answered deliveries in a power cut',
  async () => {
    const result = await cutPower({ folder: temporaryFolder(), mutant: 'unflushed', ...LOAD });
    expect(result.lost).toBeGreaterThan(0);
  },
);
