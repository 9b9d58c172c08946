import { expect, test } from 'vitest';
import { MIRROR_TABLES } from '../../src/engines/contract/mirror-tables.js';
import { changing } from '../support/changing.js';
import { ENGINES, type Stage } from '../support/engines.js';

type Row = Readonly<Record<string, unknown>>;

/** Numbers have gaps on either engine, and not the same ones: their order is what counts. How long a read took is chance. */
const NUMBERS = new Set(['version', 'closed_version', 'retirement_version']);
const LEFT_OUT = new Set(['read_pages', 'version_counter', 'certificate_mark', 'freshness']);
const CHANGES = 40;

const tally = new Set<string>();

test.each([1, 2, 3, 4])(
  'after the same changes both engines hold the same, rows, history and books (seed %i)',
  async seed => {
    const mirrors: unknown[] = [];
    for (const { stage } of ENGINES) {
      const scene = await stage();
      const { change } = changing(scene, seed);
      for (let time = 0; time < CHANGES; time += 1) tally.add(await change());
      mirrors.push(await contentOf(scene));
    }
    const [first, ...others] = mirrors;
    for (const other of others) expect(other).toEqual(first);
  },
);

test('those changes were of every kind', () => {
  expect([...tally].toSorted()).toEqual([
    'certificates',
    'project',
    'retirements',
    'suspend',
    'twice',
    'warehouse',
  ]);
});

async function contentOf({ db }: Stage): Promise<Record<string, Row[]>> {
  const content: Record<string, Row[]> = {};
  for (const [table, columns] of Object.entries(MIRROR_TABLES)) {
    if (LEFT_OUT.has(table)) continue;
    const kept = Object.keys(columns).filter(name => !/age_seconds|seconds_left|^freshness$/.test(name));
    content[table] = ranked(await db.rows(`SELECT ${kept.join(', ')} FROM ${table}`));
  }
  return content;
}

/** In an order of their own, with the places of their numbers among all of the table in place of these. */
function ranked(rows: readonly Row[]): Row[] {
  const numbers = rows.flatMap(row =>
    [...NUMBERS].map(name => row[name]).filter(value => typeof value === 'number'),
  );
  const places = new Map(
    [...new Set(numbers)].toSorted((a, b) => a - b).map((number, place) => [number, place]),
  );
  return rows
    .map(row =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          NUMBERS.has(name) && typeof value === 'number' ? places.get(value) : value,
        ]),
      ),
    )
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
