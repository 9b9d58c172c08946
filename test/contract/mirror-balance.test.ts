import { describe, expect, test } from 'vitest';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import { collectBalance, readBalance } from '../../src/query/history/balance.js';
import type { Credit, InventoryRequest, Reservation } from '../../src/registry/object-models.js';
import { ENGINES, type TestEngine, type TestMirror, MINUTE } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { reservation } from '../support/reservation.js';
import { createTrade } from '../support/trade.js';

/** How many credits are traded. `npm run torture -- changes` sets many more. */
const CREDITS = Number(process.env['TRADE_CREDITS'] ?? 40);
/** How long ago a trade begins, so that it has ended by now. The views use the real clock. */
const TRADE_AGO_MS = 90 * 24 * 60 * MINUTE;
const VIEWS = ['balance_retirements', 'balance_credits'] as const;

const readDifferences = (stage: TestMirror, view: (typeof VIEWS)[number]) =>
  stage.db.rows(`SELECT * FROM ${view} WHERE coalesce(balanced, 0) = 0`);

async function listViewsWithDifferences(stage: TestMirror): Promise<string[]> {
  const found = await Promise.all(
    VIEWS.map(async view => ({ view, rows: await readDifferences(stage, view) })),
  );
  return found.filter(({ rows }) => rows.length > 0).map(({ view }) => view);
}

/** Lists the balances with findings. */
const readCountedBalances = (stage: TestMirror) =>
  stage.db.column<string>(
    "SELECT finding FROM findings WHERE finding LIKE 'balance%' AND rows > 0 ORDER BY finding",
  );

const createCredit = (tonnes: string, id = 'c-1', more: Partial<Credit> = {}) =>
  credit(id, { amount: amount(tonnes), vintage: '2021', serialization: `ICR-${id}-2021`, ...more });

const minutesFromNow = (minutes: number, { clock }: TestMirror) =>
  new Date(clock.at + minutes * MINUTE).toISOString();

interface ShownLists {
  readonly warehouse: string;
  readonly inventory: string;
  readonly reserved?: string;
  readonly retired?: readonly { readonly id: string; readonly tonnes: string; readonly at: string }[];
  /** The amount that a reservation of this organization has retired. */
  readonly used?: string;
}

/** Reads all four lists as the registry shows them at one moment. */
async function readAllLists(
  stage: TestMirror,
  { warehouse, inventory, reserved, used, retired = [] }: ShownLists,
): Promise<void> {
  const { read, clock } = stage;
  const made = { createdAt: minutesFromNow(0.5, stage), updatedAt: minutesFromNow(0.5, stage) };
  clock.at += MINUTE;
  await read('warehouse', [createCredit(warehouse), createCredit('7', 'c-2')]);
  await read('inventory', [createCredit(inventory)]);
  const more = { amount: amount(reserved ?? '0'), reservedToDate: '2999-01-01T00:00:00.000Z' };
  const done = { ...made, state: 'finished', isComplete: true, amount: amount(used ?? '0') };
  await read('reservations', [
    ...(reserved === undefined ? [] : [reservation('h-1', { ...more, serialization: 'ICR-c-1-2021' })]),
    ...(used === undefined ? [] : [reservation('h-2', { ...done, serialization: 'ICR-c-1-2021' })]),
  ]);
  const listed = retired.map(({ id, tonnes, at }) =>
    retirement(id, { amount: amount(tonnes), createdAt: at, serialization: 'ICR-c-1-2021' }),
  );
  await read('retirements', listed, { limit: 10, total: listed.length, findGone: async ids => ids });
}

async function balanced(stage: TestEngine['stage']): Promise<TestMirror> {
  const scene = await stage();
  await readAllLists(scene, { warehouse: '100', inventory: '20.5' });
  const at = minutesFromNow(0, scene);
  scene.clock.at += MINUTE;
  await readAllLists(scene, { warehouse: '95', inventory: '20.5', reserved: '5' });
  const made = { id: 'r-1', tonnes: '4.25', at: new Date(Date.parse(at) + 1).toISOString() };
  await readAllLists(scene, { warehouse: '95', inventory: '21.25', retired: [made] });
  await readAllLists(scene, { warehouse: '95', inventory: '21.25', retired: [made] });
  return scene;
}

/** Faults made on purpose, each with the only balance that shows it. */
const FAULTS: readonly (readonly [view: (typeof VIEWS)[number], what: string, change: string])[] = [
  [
    'balance_retirements',
    'a retirement that is a millionth more than its own digits',
    'UPDATE retirements SET amount_micro = amount_micro + 1',
  ],
  [
    'balance_retirements',
    'a certificate that nobody counted',
    'UPDATE certificate_sums SET certificates = certificates + 1',
  ],
  [
    'balance_credits',
    'an amount that is a millionth more than its own digits',
    "UPDATE warehouse_credits SET amount_micro = amount_micro + 1 WHERE credit_id = 'c-2'",
  ],
  [
    'balance_credits',
    'a version that is closed at the number of another credit',
    "UPDATE past SET closed_version = (SELECT version FROM warehouse_credits WHERE credit_id = 'c-2') WHERE resource = 'warehouse'",
  ],
];

describe.each(ENGINES)('$name', ({ stage, library }) => {
  test('P06 reservations, moves and retirements add up in both balances', async () => {
    const scene = await balanced(stage);
    expect(await listViewsWithDifferences(scene)).toEqual([]);
    const moves = await scene.db.rows("SELECT place, moved_micro FROM credit_moves WHERE credit_id = 'c-1'");
    expect(moves).toHaveLength(4);
  });

  test.each(FAULTS)('only %s reports %s', async (view, _what, change) => {
    const scene = await balanced(stage);
    await enterCertificates(scene);
    expect(await listViewsWithDifferences(scene)).toEqual([]);
    expect(await readCountedBalances(scene)).toEqual([]);
    await scene.db.change(change);
    expect(await listViewsWithDifferences(scene)).toEqual([view]);
    expect(await readCountedBalances(scene)).toEqual([view]);
  });

  test.each([
    ['balance_retirements', 'retirements', 7],
    /** Listed are the registry's own digits: there are fewer of them. */
    ['balance_credits', 'warehouse_credits', -7],
  ] as const)('%s shows a difference of the right sign if %s hold more', async (view, table, difference) => {
    const scene = await balanced(stage);
    const differences = () =>
      scene.db.column(`SELECT DISTINCT difference_micro FROM ${view} WHERE difference_micro <> 0`);
    expect(await differences()).toEqual([]);
    await scene.db.change(`UPDATE ${table} SET amount_micro = amount_micro + 7`);
    expect(await differences()).toEqual([difference]);
  });

  test('balance_retirements counts retirements by the state of their certificates and reports one without any', async () => {
    const scene = await stage();
    const made = [retirement('r-1'), retirement('r-2'), retirement('r-3', { beneficiary: null })];
    await scene.read('retirements', made, { limit: 10, total: 3 });
    const reckoned = () =>
      scene.db.rows(
        "SELECT value, rows, balanced FROM balance_retirements WHERE reckoning = 'certificate' ORDER BY value",
      );
    const awaited = [
      { value: 'pending', rows: 2, balanced: 1 },
      { value: 'unclaimed', rows: 1, balanced: 1 },
    ];
    expect(await reckoned()).toEqual(awaited);
    await enterCertificates(scene);
    expect(await reckoned()).toEqual(awaited);
    await scene.db.change("DELETE FROM certificates WHERE retirement_id = 'r-1'");
    expect(await reckoned()).toMatchObject([
      { value: 'missing', rows: 1, balanced: 0 },
      { value: 'pending', rows: 1 },
      { value: 'unclaimed', rows: 1, balanced: 1 },
    ]);
  });

  test.each(['reservation', 'request'])(
    'an amount retired by an own %s without a fall is reported to the millionth of a tonne',
    async kind => {
      const scene = await stage();
      const stood = { warehouse: '100', inventory: '20.5' };
      await readAllLists(scene, stood);
      await readAllLists(scene, stood);
      const at = minutesFromNow(0.5, scene);
      const retired = [{ id: 'r-1', tonnes: '4.250001', at }];
      if (kind === 'request') await createRetireRequest(scene, { at, tonnes: '4.250001' });
      const used = kind === 'reservation' ? { used: '4.250001' } : {};
      for (const warehouse of ['95.75', '95.75'])
        await readAllLists(scene, { ...stood, warehouse, retired, ...used });
      expect(
        await scene.db.rows(
          'SELECT serialization, opening_micro, listed_micro, risen_micro, used_micro FROM retired_serializations',
        ),
      ).toEqual([
        {
          serialization: 'icr-c-1-2021',
          opening_micro: 120_500_000,
          listed_micro: 116_250_000,
          risen_micro: 0,
          used_micro: 4_250_001,
        },
      ]);
      expect(
        await scene.db.column("SELECT id FROM credit_findings WHERE finding = 'listed_and_retired'"),
      ).toEqual(['r-1']);
      await readAllLists(scene, { ...stood, warehouse: '95.749999', retired, ...used });
      expect(await scene.db.rows('SELECT * FROM credit_findings')).toEqual([]);
    },
  );

  test('credits that came from elsewhere and were then retired by a reservation are no finding', async () => {
    const scene = await stage();
    const stood = { warehouse: '100', inventory: '20.5' };
    await readAllLists(scene, stood);
    await readAllLists(scene, { ...stood, warehouse: '105' });
    const retired = [{ id: 'r-1', tonnes: '5', at: minutesFromNow(0.5, scene) }];
    for (let time = 0; time < 2; time += 1) await readAllLists(scene, { ...stood, retired, used: '5' });
    expect(await scene.db.rows('SELECT * FROM credit_findings')).toEqual([]);
    expect(
      await scene.db.rows(
        'SELECT opening_micro, listed_micro, risen_micro, used_micro FROM retired_serializations',
      ),
    ).toEqual([
      {
        opening_micro: 120_500_000,
        listed_micro: 120_500_000,
        risen_micro: 5_000_000,
        used_micro: 5_000_000,
      },
    ]);
  });

  test('the first complete read is the opening balance, with its date, and not a rise', async () => {
    const scene = await stage();
    await scene.read('reservations', [reservation('h-1')], { limit: 10, total: 2 });
    await scene.read('warehouse', [createCredit('100'), createCredit('7', 'c-2', { type: 'exAnte' })]);
    expect(await scene.db.rows('SELECT * FROM credit_moves')).toEqual([]);
    const credits = () =>
      scene.db.rows(
        'SELECT place, credit_id, type, opening_micro, opening_at, risen_micro, listed_micro, balanced FROM balance_credits ORDER BY credit_id',
      );
    const at = minutesFromNow(0, scene);
    const opened = { place: 'warehouse', opening_at: at, risen_micro: 0, balanced: 1 };
    const second = {
      ...opened,
      credit_id: 'c-2',
      type: 'exAnte',
      opening_micro: 7_000_000,
      listed_micro: 7_000_000,
    };
    expect(await credits()).toEqual([
      { ...opened, credit_id: 'c-1', type: 'exPost', opening_micro: 100_000_000, listed_micro: 100_000_000 },
      second,
    ]);
    scene.clock.at += MINUTE;
    await scene.read('warehouse', [createCredit('101'), createCredit('7', 'c-2', { type: 'exAnte' })]);
    expect(await credits()).toMatchObject([
      { opening_micro: 100_000_000, risen_micro: 1_000_000, balanced: 1 },
      second,
    ]);
  });

  test('retirements before the first reads do not reduce the opening balance', async () => {
    const scene = await stage();
    const stood = { warehouse: '100', inventory: '20.5' };
    const retired = [{ id: 'r-0', tonnes: '500', at: '2020-01-01T00:00:00.000Z' }];
    for (let time = 0; time < 3; time += 1) await readAllLists(scene, { ...stood, retired });
    expect(await scene.db.rows('SELECT * FROM retired_serializations')).toEqual([]);
  });

  test('retirements and moves after the oldest read of the three lists are not judged yet', async () => {
    const scene = await stage();
    const found = () => scene.db.column('SELECT id FROM credit_findings ORDER BY id');
    const [more, serialization] = [{ amount: amount('5') }, 'ICR-c-1-2021'];
    const used = (id: string, at: string) =>
      reservation(id, {
        ...more,
        createdAt: at,
        updatedAt: at,
        state: 'finished',
        isComplete: true,
        serialization,
      });
    const readAll = async (warehouse: string) => {
      await scene.read('warehouse', [createCredit(warehouse)]);
      await scene.read('inventory', [createCredit('20.5')]);
    };
    await readAllLists(scene, { warehouse: '100', inventory: '20.5' });
    const dates: string[] = [];
    for (const time of [0, 1]) {
      dates.push(minutesFromNow(0.5, scene));
      scene.clock.at += MINUTE;
      for (let round = time; round < 2; round += 1) {
        if (time === 0) await readAll('95');
        scene.clock.at += MINUTE;
      }
      await scene.read(
        'reservations',
        dates.map((at, index) => used(`h-${index}`, at)),
      );
      const retired = dates.map((at, index) =>
        retirement(`r-${index}`, { ...more, createdAt: at, serialization }),
      );
      await scene.read('retirements', retired);
      expect(await found()).toEqual([]);
    }
    scene.clock.at += MINUTE;
    await readAll('95');
    expect(await found()).toEqual(['r-0', 'r-1']);
    scene.clock.at += MINUTE;
    await scene.read('warehouse', [createCredit('96')]);
    expect(await found()).toEqual([]);
  });

  test.each([
    ['sends a state', true],
    ['answers as documented, without a state', false],
  ])('a reservation counts until it expires, at a registry that %s', async (_registry, hasState) => {
    const { stage: scene, reader } = await library();
    const { clock, db } = scene;
    clock.at = Date.now() - 60 * MINUTE;
    const minutes = (count: number) => minutesFromNow(count, scene);
    const held = (id: string, tonnes: string, until: string, state: string) =>
      reservation(id, {
        amount: amount(tonnes),
        reservedToDate: until,
        state: hasState ? state : null,
        document: JSON.stringify([id, until, hasState ? state : null]),
      });
    const [before, soonOver, cancelledAt] = [minutes(-5), minutes(10), minutes(14)];
    const ended = held('h-0', '100', before, 'expired');
    const standing = held('h-2', '38.25', '2999-01-01T00:00:00.000Z', 'outstanding');
    await scene.read('warehouse', [createCredit('100')]);
    await scene.read('inventory', []);
    await scene.read('reservations', [ended, held('h-1', '64.92', soonOver, 'outstanding'), standing]);
    clock.at += 12 * MINUTE;
    const cancelled = held('h-3', '7', minutes(10), 'outstanding');
    await scene.read('warehouse', [createCredit('157.92')]);
    await scene.read('reservations', [ended, held('h-1', '64.92', soonOver, 'expired'), standing, cancelled]);
    clock.at += 10 * MINUTE;
    await scene.read('warehouse', [createCredit('164.92')]);
    await scene.read('reservations', [
      ended,
      held('h-1', '64.92', soonOver, 'expired'),
      standing,
      held('h-3', '7', cancelledAt, 'cancelled'),
    ]);
    expect(
      await db.rows(`SELECT part, opening_micro, risen_micro, fallen_micro, listed_micro, balanced
        FROM balance_credits WHERE place = 'reserved' ORDER BY part`),
    ).toEqual([
      { part: 'h-0', opening_micro: 0, risen_micro: 0, fallen_micro: 0, listed_micro: 0, balanced: 1 },
      {
        part: 'h-1',
        opening_micro: 64_920_000,
        risen_micro: 0,
        fallen_micro: 64_920_000,
        listed_micro: 0,
        balanced: 1,
      },
      {
        part: 'h-2',
        opening_micro: 38_250_000,
        risen_micro: 0,
        fallen_micro: 0,
        listed_micro: 38_250_000,
        balanced: 1,
      },
      {
        part: 'h-3',
        opening_micro: 0,
        risen_micro: 7_000_000,
        fallen_micro: 7_000_000,
        listed_micro: 0,
        balanced: 1,
      },
    ]);
    expect(
      await db.rows(`SELECT part, observed_at, before_micro, after_micro, moved_micro FROM credit_moves
        WHERE place = 'reserved' AND moved_micro < 0 AND part = 'h-1'`),
    ).toEqual([
      {
        part: 'h-1',
        observed_at: soonOver,
        before_micro: 64_920_000,
        after_micro: 0,
        moved_micro: -64_920_000,
      },
    ]);
    const { sums } = await collectBalance(await readBalance(reader, null));
    const reserved = sums.find(({ what }) => what === 'reserved');
    const now = await db.value(
      "SELECT sum(amount_micro) FROM reservations_now WHERE state_now = 'outstanding'",
    );
    expect(Number(reserved?.found_micro)).toBe(Number(now));
    expect(Number(now)).toBe(38_250_000);
    expect(await listViewsWithDifferences(scene)).toEqual([]);
  });

  test('each sum adds up its rows exactly, also if a 64-bit integer is too small for it', async () => {
    const { stage: scene, reader } = await library();
    const huge = '8999999999999.999999';
    await scene.read('warehouse', [
      createCredit(huge),
      createCredit(huge, 'c-2'),
      createCredit('5', 'c-3'),
      createCredit('7', 'c-4', { type: 'exAnte' }),
    ]);
    await scene.read('inventory', []);
    await scene.db.change(
      "UPDATE warehouse_credits SET amount_micro = amount_micro - 1 WHERE credit_id IN ('c-2', 'c-3')",
    );
    const { sums, differences } = await collectBalance(await readBalance(reader, null));
    const inWarehouse = sums.filter(({ what }) => what === 'warehouse');
    const listed = 2n * 8_999_999_999_999_999_999n + 5_000_000n;
    expect(
      inWarehouse.map(sum => [
        sum.type,
        sum.rows,
        sum.balanced,
        BigInt(sum.found_micro ?? 0),
        BigInt(sum.expected_micro ?? 0),
      ]),
    ).toEqual([
      ['exPost', 3, false, listed, listed - 2n],
      ['exAnte', 1, true, 7_000_000n, 7_000_000n],
    ]);
    expect(differences.map(({ what, difference_micro: difference }) => [what, difference])).toEqual([
      ['warehouse c-2', 1],
      ['warehouse c-3', 1],
    ]);
    expect(differences[1]?.why).toEqual({
      code: 'moved_differently',
      opening_micro: 4_999_999,
      risen_micro: 0,
      fallen_micro: 0,
      listed_micro: 5_000_000,
    });
  });

  test('reservations balance after the clock was set back', async () => {
    const scene = await stage();
    const { clock } = scene;
    clock.at = Date.now();
    const [first, second] = [minutesFromNow(30, scene), minutesFromNow(90, scene)];
    const held = (id: string, reservedToDate: string, more: Partial<Reservation> = {}) =>
      reservation(id, { amount: amount('5'), state: null, reservedToDate, ...more });
    await scene.read('reservations', []);
    clock.at += 60 * MINUTE;
    await scene.read('reservations', [held('h-1', first), held('h-2', second)]);
    clock.at += 60 * MINUTE;
    const changed = held('h-2', second, {
      updatedAt: minutesFromNow(0, scene),
      document: '{"changed":true}',
    });
    await scene.read('reservations', [held('h-1', first), changed]);
    expect(
      await scene.db.rows(
        'SELECT part, risen_micro, fallen_micro, listed_micro, balanced FROM balance_credits ORDER BY part',
      ),
    ).toEqual([
      { part: 'h-1', risen_micro: 0, fallen_micro: 0, listed_micro: 0, balanced: 1 },
      { part: 'h-2', risen_micro: 5_000_000, fallen_micro: 5_000_000, listed_micro: 0, balanced: 1 },
    ]);
  });

  test.each([
    ['sends the states of reservations', true],
    ['answers as documented', false],
  ])(
    'random trades, reservations and retirements are balanced at every moment, at a registry that %s',
    async (_registry, hasState) => {
      const scene = await stage();
      scene.clock.at = Date.now() - TRADE_AGO_MS;
      const trade = await createTrade(scene, 11, CREDITS, hasState);
      const { playMoves, readOrganization, organizations } = trade;
      const lookAll = async () => {
        for (const organizationId of organizations) await readOrganization(organizationId);
      };
      await lookAll();
      for (const organizationId of [...organizations, ...organizations]) {
        playMoves(CREDITS / 4);
        await readOrganization(organizationId);
        expect(await scene.db.rows('SELECT * FROM balance_credits WHERE balanced = 0')).toEqual([]);
      }
      trade.expireReservations();
      await lookAll();
      await lookAll();
      expect(await listViewsWithDifferences(scene)).toEqual([]);
      const reserved = await scene.db.column<number>(
        "SELECT listed_micro FROM balance_credits WHERE place = 'reserved'",
      );
      expect(trade.sumReserved()).toBeGreaterThan(0n);
      expect(reserved.reduce((sum, micro) => sum + BigInt(micro), 0n)).toBe(trade.sumReserved());
      const used = await scene.db.column<number>('SELECT used_micro FROM retired_serializations');
      expect(used.length).toBeGreaterThan(0);
      expect(
        await scene.db.rows("SELECT * FROM credit_findings WHERE finding <> 'serialization_twice'"),
      ).toEqual([]);
    },
  );
});

/** Reads a request to retire that was carried out. */
async function createRetireRequest(
  scene: TestMirror,
  { at, tonnes }: { at: string; tonnes: string },
): Promise<void> {
  const request: InventoryRequest = {
    id: 'q-1',
    creditId: 'c-1',
    action: 'retire',
    state: 'Processed',
    type: 'exPost',
    serialization: 'ICR-c-1-2021',
    vintage: '2021',
    amount: amount(tonnes),
    fromOrganizationId: 'organization-1',
    toOrganizationId: null,
    toAddress: null,
    project: { id: 'project-1', fullName: 'Peat bog' },
    txId: '0x1',
    retirementReason: null,
    beneficiary: null,
    retirementComment: null,
    createdAt: at,
    updatedAt: at,
    document: '{}',
  };
  await scene.read('inventory_requests', [request], { limit: 10, total: 1 });
}

async function enterCertificates({ pdfs, port, clock }: TestMirror): Promise<void> {
  const store = createCertificateStore(port, pdfs(1000), () => clock.at);
  await store.makeNewDue();
}
