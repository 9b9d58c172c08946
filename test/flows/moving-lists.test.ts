import { expect, test } from 'vitest';
import { serializeScope } from '../../src/sync/plan.js';
import { startInstalled, type Program } from '../support/program.js';
import { chooseLength } from '../support/long.js';
import { createRandom, pick, type Random } from '../support/random.js';
import { type ProxyAnswer, startProxy } from '../support/proxy.js';
import { listSeeds } from '../support/seeds.js';

const PAGE_ROWS = 7;
const READ_COUNT = 6;

/** A list that may change before each response while it is restless. */
interface MovingList {
  readonly ids: string[];
  restless: boolean;
  answer(path: string): ProxyAnswer;
}

function createMovingList(random: Random): MovingList {
  const ids: string[] = [];
  let responseCount = 0;

  function changeList(): void {
    const place = pick(random, [0, 0, ids.length, Math.floor(random() * ids.length)]) ?? 0;
    if (random() < 0.6) ids.splice(place, 0, `r${(responseCount += 1)}`);
    else if (ids.length > 10) ids.splice(Math.floor(random() * ids.length), 1);
  }

  function createPage(number: number): string {
    const rows = ids
      .slice(number * PAGE_ROWS, (number + 1) * PAGE_ROWS)
      .map(id => ({ id, amount: 1, isClaimed: true }));
    const pageCount = Math.ceil(ids.length / PAGE_ROWS);
    const nextPage = number + 1 < pageCount ? number + 1 : null;
    return JSON.stringify({
      retirements: rows,
      pagination: { total: ids.length, currentPage: number, pageCount, nextPage },
    });
  }

  function createSingleResponse(id: string): ProxyAnswer {
    if (ids.includes(id)) return JSON.stringify({ id, amount: 1, isClaimed: true });
    return { status: 404, text: '{"statusCode":404,"message":"Retirement not found","error":"Not Found"}' };
  }

  for (let row = 0; row < 40; row++) ids.push(`r${(responseCount += 1)}`);
  return {
    ids,
    restless: true,
    answer(path) {
      const found = /\/retirements(?:\/(r\d+))?(?:\?.*page=(\d+))?$/.exec(path);
      if (found === null) return null;
      if (this.restless && random() < 0.6) changeList();
      return found[1] === undefined ? createPage(Number(found[2] ?? 0)) : createSingleResponse(found[1]);
    },
  };
}

async function readRetirements({
  program,
  installationId,
  organizationId,
}: Awaited<ReturnType<typeof startInstalled>>) {
  const payload = serializeScope({ resources: ['retirements'], full: false });
  const dedupeKey = `read:${program.time.now()}`;
  const job = { kind: 'installation', trigger: 'person', installationId, organizationId, payload, dedupeKey };
  program.time.move(2000);
  await program.inbox.enqueue([job]);
  await program.worker().idle();
}

async function listMirroredIds(program: Program): Promise<Set<string>> {
  return new Set((await program.rows('SELECT id FROM retirements')).map(row => String(Object(row)['id'])));
}

test.each(listSeeds(chooseLength(1, 2)))(
  'T37 while rows appear and disappear between pages no live row is closed, and an undisturbed read is exact (seed %i)',
  async seed => {
    const list = createMovingList(createRandom(seed));
    const installed = await startInstalled({ receiveOnly: true });
    const { program } = installed;
    const baseUrl = await startProxy(program.sandbox.url, path => list.answer(path));
    await program.startWorker({ baseUrl });
    await program.rest();
    for (let pass = 0; pass < READ_COUNT; pass++) {
      const idsBefore = await listMirroredIds(program);
      await readRetirements(installed);
      const idsAfter = await listMirroredIds(program);
      const lost = [...idsBefore].filter(id => !idsAfter.has(id) && list.ids.includes(id));
      expect(lost, 'live rows that were closed').toEqual([]);
    }
    list.restless = false;
    await readRetirements(installed);
    program.time.move(65_000);
    await readRetirements(installed);
    expect(await listMirroredIds(program)).toEqual(new Set(list.ids));
    expect(
      await program.rows(
        "SELECT coalesce(reason, state) AS state FROM freshness WHERE resource = 'retirements'",
      ),
    ).toEqual([{ state: 'fresh' }]);
  },
);
