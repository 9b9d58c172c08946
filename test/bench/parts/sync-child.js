// Our side of `npm run bench -- sync`: the worker's own parts in a process of their own, so that its peak memory is its own.
// Arguments: what to do, as JSON. Prints what it took, as JSON lines.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createClient } from '../../../dist/client.js';
import { migrateFile } from '../../../dist/engines/sqlite/migrate.js';
import { openDatabase } from '../../../dist/engines/sqlite/open.js';
import { startMirrorThread } from '../../../dist/engines/sqlite/mirror/thread.js';
import { createInboxPort } from '../../../dist/engines/sqlite/inbox/inbox.js';
import { createCertificateStore } from '../../../dist/mirror/certificates/walk.js';
import { createCertificateFolder } from '../../../dist/engines/sqlite/certificates/folder.js';
import { createMirror } from '../../../dist/mirror/create-mirror.js';

import { createPerform } from '../../../dist/sync/perform.js';
import { createWorker } from '../../../dist/sync/worker/worker.js';

const {
  url,
  appId,
  privateKey,
  dataDir,
  jobs = [],
  serve = false,
  certificates = false,
} = JSON.parse(process.argv[2]);
const now = Date.now;
const files = { inbox: join(dataDir, 'inbox.db'), mirror: join(dataDir, 'mirror.db') };
for (const family of ['inbox', 'mirror']) migrateFile(files[family], family, new Date().toISOString());
const inboxDb = openDatabase(files.inbox, { busyTimeoutMs: 5000 });
const mirrorDb = openDatabase(files.mirror, { busyTimeoutMs: 5000 });
const inbox = createInboxPort(inboxDb, now);
const port = await startMirrorThread({
  file: files.mirror,
  reader: mirrorDb,
  busyTimeoutMs: 5000,
  certificates: join(dataDir, 'certificates'),
  failed: error => {
    throw error;
  },
});
const mirror = createMirror(port, now);
const folder = createCertificateFolder(join(dataDir, 'certificates'), { now });
await folder.prepare();
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
const store = createCertificateStore(port, folder, now);
// The page benchmarks measure rows: a hundred thousand certificates would follow them.
const noCertificates = {
  ...store,
  enter: async () => 0,
  begin: async request => ({ ...(await store.begin(request)), due: async () => [] }),
};
const context = {
  inbox,
  mirror,
  certificates: certificates ? store : noCertificates,
  client,
  appId,
  mirrorMembers: true,
  retentionDays: 90,
  now,
  random: Math.random,
};
const ended = [];
const worker = createWorker({
  inbox,
  perform: createPerform(context),
  now,
  random: Math.random,
  concurrency: 4,
  log: { info: () => {}, warn: fields => process.stderr.write(`${JSON.stringify(fields)}\n`) },
  onEnded: event => ended.push(event),
});
await mirror.checkOrigin(url, appId);
await client.jwt.get();
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

if (serve) {
  worker.start();
  process.stdout.write('ready\n');
} else {
  for (const job of jobs) process.stdout.write(`${JSON.stringify(await runJob(job))}\n`);
  await worker.stop();
  await port.close();
  inboxDb.close();
  mirrorDb.close();
}
process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify({ ...own(), ended: ended.length })}\n`);
  void worker
    .stop()
    .then(() => port.close())
    .then(() => process.exit(0));
});

/** One job from its claim to its end. What it wrote is read from its sync run. */
async function runJob({
  kind = 'installation',
  installationId,
  organizationId,
  resources,
  lane = 'data',
  beside,
  report,
  inspectWal = false,
}) {
  const wal = () => statSync(`${files.mirror}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  mirrorDb.pragma('wal_checkpoint(TRUNCATE)');
  delay.reset();
  const payload = resources && { resources: Object.fromEntries(resources.map(name => [name, true])) };
  const job = {
    kind,
    dedupeKey: `bench:${Math.random()}`,
    trigger: 'person',
    installationId,
    organizationId,
    lane,
  };
  await inbox.enqueue([{ ...job, ...(payload && { payload }) }]);
  const startedAt = performance.now();
  const endedBefore = ended.length;
  if (runJob.started !== true) worker.start();
  runJob.started = true;
  const timer = beside && setInterval(() => enqueueBeside(beside), 200);
  await worker.idle();
  const ms = performance.now() - startedAt;
  clearInterval(timer);
  const name = report ?? resources?.[0] ?? kind;
  const run = mirrorDb
    .prepare('SELECT * FROM sync_runs WHERE organization_id = ? AND resource = ? ORDER BY id DESC LIMIT 1')
    .get(organizationId, name);
  const readMs = run && Date.parse(run.finished_at) - Date.parse(run.started_at);
  const written = inspectWal ? tablesInWal() : [];
  return { ms, readMs, run, walBytes: wal(), written, others: ended.length - endedBefore - 1, ...own() };
}

/** The tables and indexes with a page in the write-ahead log: since it was truncated, nothing else was written to. */
function tablesInWal() {
  const log = readFileSync(`${files.mirror}-wal`);
  const pageSize = log.readUInt32BE(8);
  const written = new Set();
  for (let frame = 32; frame < log.length; frame += 24 + pageSize) written.add(log.readUInt32BE(frame));
  const pages = mirrorDb.prepare('SELECT name, pageno FROM dbstat').all();
  return [...new Set(pages.filter(({ pageno }) => written.has(pageno)).map(({ name }) => name))];
}

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

function own() {
  const status = readFileSync('/proc/self/status', 'utf8');
  return { peakMegabytes: Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1000, blockMs: delay.max / 1e6 };
}
