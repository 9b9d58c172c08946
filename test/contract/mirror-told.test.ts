import { describe, expect, test } from 'vitest';
import type { Reader } from '../../src/engines/contract/reader.js';
import { readOpenings } from '../../src/query/past/balance.js';
import { readChanges, readTold } from '../../src/query/past/changes.js';
import { Sums } from '../../src/text/change-sums.js';
import { type Change, lineOf, parseChange, type Said } from '../../src/text/change.js';
import { ENTRY_OF } from '../../src/resources/resources.js';
import { changing } from '../support/changing.js';
import { ENGINES } from '../support/engines.js';
import { fillOddly } from '../support/odd-rows.js';
import { seeds } from '../support/seeds.js';

const STEPS = 25;
const ALL = { organizationId: null, resource: null, since: null, until: null };

describe.each(ENGINES)('$name', ({ library }) => {
  test.each(seeds(2, 0))(
    'what is read for sentences makes the same sentences and the same sums as the view (seed %i)',
    async seed => {
      const { stage, reader } = await library();
      const { change } = changing(stage, seed);
      for (let step = 0; step < STEPS; step += 1) await change();
      expect(new Set((await compare(reader)).map(({ change: kind }) => kind)).size).toBe(3);
    },
  );

  test('so it does of every resource, with odd texts and amounts in it', async () => {
    const { stage, reader } = await library();
    await fillOddly(stage);
    const seen = new Set((await compare(reader)).map(({ resource }) => resource));
    expect([...Object.keys(ENTRY_OF), 'installation'].filter(resource => !seen.has(resource))).toEqual([]);
  });
});

/** Answers the whole changes. */
async function compare(reader: Reader): Promise<Change[]> {
  const whole: Change[] = [];
  for await (const row of readChanges(reader, ALL)) whole.push(parseChange(row));
  const told: Said[] = [];
  for await (const group of readTold(reader, ALL)) told.push(...group);
  expect(told.map(lineOf)).toEqual(whole.map(lineOf));
  const openings = await readOpenings(reader);
  expect(summed(openings, told)).toEqual(summed(openings, whole));
  expect(told.map(beside)).toEqual(whole.map(beside));
  return whole;
}

function summed(openings: ReadonlyMap<string, string>, changes: readonly Said[]): string[] {
  const sums = new Sums(openings);
  for (const change of changes) sums.add(change);
  return sums.lines();
}

function beside({ resource, id, change, learnt_at, before, after, changed_columns }: Said) {
  return { resource, id, change, learnt_at, before: before === null, after: after === null, changed_columns };
}
