import { describe, expect, test } from 'vitest';
import { listChangesSince, readCurrentRows, applyChanges } from '../support/changes.js';
import { createRandomMirror } from '../support/random-mirror.js';
import { ENGINES } from '../support/mirror/open.js';
import { listSeeds } from '../support/seeds.js';
import type { Tables } from '../support/tables.js';

const STEPS = 25;
const KINDS = [
  'gone retirements',
  'gone warehouse_credits',
  'gone certificates',
  'twice',
  'project',
  'suspend',
];

interface Change {
  readonly number: number;
  readonly resource: string;
  readonly row_id: string;
  readonly change: string;
  readonly before: string | null;
  readonly after: string | null;
}

const RESOURCE = {
  warehouse_credits: 'warehouse',
  retirements: 'retirements',
  projects: 'projects',
  installations: 'installation',
} as const;

/** Checks that the view `changes` has every change once, with the value before it. */
async function checkView(db: Tables): Promise<void> {
  const viewed = await db.rows<Change>('SELECT * FROM changes ORDER BY number');
  const observed = await listChangesSince(db, 0);
  expect(viewed.map(({ number, after }) => [number, after === null])).toEqual(
    observed.map(({ number, shows }) => [number, shows === null]),
  );
  const copy = new Map<string, string>();
  for (const { resource, row_id: id, change: kind, before, after } of viewed) {
    const place = `${resource} ${id}`;
    expect([kind, before]).toEqual([getChangeKind(copy.get(place), after), copy.get(place) ?? null]);
    if (after === null) copy.delete(place);
    else copy.set(place, after);
  }
  for (const [table, resource] of Object.entries(RESOURCE))
    expect([...copy.keys()].filter(place => place.startsWith(`${resource} `)).length).toBe(
      await db.value<number>(`SELECT count(*) FROM ${table}`),
    );
}

function getChangeKind(before: string | undefined, after: string | null): string {
  if (after === null) return 'removed';
  return before === undefined ? 'added' : 'changed';
}

/** Checks that no change of a sync has a number above the sync's `changes_up_to`. */
async function checkSyncs(db: Tables): Promise<void> {
  const syncs = await db.rows<{ newest: number; changes_up_to: number | null }>(
    `SELECT max(c.number) AS newest, max(r.changes_up_to) AS changes_up_to FROM changes AS c
     JOIN syncs AS r ON r.id = c.sync_id GROUP BY r.id`,
  );
  expect(syncs.length).toBeGreaterThan(10);
  expect(syncs.filter(({ newest, changes_up_to: last }) => last === null || newest > last)).toEqual([]);
  const contradicting =
    'SELECT id FROM syncs WHERE (changes_up_to IS NULL) <> (rows_added + rows_changed + rows_removed = 0)';
  expect(await db.rows(contradicting)).toEqual([]);
}

describe.each(ENGINES)('$name', ({ stage }) => {
  const seen = new Set<string>();

  test.each(listSeeds(2, 0))(
    'P05 a reader that stores the last number gets every change once and in order, removals included, and so does the view changes (seed %i)',
    async seed => {
      const scene = await stage();
      const { change } = createRandomMirror(scene, seed);
      const copy = new Map<string, string>();
      let last = 0;
      for (let step = 0; step < STEPS; step += 1) {
        seen.add(await change());
        const changes = await listChangesSince(scene.db, last);
        const numbers = changes.map(({ number }) => number);
        expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
        for (const { place, shows } of changes) if (shows === null) seen.add(`gone ${place.split(' ')[0]}`);
        applyChanges(copy, changes);
        expect(copy).toEqual(await readCurrentRows(scene.db));
        last = numbers.at(-1) ?? last;
      }
      await checkView(scene.db);
      await checkSyncs(scene.db);
    },
  );

  test('the generated changes include every kind', () => {
    expect(KINDS.filter(kind => !seen.has(kind))).toEqual([]);
  });
});
