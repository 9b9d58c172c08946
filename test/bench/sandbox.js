// The bounds of the sandbox: pages out of 100,000 retirements, 50,000 credits in one answer, time to ready.
import { spawn } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RETIREMENTS = 100_000;
const WAREHOUSE_CREDITS = 50_000;
const CREDITS_IN_WAREHOUSE_SHARE = 0.8;
const PAGE_LIMIT = 100;
const PAGES_MEASURED = 200;
const STARTS = 3;
const VERSION = { 'x-registry-api-version': '2023-06-16' };
const BOUNDS = { pageMs: 5, peakMegabytes: 250, firstStartMs: 5000, nextStartMs: 1000 };

const CHILD = fileURLToPath(new URL('sandbox-child.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bench-sandbox-'));
const children = new Set();
const misses = [];

try {
  await measureStarts();
  await measureAnswers();
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
for (const miss of misses) process.stdout.write(`MISSED ${miss}\n`);
process.exitCode = misses.length === 0 ? 0 : 1;

async function measureStarts() {
  const first = [];
  const next = [];
  for (let round = 0; round < STARTS; round++) {
    const options = { port: 0, folder: join(folder, `start-${round}`), seed: round };
    for (const times of [first, next]) {
      const startedAt = performance.now();
      const child = await startChild(options);
      if (times === first) await install(child.url);
      times.push(performance.now() - startedAt);
      await stopChild(child);
    }
  }
  report(
    'start to ready, empty folder, keys and demo world, worst of 3',
    Math.max(...first),
    BOUNDS.firstStartMs,
    'ms',
  );
  report('start to ready, second time, worst of 3', Math.max(...next), BOUNDS.nextStartMs, 'ms');
}

async function measureAnswers() {
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
  const startedAt = performance.now();
  await stopChild(await startChild(options));
  show('filling the large world', performance.now() - startedAt, 'ms');

  const pages = await startChild(options);
  await measurePages(await install(pages.url));
  await stopChild(pages);

  // A process of its own: the peak is then that of a sandbox that only starts and answers.
  const streaming = await startChild(options);
  await measureWarehouse(await install(streaming.url), streaming.process.pid);
  await stopChild(streaming);
}

async function measurePages(client) {
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
  report(
    `page of ${PAGE_LIMIT} out of ${RETIREMENTS} retirements, median of ${PAGES_MEASURED}`,
    middle,
    BOUNDS.pageMs,
    'ms',
  );
  show('the last page', times.at(-1), 'ms');
  show('floor: one organization, median', floor, 'ms');
  show('ratio of page to floor', middle / floor, 'times');
}

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
  report('peak RSS after it', peakMegabytes(pid), BOUNDS.peakMegabytes, 'MB');
}

async function startChild(options) {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the sandbox ended with ${code} before it was ready`);
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => undefined);
  return { process: child, url: String(line).trim() };
}

async function stopChild(child) {
  const ended = once(child.process, 'exit');
  child.process.kill('SIGTERM');
  await ended;
}

/** Registers an app, installs it on the first organization and answers a client with its token. */
async function install(url) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const { organizations } = await call(`${url}/_sandbox/organizations`);
  const [{ id: organizationId }] = organizations;
  const app = await post(`${url}/_sandbox/apps`, {
    name: `Bench ${process.hrtime.bigint()}`,
    permissions: { organization_info: 'VIEW', organization_warehouse: 'VIEW' },
    publicKeys: [publicKey],
  });
  const installation = await post(`${url}/_sandbox/installations`, { appId: app.id, organizationId });
  const jwt = `Bearer ${signJwt(app.id, privateKey)}`;
  const { token } = await post(`${url}/app/installations/${installation.id}/accessTokens`, undefined, jwt);
  const base = `${url}/organizations/${organizationId}`;
  const headers = { authorization: `Bearer ${token}` };
  return {
    read: async path => call(`${base}${path}`, { headers }),
    readText: async path => (await fetch(`${base}${path}`, { headers: { ...VERSION, ...headers } })).text(),
  };
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
  if (!response.ok)
    throw new Error(`${options.method ?? 'GET'} ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

function signJwt(appId, privateKey) {
  const now = Math.floor(Date.now() / 1000);
  const signed = `${jwtPart({ alg: 'RS256', typ: 'JWT' })}.${jwtPart({ iss: appId, iat: now - 60, exp: now + 300 })}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
}

function jwtPart(value) {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function peakMegabytes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1000;
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

function report(what, value, bound, unit) {
  show(`${what} (under ${bound})`, value, unit);
  if (!(value < bound)) misses.push(`${what}: ${value.toFixed(1)} ${unit}, expected under ${bound}`);
}

function show(what, value, unit) {
  process.stdout.write(`${what.padEnd(72)} ${value.toFixed(2).padStart(10)} ${unit}\n`);
}
