import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/folder.js';
import { killReceiver } from '../support/kill-receiver.js';

const LOAD = { connections: 32, answeredPerLife: 150 };

test('T61 a killed receiver loses no delivery that it had answered, and leaves nothing half-written', async () => {
  const result = await killReceiver({ folder: temporaryFolder(), kills: 3, ...LOAD });
  expect(result).toMatchObject({ kills: 3, killsUnderLoad: 3, lost: 0, halfWritten: 0 });
  expect(result.acknowledged).toBeGreaterThanOrEqual(450);
});

test('control: a receiver that answers before the commit loses answered deliveries when it is killed', async () => {
  const result = await killReceiver({ folder: temporaryFolder(), kills: 3, mutant: 'answer-first', ...LOAD });
  expect(result.lost).toBeGreaterThan(0);
});
