import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { migrate, readMigrations } from '../../../../src/engines/sqlite/migrate.js';
import { openDatabase, type Sqlite } from '../../../../src/engines/sqlite/open.js';
import { KEYS } from '../../../../src/engines/laws/law.js';
import { brokenLaws, changesSince, present, replay } from '../../../support/changes.js';
import { changingScene } from '../../../support/changing.js';
import { NOON, temporaryFolder } from '../../../support/inbox.js';
import { tablesOf } from '../../../support/tables.js';
import { seeds } from '../../../support/seeds.js';

const BEFORE = 7;
const AT = new Date(NOON).toISOString();

const tally = { replaced: 0, back: 0, gone: 0 };

interface Closed {
  readonly row: string;
  readonly version: number;
  readonly valid_to: string;
  readonly closed_version: number;
  /** The version of the row that came next, and whether it came at once. */
  readonly next: number | null;
  readonly replaced: number;
}

function closedVersions(db: Sqlite): Closed[] {
  const each = Object.entries(KEYS).map(([table, key]) => {
    const row = `'${table} ' || ${key.join(" || ' ' || ")}`;
    return `SELECT * FROM (
      SELECT ${row} AS row, version, valid_to, closed_version, lead(version) OVER own AS next,
        lead(sync_run_id) OVER own IS closed_by AS replaced
      FROM ${table}_history WINDOW own AS (PARTITION BY ${key.join(', ')} ORDER BY version)
    ) WHERE valid_to IS NOT NULL`;
  });
  return db.prepare<[], Closed>(`${each.join(' UNION ALL ')} ORDER BY version`).all();
}

/** What runs are said to have written last. */
function numbersOfRuns(db: Sqlite): unknown[] {
  const asked = 'SELECT id, last_number FROM sync_runs WHERE last_number IS NOT NULL ORDER BY id';
  return db.prepare(asked).raw().all();
}

function newestVersions(db: Sqlite): unknown[] {
  const each = Object.keys(KEYS).map(table => `SELECT sync_run_id, version FROM ${table}_history`);
  return db
    .prepare(
      `SELECT sync_run_id, max(version) FROM (${each.join(' UNION ALL ')})
       WHERE sync_run_id IN (SELECT id FROM sync_runs) GROUP BY sync_run_id ORDER BY sync_run_id`,
    )
    .raw()
    .all();
}

/** The same rows in the schema of the version before: what it wrote had no number of a closing, and removals took none. */
function asBefore(db: Sqlite): Sqlite {
  const older = openDatabase(join(temporaryFolder(), 'mirror.db'), { busyTimeoutMs: 1000 });
  onTestFinished(() => void older.close());
  migrate(older, 'mirror', AT, readMigrations('mirror').slice(0, BEFORE));
  older.prepare('ATTACH ? AS newer').run(db.name);
  const tables = older
    .prepare<[], string>(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .pluck();
  const columns = older.prepare<[string], string>("SELECT name FROM pragma_table_info(?, 'main')").pluck();
  older.exec('BEGIN');
  for (const table of tables.all().filter(name => name !== 'schema_migrations')) {
    const names = columns.all(table).join(', ');
    older.exec(
      `DELETE FROM main.${table}; INSERT INTO main.${table} (${names}) SELECT ${names} FROM newer.${table}`,
    );
  }
  older.exec('COMMIT; DETACH newer');
  return older;
}

test.each(seeds(2))(
  'what an older program closed gets the number of its next version, or one after all others in the order of its end (seed %i)',
  async seed => {
    const scene = changingScene(seed);
    for (let step = 0; step < 30; step += 1) await scene.change();
    expect(await brokenLaws(scene.db, scene.clock.at)).toEqual([]);
    const known = closedVersions(scene.handle);
    const db = asBefore(scene.handle);
    const last = db.prepare<[], number>('SELECT last FROM version_counter').pluck().get() ?? 0;
    expect(migrate(db, 'mirror', AT)).toContain('0008-closed-versions.sql');

    const closed = closedVersions(db);
    expect(closed.map(({ row, version }) => ({ row, version }))).toEqual(
      known.map(({ row, version }) => ({ row, version })),
    );
    const replaced = ({ replaced: is }: Closed) => is === 1;
    expect(closed.filter(replaced)).toEqual(known.filter(replaced));
    const back = closed.filter(each => each.next !== null && !replaced(each));
    expect(back.map(each => each.closed_version)).toEqual(back.map(each => each.next));
    const gone = closed.filter(({ next }) => next === null);
    const inOrder = gone.toSorted((a, b) =>
      a.valid_to < b.valid_to ? -1 : a.valid_to > b.valid_to ? 1 : a.version - b.version,
    );
    expect(inOrder.map(each => each.closed_version)).toEqual(gone.map((_, index) => last + index + 1));
    expect(db.prepare('SELECT last FROM version_counter').pluck().get()).toBe(last + gone.length);
    tally.replaced += closed.filter(replaced).length;
    tally.back += back.length;
    tally.gone += gone.length;

    expect(numbersOfRuns(db)).toEqual(newestVersions(db));
    expect(await brokenLaws(tablesOf(db), scene.clock.at)).toEqual([]);
    const copy = new Map<string, string>();
    replay(copy, await changesSince(tablesOf(db), 0));
    expect(copy).toEqual(await present(scene.db));
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  },
);

test('those mirrors had rows that changed, that came back and that were gone for good', () => {
  expect(Object.values(tally).filter(rows => rows === 0)).toEqual([]);
});

test('a writer of the version before, which gives no number, is refused', async () => {
  const db = changingScene(1).handle;
  const close = () =>
    db.exec(`INSERT INTO projects_past (version, id, valid_from, valid_to, sync_run_id, closed_by, document)
      VALUES (1, 'p', '${AT}', '${AT}', 1, 1, '{}')`);
  expect(close).toThrow('start the program again');
  expect(await brokenLaws(tablesOf(db), NOON)).toEqual([]);
});
