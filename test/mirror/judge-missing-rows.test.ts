import { describe, expect, test } from 'vitest';
import { judgeMissingRows } from '../../src/mirror/list/missing-rows.js';

describe('the verdict on missing rows', () => {
  const evidence = {
    missing: 5,
    rowsBefore: 100,
    rowsSeen: 95,
    isSingleAnswer: false,
    isUnchanged: false,
    expiresByItself: false,
    lookedUp: 0,
    stillExisting: 0,
    unconfirmedForMs: null,
  };
  test.each([
    ['is to remove rows missing from a single answer', { isSingleAnswer: true }, 'remove'],
    ['is to read a list that changed during the read again', {}, 'read_again'],
    ['is to remove rows missing from an unchanged list', { isUnchanged: true }, 'remove'],
    ['is to remove if every missing row was looked up', { lookedUp: 5, stillExisting: 2 }, 'remove'],
    [
      'is to read again if not every row was looked up and one still exists',
      { missing: 51, rowsBefore: 200, lookedUp: 50, stillExisting: 1, isSingleAnswer: true },
      'read_again',
    ],
    [
      'is to remove all rows of a list of three if a new row came',
      { missing: 3, rowsBefore: 3, rowsSeen: 1, isSingleAnswer: true },
      'remove',
    ],
    [
      'is doubt if three of four rows are missing',
      { missing: 3, rowsBefore: 4, rowsSeen: 1, isSingleAnswer: true },
      'unconfirmed',
    ],
    [
      'is to remove all rows of a list whose rows expire by themselves',
      { missing: 9, rowsBefore: 9, rowsSeen: 0, isSingleAnswer: true, expiresByItself: true },
      'remove',
    ],
    [
      'is doubt if the only row is missing',
      { missing: 1, rowsBefore: 1, rowsSeen: 0, isSingleAnswer: true },
      'unconfirmed',
    ],
    [
      'is to remove the only row if it is still missing a minute later',
      { missing: 1, rowsBefore: 1, rowsSeen: 0, unconfirmedForMs: 60_000 },
      'remove_confirmed',
    ],
    [
      'is to remove if exactly half of the rows are missing',
      { missing: 20, rowsBefore: 40, isSingleAnswer: true },
      'remove',
    ],
    [
      'is doubt if more than half of the rows are missing',
      { missing: 21, rowsBefore: 40, isSingleAnswer: true },
      'unconfirmed',
    ],
    [
      'is to wait if the second read comes within a minute',
      { missing: 21, rowsBefore: 40, unconfirmedForMs: 59_999 },
      'wait',
    ],
    [
      'is to remove if a second read agrees after a minute',
      { missing: 21, rowsBefore: 40, unconfirmedForMs: 60_000 },
      'remove_confirmed',
    ],
    [
      'is doubt if one of the missing rows still exists',
      { missing: 21, rowsBefore: 40, unconfirmedForMs: 60_000, lookedUp: 21, stillExisting: 1 },
      'unconfirmed',
    ],
  ] as const)('%s', (_, overrides, verdict) => {
    expect(judgeMissingRows({ ...evidence, ...overrides })).toBe(verdict);
  });
});
