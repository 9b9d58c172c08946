// The measured side of `npm run bench -- sync`: parts of the worker in a process of their own, so that nothing else adds to peak memory.
// Argument: the task as JSON. Prints the measurements as JSON lines.
import { readFileSync } from 'node:fs';
import { createClient } from '../../../dist/src/client.js';
import { createCertificateStore } from '../../../dist/src/mirror/certificates/certificate-store.js';
import { createMirror } from '../../../dist/src/mirror/create-mirror.js';
import { createJobHandler } from '../../../dist/src/sync/sync-service.js';
import { createWorker } from '../../../dist/src/sync/worker/worker.js';
import { openStore } from './sync-store.js';

/** @import { Installed } from './registry.js' */
/**
 * @typedef {Installed & {
 *   resources?: string[],
 *   beside?: Installed,
 *   report?: string,
 *   inspectWal?: boolean,
 * }} Job
 * @typedef {{
 *   url: string,
 *   appId: string,
 *   privateKey: string,
 *   dataDir: string,
 *   database?: string,
 *   jobs?: Job[],
 *   serve?: boolean,
 *   certificates?: boolean,
 * }} WorkTask
 * @typedef {Awaited<ReturnType<typeof runJob>>} JobResult
 */

/** @type {WorkTask} */
const task = JSON.parse(process.argv[2] ?? '');
const {
  url,
  appId,
  privateKey,
  dataDir,
  database = null,
  jobs = [],
  serve = false,
  certificates = false,
} = task;
const now = Date.now;
const { work, lastSync, beginLog, readLog, close } = await openStore({ dataDir, database }, now);
const { inbox, mirror: port, pdfs } = work;
const mirror = createMirror(port, now);
await pdfs.prepare();
const client = createClient({
  baseUrl: url,
  appId,
  privateKey,
  requestsPerSecond: Infinity,
  burst: Infinity,
  concurrency: 16,
  streamDeadlineMs: 600_000,
  now,
  random: Math.random,
});
const store = createCertificateStore(port, pdfs, now);
// Benchmarks of pages store no certificates: otherwise a hundred thousand downloads would follow.
/** @type {import('../../../dist/src/mirror/mirror.js').CertificateStore} */
const noCertificates = {
  ...store,
  makeNewDue: async () => 0,
  beginSession: async request => ({ ...(await store.beginSession(request)), listDue: async () => [] }),
};
const context = {
  inbox,
  mirror,
  certificates: certificates ? store : noCertificates,
  client,
  appId,
  mirrorMembers: true,
  runsOrders: false,
  retentionDays: 90,
  now,
  random: Math.random,
};
/** @type {object[]} */
const ended = [];
const worker = createWorker({
  inbox,
  handleJob: createJobHandler(context),
  now,
  random: Math.random,
  concurrency: 4,
  log: { info: () => {}, warn: writeFields, error: writeFields },
  onEnded: event => ended.push(event),
});
await mirror.checkOrigin({ baseUrl: url, appId });
await client.jwt.get();
let isStarted = false;
const BLOCK_CHECK_MS = 5;
/** The longest time for which the event loop ran no timer. Measured in processor time, so that other programs do not count. */
let longestBlockMs = 0;
let busyMs = readBusyMs();
setInterval(watchBlocks, BLOCK_CHECK_MS).unref();

if (serve) {
  worker.start();
  process.stdout.write('ready\n');
} else {
  for (const job of jobs) process.stdout.write(`${JSON.stringify(await runJob(job))}\n`);
  await worker.stop();
  await close();
}
process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify({ ...own(), ended: ended.length })}\n`);
  void worker
    .stop()
    .then(close)
    .then(() => process.exit(0));
});

/**
 * Runs a job from its claim to its end. The rows that it wrote are read from its sync.
 * @param {Job} job
 */
async function runJob({ installationId, organizationId, resources, beside, report, inspectWal = false }) {
  await beginLog();
  watchBlocks();
  longestBlockMs = 0;
  const usedBefore = process.cpuUsage();
  const payload = resources && { resources: Object.fromEntries(resources.map(name => [name, true])) };
  const job = {
    kind: 'installation',
    dedupeKey: `bench:${Math.random()}`,
    trigger: 'person',
    installationId,
    organizationId,
  };
  await inbox.enqueue([{ ...job, ...(payload && { payload }) }]);
  const startedAt = performance.now();
  const endedBefore = ended.length;
  if (!isStarted) worker.start();
  isStarted = true;
  const timer = beside && setInterval(() => enqueueBeside(beside), 200);
  await worker.idle();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(usedBefore);
  clearInterval(timer);
  const name = report ?? resources?.[0] ?? job.kind;
  const run = await lastSync(organizationId, name);
  if (run === undefined) throw new Error(`no sync of ${name} was entered`);
  const readMs = Date.parse(run.finished_at ?? '') - Date.parse(run.started_at);
  const log = inspectWal ? readLog() : { walBytes: 0, written: [] };
  return {
    ms,
    readMs,
    processorMs: (user + system) / 1000,
    run,
    ...log,
    others: ended.length - endedBefore - 1,
    ...own(),
  };
}

/** @param {Installed} installed */
function enqueueBeside({ installationId, organizationId }) {
  void inbox.enqueue([
    {
      kind: 'installation',
      dedupeKey: `beside:${installationId}`,
      trigger: 'person',
      installationId,
      organizationId,
    },
  ]);
}

/** @param {object} fields */
function writeFields(fields) {
  process.stderr.write(`${JSON.stringify(fields)}\n`);
}

/** Returns the processor time of the main thread so far. */
function readBusyMs() {
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

function watchBlocks() {
  const usedMs = readBusyMs();
  longestBlockMs = Math.max(longestBlockMs, usedMs - busyMs);
  busyMs = usedMs;
}

function own() {
  const status = readFileSync('/proc/self/status', 'utf8');
  return { peakMegabytes: Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1000, blockMs: longestBlockMs };
}
