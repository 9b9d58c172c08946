// Reads the sandbox once in a process of its own, so that peak memory is that of the read alone.
// Argument: what to read and how, as JSON. Prints the measurement as JSON.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** @import { InstallationToken } from '../../../dist/src/registry/http/credential.js' */
/**
 * @typedef {{
 *   url: string,
 *   organizationId: string,
 *   token: string,
 *   work: 'floorPages' | 'clientPages' | 'floorWarehouse' | 'clientWarehouse',
 *   limit: number,
 *   concurrency: number,
 *   pages: number,
 *   passes?: number,
 * }} Task
 */

/** @type {Task} */
const task = JSON.parse(process.argv[2] ?? '');
const { url, organizationId, token, work, limit, concurrency, pages, passes = 1 } = task;
const headers = { authorization: `Bearer ${token}`, 'x-registry-api-version': '2023-06-16' };
const base = `${url}/organizations/${organizationId}`;

/** @type {number | null} */
let bytes = null;
const WORKS = { floorPages, clientPages, floorWarehouse, clientWarehouse };
// Opened before the clock starts, because loading the client's code is not part of reading.
const client = work.startsWith('client') ? await openClient() : null;

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
const rows = await WORKS[work]();
const ms = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
// The next tick of the measurement also counts a block of the event loop at the very end.
await new Promise(resolve => setTimeout(resolve, 50));
delay.disable();
const status = readFileSync('/proc/self/status', 'utf8');
const peakMegabytes = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1000;
const result = { rows, bytes, ms, cpuMs: (user + system) / 1000, peakMegabytes, blockMs: delay.max / 1e6 };
process.stdout.write(`${JSON.stringify(result)}\n`);

/** Reads without the client: plain fetch and JSON.parse, with the same number of pages in flight. */
async function floorPages() {
  let next = 0;
  let count = 0;
  const last = pages * passes;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < last) {
        const page = next++ % pages;
        const response = await fetch(`${base}/retirements?limit=${limit}&page=${page}`, { headers });
        count += JSON.parse(await response.text()).retirements.length;
      }
    }),
  );
  return count;
}

async function floorWarehouse() {
  const response = await fetch(`${base}/warehouse/inventory`, { headers });
  const text = await response.text();
  bytes = text.length;
  return JSON.parse(text).credits.length;
}

async function openClient() {
  const { createHttpClient } = await import('../../../dist/src/registry/http/http-client.js');
  const { isCredential } = await import('../../../dist/src/registry/http/credential.js');
  /** @type {(text: string) => text is InstallationToken} */
  const isToken = isCredential;
  const { createOrganizationClient } = await import('../../../dist/src/registry/organization-client.js');
  const http = createHttpClient({
    baseUrl: url,
    requestsPerSecond: Infinity,
    concurrency,
    now: Date.now,
    random: Math.random,
  });
  if (!isToken(token)) throw new Error('expected a token');
  const credential = token;
  const source = { get: async () => ({ token: credential, fresh: false }), discard: () => undefined };
  return createOrganizationClient({ http, organizationId, appId: 'bench', token: source });
}

async function clientPages() {
  if (client === null) return 0;
  let count = 0;
  for (let pass = 0; pass < passes; pass++) {
    let pageCount = 0;
    for await (const page of client.listRetirements({ limit, readAhead: concurrency }).pages()) {
      count += page.items.length;
      if (++pageCount >= pages) break;
    }
  }
  return count;
}

async function clientWarehouse() {
  if (client === null) return 0;
  let count = 0;
  for await (const { creditId } of client.listWarehouse()) if (creditId !== '') count += 1;
  return count;
}
