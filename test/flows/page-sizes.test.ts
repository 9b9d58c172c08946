import { expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { observePages } from '../../src/registry/pages/paged-lists.js';
import { findDifferences } from '../support/compare.js';
import { startInstalled, openSyncContext } from '../support/program.js';
import { collect } from '../support/registry-client.js';

const RETIREMENTS = '/organizations/*/retirements';
const PAGE_SIZES_SQL = 'SELECT resource, page_size FROM resource_states WHERE page_size IS NOT NULL';

/** Starts a mirror with retirements that no delivery announces. */
async function startWithRetirements(count: number) {
  const { program, organizationId, installationId, retire, calls } = await startInstalled();
  program.registry.deliveries.changeSettings({ drop: 1000 });
  for (let made = 0; made < count; made++) retire(0.5);
  const requestRead = async (payload = {}) => {
    const job = createInstallationJob(installationId, organizationId, 'person');
    await program.inbox.enqueue([{ ...job, payload }]);
  };
  return { program, calls, ask: requestRead, owner: [installationId, organizationId] as const };
}

test('a refused page size is reduced and remembered until the next full sync', async () => {
  const { program, calls, ask } = await startWithRetirements(70);
  const { faults } = program.registry;
  faults.add({ path: RETIREMENTS, kind: 'pageLimit', options: { rows: 20 } });
  await ask();
  await program.rest();
  expect(await findDifferences(program)).toEqual([]);
  expect(await program.rows(PAGE_SIZES_SQL)).toEqual([{ resource: 'retirements', page_size: 20 }]);
  const before = calls('/retirements');
  await program.reconcile();
  expect(calls('/retirements') - before).toBe(4);
  faults.clear();
  await program.reconcile();
  expect(calls('/retirements') - before).toBe(8);
  await ask({ full: true });
  await program.rest();
  expect(calls('/retirements') - before).toBe(9);
  expect(await program.rows(PAGE_SIZES_SQL)).toEqual([]);
  expect(await findDifferences(program)).toEqual([]);
});

test('a page and its groups of rows are stored as digest prefixes', async () => {
  const { program, ask, owner } = await startWithRetirements(3);
  await ask();
  await program.rest();
  const { client } = await openSyncContext(program, {});
  const [page] = await collect(observePages(client.organization(...owner).listRetirements()));
  const begins = ({ digest }: { readonly digest: string }) => digest.slice(0, 16);
  const groups = page?.unknownGroups.map(begins).toSorted().join();
  const [digests] = await program.column(
    "SELECT page_digests FROM resource_states WHERE resource = 'retirements'",
  );
  expect(digests).toMatch(new RegExp(`^(\\d+) ${page && begins(page)}:3:\\1:${groups}$`));
});

test('T35 missing retirements are requested eight at a time, without warnings of Node', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => warnings.push(name);
  process.on('warning', note);
  const { program, ask } = await startWithRetirements(45);
  await ask();
  await program.rest();
  const body = { retirements: [], pagination: { total: 0, pageCount: 0, nextPage: null } };
  program.registry.faults.add({ path: RETIREMENTS, kind: 'wrongShape', options: { body }, count: 1 });
  program.registry.faults.add({ path: `${RETIREMENTS}/*`, kind: 'silence' });
  const countHits = () => program.registry.faults.list()[1]?.hits;
  await ask();
  await expect.poll(countHits).toBe(8);
  await program.kill();
  process.off('warning', note);
  expect(countHits()).toBe(8);
  expect(warnings).toEqual([]);
});
