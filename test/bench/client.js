// npm run bench -- client: measures the client in turn with plain fetch and JSON.parse: 100,000 retirements in pages, and one very long answer.
import { runChild, withFolder } from './parts/children.js';
import { createFigures, median } from './parts/figures.js';
import { install, startRegistry } from './parts/registry.js';
import { chooseSize } from './parts/size.js';

/** @typedef {{ url: string, organizationId: string, token: string }} Reading */
/**
 * @typedef {{
 *   rows: number,
 *   bytes: number | null,
 *   ms: number,
 *   cpuMs: number,
 *   peakMegabytes: number,
 *   blockMs: number,
 * }} Result
 */

const RETIREMENTS = chooseSize({ usual: 100_000, smallest: 300 });
const WAREHOUSE_CREDITS = chooseSize({ usual: 200_000, smallest: 200 });
const CREDITS_IN_WAREHOUSE_SHARE = 0.8;
const LIMIT = 100;
const CONCURRENCY = 4;
const ROUNDS = chooseSize({ usual: 5, smallest: 1 });
const PASSES = 3;

const { show, demand, end } = createFigures();
await withFolder(async folder => {
  const access = await openWorld(folder);
  await measurePages(access);
  await measureWarehouse(access);
});
end();

/** @param {string} folder */
async function openWorld(folder) {
  const credits = Math.ceil(WAREHOUSE_CREDITS / CREDITS_IN_WAREHOUSE_SHARE) + 1_000;
  const world = { organizations: 1, retirements: RETIREMENTS, credits };
  const startedAt = performance.now();
  const { url } = await startRegistry({ folder, seed: 1, world });
  show('filling the large world', performance.now() - startedAt, 'ms');
  const permissions = { organization_info: 'VIEW', organization_warehouse: 'VIEW' };
  const { organizationId, token } = await install(url, { permissions });
  return { url, organizationId, token };
}

/** @param {Reading} access */
async function measurePages(access) {
  const pages = Math.ceil(RETIREMENTS / LIMIT);
  const all = { ...access, limit: LIMIT, concurrency: CONCURRENCY, pages };
  /** @type {Result[]} */
  const floors = [];
  /** @type {Result[]} */
  const clients = [];
  await read({ ...all, work: 'floorPages', pages: 100 });
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(await read({ ...all, work: 'floorPages' }));
    clients.push(await read({ ...all, work: 'clientPages' }));
  }
  for (const { rows } of [...floors, ...clients]) {
    if (rows !== RETIREMENTS) throw new Error(`expected ${RETIREMENTS} retirements, came ${rows}`);
  }
  const long = await read({ ...all, work: 'clientPages', passes: PASSES });
  const longFloor = await read({ ...all, work: 'floorPages', passes: PASSES });
  show(`floor: bare fetch and JSON.parse, ${pages} pages, median of ${ROUNDS}`, middle(floors, 'ms'), 'ms');
  show(`client: the same pages, median of ${ROUNDS}`, middle(clients, 'ms'), 'ms');
  const ratio = median(clients.map((client, round) => client.ms / (floors[round]?.ms ?? NaN)));
  demand('ratio of client to floor, median of the rounds', ratio, 'times', { atMost: 1.3 });
  show('floor: its processor time', middle(floors, 'cpuMs'), 'ms');
  show('client: its processor time', middle(clients, 'cpuMs'), 'ms');
  show(`floor: peak RSS at ${pages} pages`, middle(floors, 'peakMegabytes'), 'MB');
  show(`floor: peak RSS at ${pages * PASSES} pages`, longFloor.peakMegabytes, 'MB');
  show(`client: peak RSS at ${pages} pages`, middle(clients, 'peakMegabytes'), 'MB');
  show(`client: peak RSS at ${pages * PASSES} pages`, long.peakMegabytes, 'MB');
  const growth = long.peakMegabytes / middle(clients, 'peakMegabytes');
  demand(`client: growth of peak RSS with ${PASSES} times the pages`, growth, 'times', { atMost: 1.2 });
  reportBlocks(clients);
}

/** @param {Reading} access */
async function measureWarehouse(access) {
  /** @type {Result[]} */
  const floors = [];
  /** @type {Result[]} */
  const clients = [];
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(await read({ ...access, work: 'floorWarehouse' }));
    clients.push(await read({ ...access, work: 'clientWarehouse', concurrency: CONCURRENCY }));
  }
  const [floor] = floors;
  if (floor === undefined) throw new Error('expected a round');
  for (const { rows } of clients) {
    if (rows !== floor.rows || rows < WAREHOUSE_CREDITS)
      throw new Error(`came ${rows} of ${floor.rows} credits`);
  }
  show('warehouse credits in one answer', floor.rows, 'credits');
  show('size of the answer', (floor.bytes ?? 0) / 1e6, 'MB');
  show('floor: whole text, parsed at once', middle(floors, 'ms'), 'ms');
  show('client: cut and parsed as it streams in', middle(clients, 'ms'), 'ms');
  show('floor: peak RSS', middle(floors, 'peakMegabytes'), 'MB');
  const peak = Math.max(...clients.map(({ peakMegabytes }) => peakMegabytes));
  demand('client: peak RSS, highest of the rounds', peak, 'MB', { atMost: 250 });
  show('floor: longest block of the event loop', middle(floors, 'blockMs'), 'ms');
  reportBlocks(clients);
}

/**
 * The median is used, because on a busy machine other processes slow single rounds.
 * @param {readonly Result[]} clients
 */
function reportBlocks(clients) {
  show('client: longest block of any round', Math.max(...clients.map(({ blockMs }) => blockMs)), 'ms');
  const block = middle(clients, 'blockMs');
  demand('client: longest block of the event loop, median of the rounds', block, 'ms', { atMost: 100 });
}

/**
 * @param {readonly Result[]} results
 * @param {'ms' | 'cpuMs' | 'peakMegabytes' | 'blockMs'} name
 */
function middle(results, name) {
  return median(results.map(result => result[name]));
}

/**
 * @param {Reading & Record<string, string | number>} task
 * @returns {Promise<Result>}
 */
async function read(task) {
  const [result] = await runChild('client-child.js', task);
  return result;
}
