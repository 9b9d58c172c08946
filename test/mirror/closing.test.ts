import { describe, expect, test } from 'vitest';
import { judge } from '../../src/mirror/list/closing.js';

describe('what becomes of missing rows', () => {
  const evidence = {
    missing: 5,
    before: 100,
    seen: 95,
    isSnapshot: false,
    isQuiet: false,
    endsByNature: false,
    asked: 0,
    alive: 0,
    doubtedForMs: null,
  };
  test.each([
    ['one answer that cannot have shifted closes them', { isSnapshot: true }, 'close'],
    ['a list that moved closes nothing', {}, 'keep'],
    ['a list that stands as it stood closes them', { isQuiet: true }, 'close'],
    ['all of them were asked for', { asked: 5, alive: 2 }, 'close'],
    [
      'more than were asked for, one of them alive',
      { missing: 51, before: 200, asked: 50, alive: 1, isSnapshot: true },
      'keep',
    ],
    ['all of three, and another came', { missing: 3, before: 3, seen: 1, isSnapshot: true }, 'close'],
    ['three of four', { missing: 3, before: 4, seen: 1, isSnapshot: true }, 'doubt'],
    [
      'all of what ends by nature',
      { missing: 9, before: 9, seen: 0, isSnapshot: true, endsByNature: true },
      'close',
    ],
    ['one of one: nothing is left', { missing: 1, before: 1, seen: 0, isSnapshot: true }, 'doubt'],
    [
      'one of one again, a minute later',
      { missing: 1, before: 1, seen: 0, doubtedForMs: 60_000 },
      'close_doubted',
    ],
    ['twenty of forty is half', { missing: 20, before: 40, isSnapshot: true }, 'close'],
    ['twenty-one of forty', { missing: 21, before: 40, isSnapshot: true }, 'doubt'],
    ['the second read is too early', { missing: 21, before: 40, doubtedForMs: 59_999 }, 'wait'],
    ['the second read agrees', { missing: 21, before: 40, doubtedForMs: 60_000 }, 'close_doubted'],
    ['one of them is alive', { missing: 21, before: 40, doubtedForMs: 60_000, asked: 21, alive: 1 }, 'doubt'],
  ] as const)('%s', (_, given, verdict) => {
    expect(judge({ ...evidence, ...given })).toBe(verdict);
  });
});
