// npm run bench -- sandbox: measures the sandbox: pages of 100,000 retirements, 50,000 credits in one answer, and the time until it is ready.
import { join } from 'node:path';
import { withFolder } from './parts/children.js';
import { createFigures, median, peakMegabytes, timed } from './parts/figures.js';
import { ask, install, send, startRegistry } from './parts/registry.js';
import { chooseSize } from './parts/size.js';

/** @typedef {Awaited<ReturnType<typeof openClient>>} Client */

const RETIREMENTS = chooseSize({ usual: 100_000, smallest: 300 });
const WAREHOUSE_CREDITS = chooseSize({ usual: 50_000, smallest: 50 });
const CREDITS_IN_WAREHOUSE_SHARE = 0.8;
const PAGE_LIMIT = 100;
const PAGES_MEASURED = chooseSize({ usual: 200, smallest: 3 });
const STARTS = chooseSize({ usual: 3, smallest: 1 });
const PERMISSIONS = { organization_info: 'VIEW', organization_warehouse: 'VIEW' };

const { show, demand, end } = createFigures();
await withFolder(async folder => {
  await measureStarts(folder);
  await measureAnswers(folder);
});
end();

/** @param {string} folder */
async function measureStarts(folder) {
  /** @type {number[]} */
  const first = [];
  /** @type {number[]} */
  const next = [];
  for (let round = 0; round < STARTS; round++) {
    const options = { port: 0, folder: join(folder, `start-${round}`), seed: round };
    for (const times of [first, next]) {
      const startedAt = performance.now();
      const registry = await startRegistry(options);
      if (times === first) await openClient(registry);
      times.push(performance.now() - startedAt);
      await registry.stop();
    }
  }
  demand(`start to ready, empty folder, keys and demo world, worst of ${STARTS}`, Math.max(...first), 'ms', {
    under: 5000,
  });
  demand(`start to ready, second time, worst of ${STARTS}`, Math.max(...next), 'ms', { under: 1000 });
}

/** @param {string} folder */
async function measureAnswers(folder) {
  const options = {
    port: 0,
    folder: join(folder, 'large'),
    seed: 1,
    world: {
      organizations: 1,
      retirements: RETIREMENTS,
      credits: Math.ceil(WAREHOUSE_CREDITS / CREDITS_IN_WAREHOUSE_SHARE),
    },
  };
  show('filling the large world', await timed(async () => (await startRegistry(options)).stop()), 'ms');

  const pages = await startRegistry(options);
  await measurePages(await openClient(pages));
  await pages.stop();

  // A process of its own, so that its peak memory is that of a sandbox that only starts and answers.
  const streaming = await startRegistry(options);
  await measureWarehouse(await openClient(streaming), streaming.pid);
  await streaming.stop();
}

/**
 * Creates functions that read lists of the first organization with an installation's token.
 * @param {{ url: string }} registry
 */
async function openClient({ url }) {
  const { organizationId, token } = await install(url, { permissions: PERMISSIONS });
  /** @type {(path: string) => [string, undefined, string]} */
  const to = path => [`${url}/organizations/${organizationId}${path}`, undefined, `Bearer ${token}`];
  return {
    /** @param {string} path */
    read: path => send(...to(path)),
    /** @param {string} path */
    readText: async path => (await ask(...to(path))).text(),
  };
}

/** @param {Client} client */
async function measurePages(client) {
  /** @type {(page: number) => string} */
  const path = page => `/retirements?limit=${PAGE_LIMIT}&page=${page}`;
  const { pagination } = await client.read(path(0));
  if (pagination.total !== RETIREMENTS) throw new Error(`expected ${RETIREMENTS} retirements`);
  const last = pagination.pageCount - 1;
  const times = [];
  const floors = [];
  const ids = new Set();
  for (let index = 0; index < PAGES_MEASURED; index++) {
    const page = Math.round((index * last) / (PAGES_MEASURED - 1));
    times.push(
      await timed(async () => {
        const { retirements } = await client.read(path(page));
        for (const { id } of retirements) ids.add(id);
      }),
    );
    floors.push(await timed(() => client.read('')));
  }
  if (ids.size !== PAGES_MEASURED * PAGE_LIMIT) throw new Error('pages were short or overlapped');
  const [middle, floor] = [median(times), median(floors)];
  demand(
    `page of ${PAGE_LIMIT} out of ${RETIREMENTS} retirements, median of ${PAGES_MEASURED}`,
    middle,
    'ms',
    { under: 5 },
  );
  show('the last page', times.at(-1) ?? NaN, 'ms');
  show('floor: one organization, median', floor, 'ms');
  show('ratio of page to floor', middle / floor, 'times');
}

/**
 * @param {Client} client
 * @param {number | undefined} pid
 */
async function measureWarehouse(client, pid) {
  const before = peakMegabytes(pid);
  const startedAt = performance.now();
  const text = await client.readText('/warehouse/inventory');
  const took = performance.now() - startedAt;
  const { credits } = JSON.parse(text);
  if (credits.length < WAREHOUSE_CREDITS) throw new Error(`only ${credits.length} credits in the warehouse`);
  show('warehouse credits in one answer', credits.length, 'credits');
  show('size of the answer', text.length / 2 ** 20, 'MiB');
  show('time of the answer', took, 'ms');
  show('peak RSS before it', before, 'MB');
  demand('peak RSS after it', peakMegabytes(pid), 'MB', { under: 250 });
}
