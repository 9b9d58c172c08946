import { expect, test } from 'vitest';
import { issueCredit } from '../support/sandbox.js';
import { startInstalled, type Program } from '../support/program.js';

interface Sync {
  readonly resource: string;
  readonly trigger: string;
  readonly job_id: number | null;
  readonly newest_delivery_id: number | null;
}

async function syncsAfter(program: Program, id: unknown): Promise<Sync[]> {
  const columns = 'resource, trigger, job_id, newest_delivery_id';
  const asSync = (row: unknown): Sync =>
    Object.assign({ resource: '', trigger: '', job_id: null, newest_delivery_id: null }, row);
  return (await program.rows(`SELECT ${columns} FROM syncs WHERE id > ? ORDER BY id`, Number(id))).map(
    asSync,
  );
}

const newestSync = async (program: Program) =>
  Object((await program.rows('SELECT coalesce(max(id), 0) AS id FROM syncs'))[0])['id'];

test('each sync names its job and the newest delivery that the job answers', async () => {
  const { program, retire } = await startInstalled();
  const before = await newestSync(program);
  retire(1);
  retire(2);
  await program.rest();
  const newest = await program.row("SELECT * FROM deliveries WHERE verdict = 'accepted' ORDER BY id DESC");
  const syncs = (await syncsAfter(program, before)).filter(({ trigger }) => trigger === 'delivery');
  expect(syncs.map(({ resource }) => resource)).toContain('retirements');
  expect(syncs.at(-1)).toMatchObject({ job_id: newest?.['job_id'], newest_delivery_id: newest?.['id'] });
  for (const { job_id: jobId } of syncs) {
    expect(await program.value('SELECT kind FROM jobs WHERE id = ?', jobId)).toBe('installation');
  }
});

test('a sync that no delivery caused names only its job, and so does the row of an installation', async () => {
  const { program, organizationId, installationId } = await startInstalled();
  const first = (await syncsAfter(program, 0)).filter(({ resource }) => resource === 'installation');
  expect(first).toEqual([{ ...first[0], job_id: expect.any(Number) }]);
  const before = await newestSync(program);
  issueCredit(program.sandbox, organizationId);
  await program.reconcile();
  const syncs = await syncsAfter(program, before);
  expect(new Set(syncs.map(({ resource }) => resource))).toEqual(new Set(['warehouse', 'projects']));
  const unchanged = await program.column<string>('SELECT resource FROM unchanged_reads');
  expect(new Set(unchanged)).toEqual(
    new Set(['certificates', ...LISTS.filter(list => list !== 'warehouse')]),
  );
  expect(syncs.filter(sync => sync.newest_delivery_id !== null)).toEqual([]);
  const ofJob = 'SELECT installation_id FROM jobs WHERE id = ?';
  const read = await Promise.all(syncs.map(sync => program.value(ofJob, sync.job_id)));
  expect(new Set(read)).toEqual(new Set([installationId]));
});

const LISTS = [
  'warehouse',
  'reservations',
  'inventory',
  'inventory_requests',
  'organization',
  'addresses',
  'members',
  'retirements',
];

test('a sync records when the registry last answered, or that it never did', async () => {
  const { program, retire } = await startInstalled();
  retire(1);
  await program.rest();
  const outside = `SELECT id, resource FROM syncs WHERE requests > 0 AND (last_answer_at IS NULL
    OR last_answer_at < started_at OR last_answer_at > finished_at)`;
  expect(await program.rows(outside)).toEqual([]);
  expect(
    await program.rows("SELECT 1 FROM syncs WHERE resource = 'installation' AND last_answer_at IS NULL"),
  ).toEqual([]);
  program.registry.faults.add({ path: '/organizations/*/members', kind: 'hangup' });
  const before = await newestSync(program);
  retire(1);
  await program.rest();
  const [failed] = await program.rows(
    "SELECT requests > 0 AS asked, last_answer_at FROM syncs WHERE resource = 'members' AND id > ?",
    Number(before),
  );
  expect(failed).toEqual({ asked: 1, last_answer_at: null });
});
