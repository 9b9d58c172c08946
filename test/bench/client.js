// The bounds of the client: 100,000 retirements against a bare fetch and JSON.parse, and one very long answer.
import { spawn } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RETIREMENTS = 100_000;
const WAREHOUSE_CREDITS = 200_000;
const CREDITS_IN_WAREHOUSE_SHARE = 0.8;
const LIMIT = 100;
const CONCURRENCY = 4;
const ROUNDS = 5;
const PASSES = 3;
const VERSION = { 'x-registry-api-version': '2023-06-16' };
const BOUNDS = { ratio: 1.3, memoryGrowth: 1.2, peakMegabytes: 250, blockMs: 100 };

const SANDBOX = fileURLToPath(new URL('sandbox-child.js', import.meta.url));
const READER = fileURLToPath(new URL('client-child.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bench-client-'));
const children = new Set();
const misses = [];

try {
  const access = await openWorld();
  await measurePages(access);
  await measureWarehouse(access);
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
for (const miss of misses) process.stdout.write(`MISSED ${miss}\n`);
process.exitCode = misses.length === 0 ? 0 : 1;

async function openWorld() {
  const credits = Math.ceil(WAREHOUSE_CREDITS / CREDITS_IN_WAREHOUSE_SHARE) + 1_000;
  const world = { organizations: 1, retirements: RETIREMENTS, credits };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [SANDBOX, JSON.stringify({ port: 0, folder, seed: 1, world })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const [line] = await once(child.stdout, 'data');
  show('filling the large world', performance.now() - startedAt, 'ms');
  return install(String(line).trim());
}

async function measurePages(access) {
  const pages = Math.ceil(RETIREMENTS / LIMIT);
  const all = { ...access, limit: LIMIT, concurrency: CONCURRENCY, pages };
  const floors = [];
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
  const ratio = median(clients.map((client, round) => client.ms / floors[round].ms));
  report('ratio of client to floor, median of the rounds', ratio, BOUNDS.ratio, 'times');
  show('floor: its processor time', middle(floors, 'cpuMs'), 'ms');
  show('client: its processor time', middle(clients, 'cpuMs'), 'ms');
  show(`floor: peak RSS at ${pages} pages`, middle(floors, 'peakMegabytes'), 'MB');
  show(`floor: peak RSS at ${pages * PASSES} pages`, longFloor.peakMegabytes, 'MB');
  show(`client: peak RSS at ${pages} pages`, middle(clients, 'peakMegabytes'), 'MB');
  show(`client: peak RSS at ${pages * PASSES} pages`, long.peakMegabytes, 'MB');
  const growth = long.peakMegabytes / middle(clients, 'peakMegabytes');
  report(`client: growth of peak RSS with ${PASSES} times the pages`, growth, BOUNDS.memoryGrowth, 'times');
  reportBlocks(clients);
}

async function measureWarehouse(access) {
  const floors = [];
  const clients = [];
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(await read({ ...access, work: 'floorWarehouse' }));
    clients.push(await read({ ...access, work: 'clientWarehouse', concurrency: CONCURRENCY }));
  }
  const [floor] = floors;
  for (const { rows } of clients) {
    if (rows !== floor.rows || rows < WAREHOUSE_CREDITS)
      throw new Error(`came ${rows} of ${floor.rows} credits`);
  }
  show('warehouse credits in one answer', floor.rows, 'credits');
  show('size of the answer', floor.bytes / 1e6, 'MB');
  show('floor: whole text, parsed at once', middle(floors, 'ms'), 'ms');
  show('client: cut and parsed as it streams in', middle(clients, 'ms'), 'ms');
  show('floor: peak RSS', middle(floors, 'peakMegabytes'), 'MB');
  const peak = Math.max(...clients.map(({ peakMegabytes }) => peakMegabytes));
  report('client: peak RSS, highest of the rounds', peak, BOUNDS.peakMegabytes, 'MB');
  show('floor: longest block of the event loop', middle(floors, 'blockMs'), 'ms');
  reportBlocks(clients);
}

/** On a busy machine other processes block one round or another; the median is ours. */
function reportBlocks(clients) {
  show('client: longest block of any round', Math.max(...clients.map(({ blockMs }) => blockMs)), 'ms');
  const block = middle(clients, 'blockMs');
  report('client: longest block of the event loop, median of the rounds', block, BOUNDS.blockMs, 'ms');
}

function middle(results, name) {
  return median(results.map(result => result[name]));
}

async function read(task) {
  const child = spawn(process.execPath, [READER, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', part => {
    text += part;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the reader of ${task.work} ended with ${code}`);
  return JSON.parse(text);
}

/** Registers an app, installs it on the only organization and mints a token. */
async function install(url) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const { organizations } = await call(`${url}/_sandbox/organizations`);
  const [{ id: organizationId }] = organizations;
  const app = await post(`${url}/_sandbox/apps`, {
    name: 'Bench client',
    permissions: { organization_info: 'VIEW', organization_warehouse: 'VIEW' },
    publicKeys: [publicKey],
  });
  const { id } = await post(`${url}/_sandbox/installations`, { appId: app.id, organizationId });
  const jwt = `Bearer ${signJwt(app.id, privateKey)}`;
  const { token } = await post(`${url}/app/installations/${id}/accessTokens`, undefined, jwt);
  return { url, organizationId, token };
}

async function post(url, body, authorization) {
  return call(url, {
    method: 'POST',
    headers: { ...(authorization && { authorization }), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function call(url, options = {}) {
  const response = await fetch(url, { ...options, headers: { ...VERSION, ...options.headers } });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

function signJwt(appId, privateKey) {
  const now = Math.floor(Date.now() / 1000);
  const signed = [
    { alg: 'RS256', typ: 'JWT' },
    { iss: appId, iat: now - 60, exp: now + 300 },
  ]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

function report(what, value, bound, unit) {
  show(`${what} (at most ${bound})`, value, unit);
  if (!(value <= bound)) misses.push(`${what}: ${value.toFixed(2)} ${unit}, expected at most ${bound}`);
}

function show(what, value, unit) {
  process.stdout.write(`${what.padEnd(72)} ${value.toFixed(2).padStart(12)} ${unit}\n`);
}
