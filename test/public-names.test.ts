import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type PublicNames, readPublicNames } from './support/public-names.js';

const ROOT = join(import.meta.dirname, '..');
const KINDS = ['tables', 'commands', 'exports'] as const;
const LISTS = ['settings', 'metrics'] as const;

/** As they stood before the mirror had an engine of its own. Names are only added: people's queries, scripts and alerts go on. */
const before: PublicNames = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures/public-names.json'), 'utf8'),
);

describe('every name that people and programs use is still there', () => {
  let now: PublicNames;

  beforeAll(async () => {
    now = await readPublicNames(ROOT);
  });

  test.each(LISTS)('%s', kind => {
    expect(before[kind].length).toBeGreaterThan(0);
    expect(before[kind].filter(name => !now[kind].includes(name))).toEqual([]);
  });

  test.each(KINDS)('%s, and what each of them has', kind => {
    const gone = Object.entries(before[kind]).flatMap(([name, parts]) => {
      const there = now[kind][name];
      return there === undefined
        ? [name]
        : parts.filter(part => !there.includes(part)).map(part => `${name} ${part}`);
    });
    expect(Object.keys(before[kind]).length).toBeGreaterThan(0);
    expect(gone).toEqual([]);
  });
});
