import { describe, expect, test } from 'vitest';
import { ENGINES, type TestMirror } from '../support/mirror/open.js';
import { amount, retirement } from '../support/mirror/rows.js';

const DAY_MS = 86_400_000;

const readRestatements = ({ db }: TestMirror) =>
  db.rows('SELECT resource, id, year, change, before, after FROM restatements ORDER BY number');

const createRetirement = (id: string, tonnes: string, createdAt: string | null) =>
  retirement(id, { amount: amount(tonnes), createdAt });

const OTHERS = ['s-1', 's-2', 's-3', 's-4', 's-5'].map(id =>
  createRetirement(id, '1', '2026-02-01T00:00:00.000Z'),
);

/** Reads these retirements beside others that stay, because a list that lacks most rows needs a second read. */
async function readWithOthers(
  { read }: TestMirror,
  some: readonly ReturnType<typeof createRetirement>[],
): Promise<void> {
  const all = [...some, ...OTHERS];
  await read('retirements', all, { limit: 10, total: all.length, findGone: async ids => ids });
}

describe.each(ENGINES)('$name', ({ stage }) => {
  test("P12 only a change or removal after the end of a retirement's year is a restatement of that year", async () => {
    const scene = await stage();
    const old = createRetirement('r-1', '5', '2025-12-31T23:59:59.999Z');
    const same = createRetirement('r-2', '6', '2026-01-01T00:00:00.000Z');
    const undated = createRetirement('r-3', '7', null);
    await readWithOthers(scene, [
      old,
      same,
      undated,
      createRetirement('r-4', '8', '2025-01-01T00:00:00.000Z'),
    ]);
    scene.clock.at += DAY_MS;
    await readWithOthers(scene, [
      createRetirement('r-1', '4.5', '2025-12-31T23:59:59.999Z'),
      createRetirement('r-2', '6.5', same.createdAt),
    ]);
    expect(await readRestatements(scene)).toEqual([
      { resource: 'retirements', id: 'r-1', year: '2025', change: 'changed', before: '5', after: '4.5' },
      { resource: 'retirements', id: 'r-4', year: '2025', change: 'removed', before: '8', after: null },
    ]);
    expect(await scene.db.column("SELECT rows FROM findings WHERE finding = 'restatements'")).toEqual([2]);
    scene.clock.at += 365 * DAY_MS;
    await readWithOthers(scene, []);
    expect((await readRestatements(scene)).slice(2)).toMatchObject([
      { id: 'r-1', year: '2025', change: 'removed', before: '4.5' },
      { id: 'r-2', year: '2026', change: 'removed', before: '6.5' },
    ]);
  });

  const PROJECT = { id: 'project-1', fullName: 'Peat bog' };
  const LAST_YEAR = { createdAt: '2025-06-01T00:00:00.000Z', comment: null, project: PROJECT };

  test.each([
    ['a renamed project', { project: { ...PROJECT, fullName: 'Peat bog of the north' } }, 0],
    ['a document with another field', { document: '{"colour":"green"}' }, 0],
    ['another project', { project: { ...PROJECT, id: 'project-2' } }, 1],
    ['another beneficiary', { beneficiary: 'Somebody Else' }, 1],
    ['a first comment', { comment: 'corrected' }, 1],
    ['a claim that was taken back', { isClaimed: false }, 1],
    ['another vintage', { vintage: '2020' }, 1],
    ['another serialization', { serialization: 'ICR-ISL-354-1-14-R-0-2020' }, 1],
    ['another reason', { reason: 'Compliance' }, 1],
    ['another date', { createdAt: '2025-07-01T00:00:00.000Z' }, 1],
  ])(
    '%s, seen after the year of the retirement, makes the expected number of restatements',
    async (_what, change, count) => {
      const scene = await stage();
      for (const more of [{}, change, {}]) {
        await readWithOthers(scene, [retirement('r-1', { ...LAST_YEAR, ...more })]);
        scene.clock.at += DAY_MS;
      }
      expect(await scene.db.value('SELECT count(*) FROM changes WHERE changed_columns IS NOT NULL')).toBe(2);
      expect(await readRestatements(scene)).toHaveLength(2 * count);
    },
  );
});
