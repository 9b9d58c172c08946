import { expect, test } from 'vitest';
import { createHistoryClock } from '../../src/cli/commands/demo/demo-history.js';

test.each([
  ['2027-01-05T10:00:00Z', '2025-12-01'],
  ['2027-03-31T10:00:00Z', '2025-12-01'],
  ['2027-04-02T10:00:00Z', '2026-12-01'],
  ['2028-12-31T23:59:59Z', '2027-12-01'],
])('the history of a demo created at %s begins on %s', (now, firstDay) => {
  const clock = createHistoryClock(() => Date.parse(now));
  expect(new Date(clock.now()).toISOString().slice(0, 10)).toBe(firstDay);
  clock.setPosition(0);
  expect(new Date(clock.now()).toISOString()).toMatch(/-01-01T00:00:00\.000Z$/);
  clock.setPresent();
  expect(clock.now()).toBe(Date.parse(now));
});
