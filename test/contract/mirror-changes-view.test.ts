import { describe, expect, test } from 'vitest';
import { createRandomMirror } from '../support/random-mirror.js';
import { listChangesSince } from '../support/changes.js';
import { ENGINES } from '../support/mirror/open.js';
import { listSeeds } from '../support/seeds.js';

const STEPS = 25;
const AS_OF = ['warehouse_credits', 'retirements', 'projects', 'installations'] as const;

interface Change {
  readonly number: number;
  readonly resource: string;
  readonly row_id: string;
  readonly change: string;
  readonly observed_at: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly sync_id: number;
}

const RESOURCE = {
  warehouse_credits: 'warehouse',
  retirements: 'retirements',
  projects: 'projects',
  installations: 'installation',
};

describe.each(ENGINES)('$name', ({ stage }) => {
  test.each(listSeeds(2, 0))(
    'the view changes shows every change once, with the previous values (seed %i)',
    async seed => {
      const scene = await stage();
      const { change } = createRandomMirror(scene, seed);
      for (let step = 0; step < STEPS; step += 1) await change();
      const seen = await scene.db.rows<Change>('SELECT * FROM changes ORDER BY number');
      const told = await listChangesSince(scene.db, 0);
      expect(seen.map(({ number, after }) => [number, after === null])).toEqual(
        told.map(({ number, shows }) => [number, shows === null]),
      );
      const copy = new Map<string, string>();
      for (const { resource, row_id: id, change: kind, before, after } of seen) {
        const place = `${resource} ${id}`;
        expect([kind, before]).toEqual([getChangeKind(copy.get(place), after), copy.get(place) ?? null]);
        if (after === null) copy.delete(place);
        else copy.set(place, after);
      }
      for (const table of AS_OF) {
        const rows = await scene.db.column<number>(`SELECT count(*) FROM ${table}`);
        expect([...copy.keys()].filter(place => place.startsWith(`${RESOURCE[table]} `)).length).toBe(
          rows[0],
        );
      }
    },
  );

  test("no change of a sync has a number above the sync's changes_up_to", async () => {
    const scene = await stage();
    const { change } = createRandomMirror(scene, 4);
    for (let step = 0; step < STEPS; step += 1) await change();
    const syncs = await scene.db.rows<{ newest: number; changes_up_to: number | null }>(
      `SELECT max(c.number) AS newest, max(r.changes_up_to) AS changes_up_to FROM changes AS c
       JOIN syncs AS r ON r.id = c.sync_id GROUP BY r.id`,
    );
    expect(syncs.length).toBeGreaterThan(10);
    expect(syncs.filter(({ newest, changes_up_to: last }) => last === null || newest > last)).toEqual([]);
    expect(
      await scene.db.rows(
        'SELECT id FROM syncs WHERE (changes_up_to IS NULL) <> (rows_added + rows_changed + rows_removed = 0)',
      ),
    ).toEqual([]);
  });
});

function getChangeKind(before: string | undefined, after: string | null): string {
  if (after === null) return 'removed';
  return before === undefined ? 'added' : 'changed';
}
