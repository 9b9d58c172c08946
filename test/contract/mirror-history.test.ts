import { describe, expect, test } from 'vitest';
import { ENGINES, type TestMirror, createFindMissing, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { credit, createUnknownPage, retirement } from '../support/mirror/rows.js';
import { createRandom, pick } from '../support/random.js';

/** The documents of the registry by id. */
type RegistryState = Map<string, string>;

const RESOURCES = ['retirements', 'warehouse'] as const;
const TABLES = { retirements: 'retirements', warehouse: 'warehouse_credits' } as const;
const IDS = { retirements: 'id', warehouse: 'credit_id' } as const;

const tally = { removed: 0, broken: 0, back: 0, moved: 0, remembered: 0 };

describe.each(ENGINES)('$name', ({ stage, seeds }) => {
  test.each(seeds)(
    'P03 after each complete read the mirror equals the registry, and its history equals the registry of that time unless the clock was set back past it (seed %i)',
    async seed => {
      const random = createRandom(seed);
      const scene = await stage();
      const truth = { retirements: new Map<string, string>(), warehouse: new Map<string, string>() };
      let rests: { resource: (typeof RESOURCES)[number]; at: string; truth: RegistryState }[] = [];
      for (let claim = 2; claim < 14; claim += 1) {
        const resource = pick(random, RESOURCES, 'retirements');
        changeRegistry(random, truth[resource]);
        moveClock(random, scene);
        rests = rests.filter(({ at }) => at < formatClock(scene));
        if (random() < 0.25) await interruptRead(random, scene, resource, truth[resource], claim);
        await readUntilQuiet(random, scene, resource, truth[resource], claim);
        expect(await readCurrentRows(scene, resource)).toEqual(toSortedRows(truth[resource]));
        const at = formatClock(scene);
        if ((await readLatestInstant(scene, resource)) <= at)
          rests.push({ resource, at, truth: new Map(truth[resource]) });
      }
      for (const rest of rests)
        expect(await readRowsAsOf(scene, rest.resource, rest.at)).toEqual(toSortedRows(rest.truth));
      tally.remembered += rests.length;
      const sums = await scene.db.value('SELECT coalesce(sum(rows), 0) FROM retirements_by_beneficiary');
      expect(sums).toBe(truth.retirements.size);
      expect(await findOverlaps(scene)).toEqual([]);
    },
  );

  test('the generated histories include removed rows, interrupted reads and lists that change during a read', async () => {
    expect(Object.entries(tally).filter(([, times]) => times === 0)).toEqual([]);
  });
});

function changeRegistry(random: () => number, truth: RegistryState): void {
  for (const id of truth.keys()) {
    const chance = random();
    if (chance < 0.1) truth.delete(id);
    else if (chance < 0.2) truth.set(id, `{"edit":${random()}}`);
  }
  const entries = Math.floor(random() * 30);
  for (let entry = 0; entry < entries; entry += 1) {
    truth.set(`id-${Math.floor(random() * 120)}`, `{"entry":${random()}}`);
  }
}

function moveClock(random: () => number, { clock }: TestMirror): void {
  const isBack = random() < 0.2;
  if (isBack) tally.back += 1;
  clock.at += isBack ? -5 * MINUTE : Math.floor(random() * 3) * MINUTE;
}

async function interruptRead(
  random: () => number,
  scene: TestMirror,
  resource: (typeof RESOURCES)[number],
  truth: RegistryState,
  claim: number,
): Promise<void> {
  tally.broken += 1;
  const read = await beginRead(scene, resource, claim);
  const part = [...truth].slice(0, Math.floor(random() * truth.size));
  await read.writePages(part, 7);
  await read.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC);
}

/** Reads a list until it did not change during a read. The registry lists rows in the order of creation. */
async function readUntilQuiet(
  random: () => number,
  scene: TestMirror,
  resource: (typeof RESOURCES)[number],
  truth: RegistryState,
  claim: number,
): Promise<void> {
  const limit = 5 + Math.floor(random() * 20);
  for (let attempt = 0; attempt < 8; attempt += 1) {
    scene.clock.at += MINUTE;
    const moves = resource === 'retirements' && attempt < 2 && random() < 0.5;
    if (moves) tally.moved += 1;
    const read = await beginRead(scene, resource, claim);
    await read.writePages(
      [...truth],
      limit,
      moves ? () => changeRegistry(random, truth) : () => undefined,
      truth,
    );
    const outcome = await read.finish(truth);
    tally.removed += outcome.removed;
    const alive = (await readCurrentRows(scene, resource)).filter(([id]) => truth.has(id));
    if (!moves) expect(alive.length).toBe(truth.size);
    if (!moves && outcome.state === 'complete') return;
  }
  throw new Error('the read never came to rest');
}

async function beginRead(scene: TestMirror, resource: (typeof RESOURCES)[number], claim: number) {
  const request = {
    organizationId: 'organization-1',
    claim,
    startedAt: scene.clock.at,
    trigger: 'schedule',
  };
  if (resource === 'warehouse') {
    const read = await scene.mirror.beginRead({ ...request, resource });
    return {
      abandon: read.abandon.bind(read),
      writePages: async (rows: readonly [string, string][], limit: number) => {
        for (let start = 0; start < rows.length; start += limit) {
          await read.writeBatch(
            rows.slice(start, start + limit).map(([id, document]) => credit(id, { document })),
            scene.clock.at,
          );
        }
      },
      finish: () => read.finish({ ...TRAFFIC, total: null }),
    };
  }
  const read = await scene.mirror.beginRead({ ...request, resource });
  return {
    abandon: read.abandon.bind(read),
    writePages: async (
      rows: readonly [string, string][],
      limit: number,
      between: () => void = () => undefined,
      live?: RegistryState,
    ) => {
      for (let page = 0; ; page += 1) {
        const list = live === undefined ? rows : [...live];
        const items = list.slice(page * limit, (page + 1) * limit);
        await read.writePage(
          createUnknownPage(
            items.map(([id, document]) => retirement(id, { document })),
            scene.clock.at,
          ),
        );
        if ((page + 1) * limit >= list.length) return;
        between();
      }
    },
    finish: (truth: RegistryState) =>
      read.finish({
        ...TRAFFIC,
        total: truth.size,
        lookUpMissing: createFindMissing(async ids => ids.filter(id => !truth.has(id)), scene.clock),
      }),
  };
}

interface MirroredRow {
  readonly id: string;
  readonly document: string;
}

async function readCurrentRows(
  { db }: TestMirror,
  resource: (typeof RESOURCES)[number],
): Promise<[string, string][]> {
  const sql = `SELECT ${IDS[resource]} AS id, document FROM ${TABLES[resource]} ORDER BY 1`;
  return (await db.rows<MirroredRow>(sql)).map(({ id, document }) => [id, document]);
}

async function readRowsAsOf(
  { db }: TestMirror,
  resource: (typeof RESOURCES)[number],
  at: string,
): Promise<[string, string][]> {
  const sql = `SELECT ${IDS[resource]} AS id, document FROM ${TABLES[resource]}_history
    WHERE valid_from <= ? AND (valid_to IS NULL OR valid_to > ?) ORDER BY 1`;
  return (await db.rows<MirroredRow>(sql, at, at)).map(({ id, document }) => [id, document]);
}

function formatClock({ clock }: TestMirror): string {
  return new Date(clock.at).toISOString();
}

async function readLatestInstant({ db }: TestMirror, resource: string): Promise<string> {
  const sql = 'SELECT stamp_at FROM resource_states WHERE resource = ?';
  return (await db.value<string>(sql, resource)) ?? '';
}

/** Finds versions of one row that overlap in time or end before they begin. */
async function findOverlaps({ db }: TestMirror): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const resource of RESOURCES) {
    const history = `${TABLES[resource]}_history`;
    const id = IDS[resource];
    const rows = await db.rows(
      `SELECT a.${id} FROM ${history} AS a JOIN ${history} AS b ON a.${id} = b.${id} AND a.version < b.version
       WHERE a.valid_to IS NULL OR a.valid_to > b.valid_from OR a.valid_from >= a.valid_to`,
    );
    found.push(...rows);
  }
  return found;
}

function toSortedRows(truth: RegistryState): [string, string][] {
  return [...truth].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
