// npm run bench -- changes [--engine postgres]: `changes --since 24h` where 1,000,000 retirements stand (ROWS sets another
// number) and 10,000 changes are a day old at most, each start beside one of Node that does nothing.
import { execFileSync } from 'node:child_process';
import { createMirror } from '../../dist/mirror/create-mirror.js';
import { openEngine } from '../../dist/engines/open.js';
import { MAIN, withFolder } from './parts/children.js';
import { freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { best, createFigures, timed } from './parts/figures.js';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const CHANGED = 5_000;
const TIMES = 9;
const BEYOND_MS = { under: 100 };
const DAY_MS = 86_400_000;
const PAGE = 100;
const OWNER = 'organization-1';

const { engine } = readArguments(process.argv.slice(3));
const { show, demand, end } = createFigures();
if (engine === 'sqlite') await withFolder(async folder => await measure({ dataDir: folder, database: null }));
else {
  await withPostgres(async server =>
    withFolder(async folder => {
      const url = await freshDatabase(server);
      await measure({ dataDir: folder, database: { url, pool: null } });
    }),
  );
}
end();

async function measure(settings) {
  await fill(openEngine({ ...settings, diskReserveMb: null }));
  const env = { ...process.env, DATA_DIR: settings.dataDir };
  if (settings.database !== null) env.MIRROR_DATABASE_URL = settings.database.url;
  const run = args => timed(() => execFileSync(process.execPath, args, { env, stdio: 'ignore' }));
  const shown = execFileSync(process.execPath, [MAIN, 'changes', '--since', '24h'], {
    env,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  if (!shown.includes('10000 changes:')) throw new Error(`expected 10000 changes: ${shown.slice(-200)}`);
  const times = { bare: [], nothing: [], changes: [] };
  for (let time = 0; time < TIMES; time++) {
    times.bare.push(await run(['-e', '0']));
    times.nothing.push(await run([MAIN, 'changes', '--since', 'now']));
    times.changes.push(await run([MAIN, 'changes', '--since', '24h']));
  }
  show('node that does nothing', best(times.bare), 'ms');
  show('changes --since now', best(times.nothing), 'ms');
  show('changes --since 24h, 10,000 of them', best(times.changes), 'ms');
  demand(
    `changes --since 24h beyond bare node, ${engine}`,
    best(times.changes) - best(times.bare),
    'ms',
    BEYOND_MS,
  );
}

/** 5,000 are changed and 5,000 come: each is a change. */
async function fill(store) {
  let at = Date.now() - 30 * DAY_MS;
  await store.migrate(at);
  const writers = await store.openWriters(() => at);
  const mirror = createMirror(writers.mirror, () => at);
  await mirror.writeInstallation({
    claim: 1,
    trigger: 'delivery',
    startedAt: at,
    arrivedAt: at,
    state: 'active',
    installation: {
      id: 'installation-1',
      appId: 'app-1',
      organizationId: OWNER,
      organization: null,
      permissions: {},
      createdAt: null,
      updatedAt: null,
      document: '{}',
    },
  });
  await read(mirror, at, ROWS, () => 'Harbour Ferries');
  at = Date.now() - DAY_MS / 24;
  await read(mirror, at, ROWS + CHANGED, n => (n < CHANGED ? 'Northern Rail' : 'Harbour Ferries'));
  await writers.close();
  show('retirements mirrored', ROWS + CHANGED, 'rows');
}

async function read(mirror, startedAt, rows, beneficiaryOf) {
  const asked = { claim: 1, trigger: 'delivery', startedAt, organizationId: OWNER, resource: 'retirements' };
  const reading = await mirror.beginRead(asked);
  for (let from = 0; from < rows; from += PAGE) {
    const items = Array.from({ length: PAGE }, (_, n) => retirement(from + n, beneficiaryOf(from + n)));
    await reading.writePage(from / PAGE, items, startedAt);
  }
  await reading.finish({ total: rows, requests: 1, bytes: 1 });
}

function retirement(n, beneficiary) {
  const micro = BigInt((n % 500) * 1_000_000 + 250_000);
  const item = {
    id: `retirement-${n}`,
    organizationId: OWNER,
    project: { id: `project-${n % 40}`, fullName: `Project ${n % 40}` },
    serialization: `ICR-ISL-354-1-${n % 40}-R-0-2021`,
    vintage: '2021',
    amount: { exact: `${n % 500}.25`, value: (n % 500) + 0.25, micro, fault: null },
    reason: 'Voluntary purposes',
    beneficiary: `${beneficiary} ${n % 5_000}`,
    comment: null,
    isClaimed: true,
    createdAt: new Date(Date.UTC(2018, n % 96, 1 + (n % 28))).toISOString(),
  };
  return { ...item, document: JSON.stringify({ ...item, amount: item.amount.value }) };
}
