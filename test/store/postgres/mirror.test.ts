import { expect, test } from 'vitest';
import type { Postgres } from '../../../src/store/postgres/open-postgres.js';
import { type ListChanges, type RowInsert, NO_CHANGES } from '../../../src/mirror/port/rows.js';
import { LISTS } from '../../../src/resources/lists.js';
import { takeEmptyDatabase, openDatabase } from '../../support/postgres.js';
import { MINUTE, openSync, type TestMirror, openMirrorOnPostgres } from '../../support/mirror/open.js';
import { installation, retirement } from '../../support/mirror/rows.js';
import { NOON } from '../../support/inbox.js';
import { toInstallationColumns } from '../../../src/resources/installations.js';

const ORGANIZATION = 'organization-1';
const LIST = { organizationId: ORGANIZATION, resource: 'retirements' } as const;
const TASK = { organizationId: ORGANIZATION, part: 'data', claim: 1 } as const;
const OBSERVED_AT = new Date(NOON).toISOString();
const ENDING = {
  state: 'complete',
  fault: null,
  isInterrupted: false,
  endedAt: NOON,
  requests: 1,
  bytes: 1,
} as const;

function insertOf(id: string): RowInsert {
  const item = retirement(id);
  return {
    key: [id],
    cells: LISTS.retirements.columns.map(cell => cell.getValue(item)),
    document: item.document,
    observedAt: OBSERVED_AT,
    replacedVersion: null,
  };
}

const inserts = (count: number, prefix = 'r') =>
  Array.from({ length: count }, (_, index) => insertOf(`${prefix}-${index}`));

test('each operation of a read takes a fixed number of round trips, however much it writes', async () => {
  const real = openDatabase(await takeEmptyDatabase());
  let trips = 0;
  const counted: Postgres = {
    ...real,
    query: (sql, given) => {
      trips += 1;
      return real.query(sql, given);
    },
    transact: async work => {
      const done = await real.transact((query, send) =>
        work(query, all => {
          trips += 1;
          return send(all);
        }),
      );
      trips += 1;
      return done;
    },
  };
  const { port, clock } = await openMirrorOnPostgres(counted);
  const sync = openSync('retirements');
  const first: ListChanges = {
    ...NO_CHANGES,
    inserts: inserts(400),
    projects: ['project-1'],
  };
  const { syncId, versions } = await port.commit(sync, first, null);
  const rest: ListChanges = {
    ...first,
    inserts: [{ ...insertOf('r-0'), replacedVersion: versions[0] ?? 0 }],
    removals: versions.slice(1, 300).map(version => ({ version, observedAt: OBSERVED_AT })),
    unconfirmedRemovals: new Uint8Array([1, 2]),
  };
  const look = { state: 'active', claim: 1, trigger: 'schedule', resources: ['warehouse'] } as const;
  const when = { startedAt: clock.at, arrivedAt: clock.at, endedAt: clock.at };
  const operations = {
    states: [1, () => port.readListStates('organization-1')],
    find: [1, () => port.findRows(LIST, [['r-1'], ['r-2']])],
    after: [1, () => port.listRowsAfter(LIST, ['r-1'], 10)],
    commit: [3, () => port.commit({ ...sync, id: syncId, hasPartialRows: true }, rest, ENDING)],
    raiseFence: [2, () => port.raiseFence(TASK, clock.at)],
    mark: [2, () => port.markAccess('refused', TASK, ['members', 'inventory'], clock.at)],
    writeInstallation: [
      6,
      () => port.writeInstallation('new', toInstallationColumns(installation('new')), { ...look, ...when }),
    ],
    makeCertificatesDue: [3, () => port.makeCertificatesDue('new', clock.at)],
  } as const;
  for (const [name, [expected, operation]] of Object.entries(operations)) {
    const before = trips;
    await operation();
    expect(trips - before, name).toBe(expected);
  }
});

/** A slice of an older claim waits for the counter while a newer claim takes over. */
async function takeOverWhileWaiting(
  stage: TestMirror,
  other: Postgres,
): Promise<{ seen: unknown; stands: unknown }> {
  const { db, port } = stage;
  const count = () => db.value('SELECT count(*) FROM retirements');
  const waiting = () =>
    other.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
  let seen: unknown;
  async function takeOver(): Promise<void> {
    await port.raiseFence({ ...TASK, claim: 2 }, NOON);
    seen = await count();
  }
  let [older, newer] = [Promise.resolve(), Promise.resolve()];
  await other.transact(async query => {
    await query('UPDATE mirror.version_counter SET last = last');
    older = port.commit(openSync('retirements'), { ...NO_CHANGES, inserts: inserts(3) }, null).then(
      () => undefined,
      () => undefined,
    );
    await expect.poll(waiting).toHaveLength(1);
    newer = takeOver();
    await expect.poll(async () => seen !== undefined || (await waiting()).length === 2).toBe(true);
  });
  await Promise.all([older, newer]);
  return { seen, stands: await count() };
}

test('T44 after a newer claim has taken over, an older one writes nothing, even if it was waiting for a lock', async () => {
  const database = await takeEmptyDatabase();
  const { seen, stands } = await takeOverWhileWaiting(
    await openMirrorOnPostgres(openDatabase(database)),
    openDatabase(database),
  );
  expect(stands).toBe(seen);
});

test('T44 control: if a write only reads the fence without locking it, an older claim writes', async () => {
  const database = await takeEmptyDatabase();
  const real = openDatabase(database);
  let isBroken = false;
  const broken: Postgres = {
    ...real,
    transact: work =>
      real.transact((query, send) =>
        work(query, all => {
          const isCommit = isBroken && all.some(({ text }) => text.includes('insert into "mirror"."syncs"'));
          const [hold, ...others] = all;
          if (!isCommit || hold === undefined) return send(all);
          expect(hold.text).toContain('insert into "mirror"."fences"');
          return send([{ text: 'SELECT 1', values: [] }, ...others]);
        }),
      ),
  };
  const stage = await openMirrorOnPostgres(broken);
  isBroken = true;
  const { seen, stands } = await takeOverWhileWaiting(stage, openDatabase(database));
  expect([seen, stands]).toEqual([0, 3]);
});

test('concurrent workers get version numbers in the order of their commits, without deadlock', async () => {
  const database = await takeEmptyDatabase();
  const stages = await Promise.all(
    Array.from({ length: 4 }, () => openMirrorOnPostgres(openDatabase(database))),
  );
  const [stage] = stages;
  await Promise.all(
    stages.map(async ({ port }, worker) => {
      const { request, ...run } = openSync('retirements');
      const whose = { ...run, request: { ...request, organizationId: `organization-${worker + 10}` } };
      for (let slice = 0; slice < 5; slice += 1) {
        await port.commit(whose, { ...NO_CHANGES, inserts: inserts(20, `s-${slice}`) }, null);
      }
    }),
  );
  expect(
    await stage?.db.row('SELECT count(*) AS rows, count(DISTINCT version) AS numbers FROM retirements'),
  ).toEqual({
    rows: 400,
    numbers: 400,
  });
});

const DAY_MS = 86_400_000;
const INSTALLED = { state: 'active', claim: 1, trigger: 'schedule', resources: ['warehouse'] } as const;

/** Writes that take an id of a sync or a span. Each returns the write, and what must precede it. */
const NUMBERED_WRITES: Readonly<
  Record<
    string,
    { sequence: string; prepare?: (stage: TestMirror) => unknown; write: (stage: TestMirror) => unknown }
  >
> = {
  'a read that writes rows': {
    sequence: 'syncs',
    write: ({ port }) => port.commit(openSync('retirements'), { ...NO_CHANGES, inserts: inserts(1) }, null),
  },
  'a read for a delivery that finds nothing': {
    sequence: 'syncs',
    write: ({ port }) => port.commit(openSync('retirements'), NO_CHANGES, ENDING),
  },
  'a read of an installation': {
    sequence: 'syncs',
    write: ({ port, clock: { at } }) =>
      port.writeInstallation('new', toInstallationColumns(installation('new')), {
        ...INSTALLED,
        startedAt: at,
        arrivedAt: at,
        endedAt: at,
      }),
  },
  'the first scheduled read of a day, which ends the span of the day before': {
    sequence: 'unchanged_spans',
    prepare: async ({ read, clock }) => {
      await read('retirements', [retirement('r-1')]);
      clock.at += MINUTE;
      await read('retirements', [retirement('r-1')], { trigger: 'schedule' });
      clock.at += DAY_MS;
    },
    write: ({ read }) => read('retirements', [retirement('r-1')], { trigger: 'schedule' }),
  },
};

test.each(Object.entries(NUMBERED_WRITES))(
  '%s takes its id only under the lock of the version counter',
  async (_, { sequence, prepare, write }) => {
    const database = await takeEmptyDatabase();
    const other = openDatabase(database);
    const stage = await openMirrorOnPostgres(openDatabase(database));
    await prepare?.(stage);
    const readSequence = async () =>
      await stage.db.row(`SELECT last_value, is_called FROM mirror.${sequence}_id_seq`);
    const before = await readSequence();
    let writing: Promise<unknown> = Promise.resolve();
    await other.transact(async query => {
      await query('UPDATE mirror.version_counter SET last = last');
      writing = Promise.resolve(write(stage));
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      await expect.poll(() => other.query(waiting)).toHaveLength(1);
      // A sequence shows ids that other transactions have taken, committed or not.
      expect(await readSequence()).toEqual(before);
    });
    await writing;
    // Control: the write did take an id.
    expect(await readSequence()).not.toEqual(before);
  },
);
