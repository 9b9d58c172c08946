import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { runCommand } from '../support/command.js';
import { startInstalled, type Program } from '../support/program.js';
import { listPdfNames, readPdfText } from '../support/pdfs.js';
import { chooseLength, engineIndependent } from '../support/long.js';

const PDFS = '/organizations/*/retirements/*/pdf';
const DAY_MS = 24 * 3_600_000;

async function readCertificates(program: Program) {
  return await program.rows('SELECT state, attempts, error FROM certificates');
}

const listFiles = ({ pdfs }: Pick<Program, 'pdfs'>): Promise<string[]> => listPdfNames(pdfs);

engineIndependent.test.each([
  ['a page of HTML', { kind: 'html' }],
  ['an empty file', { kind: 'cut', options: { bytes: 0, cleanEnd: true } }],
  ['a file cut short with a clean end', { kind: 'cut', options: { bytes: 900, cleanEnd: true } }],
  ['a file whose connection breaks', { kind: 'cut', options: { bytes: 900 } }],
])('T50 %s is not stored, and the certificate is requested again later', async (_name, fault) => {
  const { program, retire } = await startInstalled();
  program.registry.faults.add({ path: PDFS, count: 1, ...fault });
  retire(1);
  await program.rest();
  expect(await readCertificates(program)).toMatchObject([{ state: 'pending', attempts: 1 }]);
  expect(Object((await readCertificates(program))[0])['error']).not.toBeNull();
  expect(await listFiles(program)).toEqual([]);
  program.time.move(10 * 60_000);
  await program.reconcile();
  expect(await readCertificates(program)).toMatchObject([{ state: 'stored' }]);
  expect(await listFiles(program)).toHaveLength(1);
});

engineIndependent.test(
  'T50 a stored certificate is kept when a later response is not a certificate',
  async () => {
    const { program, retire } = await startInstalled();
    retire(1);
    await program.rest();
    const [file = ''] = await listFiles(program);
    const text = await readPdfText(program.pdfs, file);
    program.registry.faults.add({ path: PDFS, kind: 'html' });
    program.time.move(31 * DAY_MS);
    await program.reconcile();
    expect(await readCertificates(program)).toMatchObject([{ state: 'stored' }]);
    expect(await listFiles(program)).toEqual([file]);
    expect(text).toMatch(/^%PDF/);
    expect(await readPdfText(program.pdfs, file)).toBe(text);
  },
);

engineIndependent.test(
  'T51 the mirror names certificate files itself, whatever the registry suggests',
  async () => {
    const { program, retire } = await startInstalled();
    retire(1);
    await program.rest();
    const [row] = await program.rows('SELECT retirement_id, file, sha256 FROM certificates');
    const { retirement_id, file, sha256 } = Object(row);
    expect(file).toBe(`${retirement_id}-${String(sha256)}.pdf`);
    expect(await listFiles(program)).toEqual([file]);
  },
);

test('T52 a changed certificate is stored beside the old one, and the history shows both', async () => {
  const { program, retire } = await startInstalled();
  retire(1);
  await program.rest();
  const before = await listFiles(program);
  const [retirement] = await program.rows('SELECT id FROM retirements');
  program.registry.retirements.changeDetails(Object(retirement)['id'], {
    beneficiary: 'Grace',
    reason: 'corrected',
  });
  await program.reconcile();
  expect(await program.rows('SELECT beneficiary FROM retirements')).toEqual([{ beneficiary: 'Grace' }]);
  const after = await listFiles(program);
  expect(after).toHaveLength(2);
  expect(after).toEqual(expect.arrayContaining(before));
  const history = await program.rows(
    'SELECT file, valid_to FROM certificates_history WHERE file IS NOT NULL ORDER BY version',
  );
  expect(history).toEqual([
    { file: before[0], valid_to: expect.any(String) },
    { file: after.find(file => file !== before[0]), valid_to: null },
  ]);
});

const ROUNDS = chooseLength(4, 8);
const INITIAL_RETIREMENTS = chooseLength(16, 40);

test('T75 purges during reads and webhooks leave no row without its file and no partial purge', async () => {
  const { program, organizationId, installationId, retire } = await startInstalled();
  const { registry } = program;
  const missingFiles = new Set<string>();
  let purged = 0;
  const watch = new AbortController();
  onTestFinished(() => watch.abort());
  const watched = (async () => {
    while (!watch.signal.aborted) {
      for (const file of await findLostFiles(program)) missingFiles.add(file);
      await setTimeout(5);
    }
  })();
  for (let retirement = 0; retirement < INITIAL_RETIREMENTS; retirement += 1) retire(0.5);
  await program.rest();
  for (let round = 0; round < ROUNDS; round += 1) {
    retire(0.5);
    await program.inbox.enqueue([
      { ...createInstallationJob(installationId, organizationId, 'person'), payload: { full: true } },
    ]);
    const countOrganizations = async () => (await program.rows('SELECT 1 FROM organizations')).length;
    await expect.poll(countOrganizations, { interval: 2 }).toBe(1);
    await setTimeout(round * (144 / ROUNDS));
    const { fullName } = registry.organizations.get(organizationId);
    const argv = ['purge', '--organization', organizationId, '--confirm', fullName, '--force', '--no-vacuum'];
    const { exitCode } = await runCommand(argv, { env: program.env });
    purged += exitCode === 0 ? 1 : 0;
  }
  await program.rest();
  await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
  await program.rest();
  watch.abort();
  await watched;
  expect(purged).toBeGreaterThan(ROUNDS / 4);
  expect(missingFiles).toEqual(new Set());
  expect(await readCertificates(program)).toHaveLength(INITIAL_RETIREMENTS + ROUNDS);
  expect(new Set((await readCertificates(program)).map(row => Object(row)['state']))).toEqual(
    new Set(['stored']),
  );
  const named = await program.column('SELECT file FROM certificates ORDER BY file');
  expect(await listFiles(program)).toEqual(named);
});

const REFERENCED_FILES_SQL = 'SELECT file FROM certificates_history WHERE file IS NOT NULL';

/** Returns files that rows name before and after the check, and that do not exist. */
async function findLostFiles({ pdfs, column }: Program): Promise<string[]> {
  const named = await column<string>(REFERENCED_FILES_SQL);
  const existingFiles = await listFiles({ pdfs });
  const missingFiles = named.filter(file => !existingFiles.includes(file));
  const referencedFiles = new Set(await column(REFERENCED_FILES_SQL));
  return missingFiles.filter(file => referencedFiles.has(file));
}

engineIndependent.test(
  'T53 the missing certificate of an unclaimed retirement is requested daily, then less often',
  async () => {
    const { program, organizationId, creditId, calls } = await startInstalled();
    program.registry.credits.withdraw(organizationId, { creditId, amount: 10 });
    program.registry.credits.retireOffPlatform(organizationId, { creditId, amount: 4 });
    await program.reconcile();
    expect(await readCertificates(program)).toMatchObject([{ state: 'unavailable', attempts: 1 }]);
    for (let round = 0; round < 5; round++) await program.reconcile();
    expect(calls('/pdf')).toBe(1);
    program.time.move(DAY_MS);
    await program.reconcile();
    expect(calls('/pdf')).toBe(2);
    program.time.move(DAY_MS);
    await program.reconcile();
    expect(calls('/pdf')).toBe(2);
    program.time.move(DAY_MS);
    await program.reconcile();
    expect(calls('/pdf')).toBe(3);
  },
);

engineIndependent.test(
  'T53 an uninstall during a certificate walk marks no certificate as unavailable',
  async () => {
    const { program, organizationId, installationId, retire, calls } = await startInstalled();
    program.registry.faults.add({ path: PDFS, kind: 'delay', options: { delayMs: 100 } });
    for (let retirement = 0; retirement < 20; retirement++) retire(0.5);
    await expect.poll(() => calls('/pdf'), { interval: 5 }).toBeGreaterThan(0);
    program.registry.deliveries.changeSettings({ hold: true });
    program.registry.installations.uninstall(installationId);
    await expect.poll(() => calls('/accessTokens'), { interval: 5 }).toBeGreaterThan(1);
    await expect.poll(() => program.worker().countRuns()).toBe(0);
    program.registry.deliveries.release();
    program.registry.installations.install(program.app.id, organizationId);
    await program.rest();
    await program.reconcile();
    expect(new Set((await readCertificates(program)).map(row => Object(row)['state']))).toEqual(
      new Set(['stored']),
    );
  },
);

test('a full sync requests every certificate again and keeps the files of unchanged ones', async () => {
  const { program, organizationId, installationId, retire, calls } = await startInstalled();
  for (let retirement = 0; retirement < 3; retirement++) retire(1);
  await program.rest();
  const [callsBefore, before] = [calls('/pdf'), await listFiles(program)];
  const job = { ...createInstallationJob(installationId, organizationId, 'person'), payload: { full: true } };
  await program.inbox.enqueue([job]);
  await program.rest();
  expect(calls('/pdf')).toBe(callsBefore + 3);
  expect(await listFiles(program)).toEqual(before);
  expect(await program.rows('SELECT 1 FROM certificates_history WHERE valid_to IS NOT NULL')).toEqual([]);
});

const MANY = chooseLength(50, 150);

engineIndependent.test(
  'each certificate is requested once, however many arrive at the same time',
  async () => {
    const { program, retire, calls } = await startInstalled();
    for (let retirement = 0; retirement < MANY; retirement++) retire(0.5);
    await program.rest();
    expect(await program.rows("SELECT count(*) AS stored FROM certificates WHERE state = 'stored'")).toEqual([
      { stored: MANY },
    ]);
    expect(calls('/pdf')).toBe(MANY);
  },
);

test('a killed certificate walk resumes where it stopped', async () => {
  const { program, retire, calls } = await startInstalled({ receiveOnly: true });
  for (let retirement = 0; retirement < 40; retirement++) retire(0.5);
  await program.rest();
  const { faults } = program.registry;
  faults.add({ path: PDFS, kind: 'delay', options: { delayMs: 1 }, count: 20 });
  faults.add({ path: PDFS, kind: 'silence' });
  await program.startWorker();
  const stored = () =>
    program.column<string>("SELECT retirement_id FROM certificates WHERE state = 'stored'");
  await expect.poll(async () => (await stored()).length, { interval: 5 }).toBeGreaterThan(5);
  await expect.poll(() => faults.list().at(-1)?.hits, { interval: 5 }).toBeGreaterThan(0);
  await program.kill();
  const before = await stored();
  expect(before.length).toBeLessThan(40);
  faults.clear();
  program.time.move(61_000);
  await program.startWorker();
  await program.rest();
  expect(await stored()).toHaveLength(40);
  expect(await listFiles(program)).toHaveLength(40);
  for (const id of before) expect(calls(`/retirements/${id}/pdf`), id).toBe(1);
});

engineIndependent.test(
  'certificate walks never delay a delivery, because they have job slots of their own',
  async () => {
    const { program, organizationId, installationId, retire } = await startInstalled({
      worker: { concurrency: 1 },
    });
    program.registry.faults.add({ path: PDFS, kind: 'delay', options: { delayMs: 3000 } });
    for (let retirement = 0; retirement < 24; retirement++) retire(0.5);
    const busy = async () =>
      (await program.rows("SELECT 1 FROM jobs WHERE state = 'running' AND part = 'certificates'")).length > 0;
    await expect.poll(busy, { interval: 5 }).toBe(true);
    program.registry.credits.friendbot(organizationId);
    await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
    const deposited = async () => (await program.rows('SELECT 1 FROM inventory_credits')).length;
    await expect.poll(deposited, { interval: 5 }).toBe(1);
    expect(await program.rows("SELECT 1 FROM certificates WHERE state = 'pending'")).not.toEqual([]);
    program.registry.faults.clear();
    await program.rest();
  },
);
