import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findConsistencyFaults } from '../../src/store/sqlite/find-consistency-faults.js';
import { openTestInbox, temporaryInbox } from '../support/inbox.js';
import { BOTH_ENGINES, type TestMirror } from '../support/mirror/open.js';
import { openTablesOfFile } from '../support/tables.js';
import { TABLES } from '../../src/store/contract/tables.js';
import { ENTRIES } from '../../src/resources/resources.js';
import { createRandomMirror } from '../support/random-mirror.js';
import { listSeeds } from '../support/seeds.js';

type Row = Readonly<Record<string, unknown>>;

/** Columns that differ by engine: numbers have different gaps, so only their order counts, and durations are random. */
const NUMBERS = new Set(['version', 'closed_version', 'retirement_version', 'number', 'changes_up_to']);
const LEFT_OUT = new Set(['version_counter', 'certificate_mark', 'freshness']);
/** Tables that are not compared: certificate files, and tables that only one engine has. */
const NOT_COPIED = new Set(['certificate_files', 'schema_migrations', 'sqlite_sequence']);
/** Former rows are compared by their views, because each engine writes their JSON differently. */
const PAST = Object.keys(TABLES['past'] ?? {})
  .filter(name => name !== 'cells')
  .join(', ');
const CHANGES = 40;

const tally = new Set<string>();

test.each(listSeeds(2))(
  'P07 after the same changes both engines have the same rows, history and bookkeeping (seed %i)',
  async seed => {
    const mirrors: unknown[] = [];
    for (const { stage } of BOTH_ENGINES) {
      const scene = await stage();
      const { change } = createRandomMirror(scene, seed);
      for (let time = 0; time < CHANGES; time += 1) tally.add(await change());
      mirrors.push(await readContent(scene));
    }
    const [first, ...others] = mirrors;
    for (const other of others) expect(other).toEqual(first);
  },
);

test.each(BOTH_ENGINES)(
  'a snapshot of $name is one private file with every row of the mirror and its constraints',
  async engine => {
    const scene = await engine.stage();
    const { change } = createRandomMirror(scene, 5);
    for (let time = 0; time < CHANGES; time += 1) await change();
    const inbox = temporaryInbox(scene.folder);
    await openTestInbox(inbox).at(0).raiseClaims(100);
    const before = await readAllRows(scene.db);

    const file = join(scene.folder, 'copy.db');
    expect(await scene.snapshot(file)).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(scene.folder).filter(name => name.startsWith('copy.db'))).toEqual(['copy.db']);
    expect(await readAllRows(openTablesOfFile(file))).toEqual(before);
    const files = { mirrorFile: file, inboxFile: join(scene.folder, 'inbox.db') };
    expect(await findConsistencyFaults(files, scene.clock.at)).toEqual([]);
    expect(await scene.snapshot(file)).toBe(false);
  },
);

test('the generated changes include every kind', () => {
  expect([...tally].toSorted()).toEqual([
    'certificates',
    'project',
    'retirements',
    'suspend',
    'twice',
    'warehouse',
  ]);
});

/** Reads every cell of every table in a fixed order; former rows as the views show them. */
async function readAllRows(db: TestMirror['db']): Promise<Record<string, Row[]>> {
  const content: Record<string, Row[]> = {};
  const views = ['changes', ...ENTRIES.map(({ table }) => `${table}_history`)];
  for (const table of [...(await db.tables()), ...views].toSorted()) {
    if (NOT_COPIED.has(table)) continue;
    const rows = await db.rows<Row>(`SELECT ${table === 'past' ? PAST : '*'} FROM ${table}`);
    content[table] = rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  return content;
}

async function readContent({ db }: TestMirror): Promise<Record<string, Row[]>> {
  const content: Record<string, Row[]> = {};
  for (const [table, columns] of Object.entries(TABLES).filter(([name]) => !name.startsWith('inbox.'))) {
    if (LEFT_OUT.has(table)) continue;
    const kept = Object.keys(columns).filter(
      name => !/age_seconds|seconds_left|^freshness$|^cells$/.test(name),
    );
    content[table] = rankNumbers(await db.rows(`SELECT ${kept.join(', ')} FROM ${table}`));
  }
  return content;
}

/** Sorts rows, and replaces their numbers by positions among all numbers of the table. */
function rankNumbers(rows: readonly Row[]): Row[] {
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
