import { expect, test } from 'vitest';
import { type NewJob, createInstallationJob } from '../../src/inbox/job.js';
import { startInstalled } from '../support/program.js';
import { startProxy } from '../support/proxy.js';

const STATE =
  "SELECT CASE WHEN state = 'fresh' AND failing_since IS NOT NULL THEN 'fresh, failing' ELSE coalesce(reason, state) END AS state, error FROM freshness WHERE resource = ?";

/** A mirror with one credit and two retirements, whose registry is answered for on paths that end so. */
async function startAnswered(ending: string) {
  let answer: string | null = null;
  const installed = await startInstalled({ receiveOnly: true });
  const { program, installationId, organizationId, retire } = installed;
  retire(2);
  retire(3);
  const baseUrl = await startProxy(program.sandbox.url, path =>
    path.split('?')[0]?.endsWith(ending) === true ? answer : null,
  );
  await program.startWorker({ baseUrl });
  await program.rest();
  const look = async (wish: Pick<NewJob, 'payload'> = {}): Promise<void> => {
    program.time.move(2000);
    const job = { ...createInstallationJob(installationId, organizationId, 'person'), ...wish };
    await program.inbox.enqueue([job]);
    await program.worker().idle();
  };
  return {
    ...installed,
    look,
    answerWith: (value: unknown) => {
      answer = JSON.stringify(value);
    },
    state: async (resource: string) => (await program.rows(STATE, resource))[0],
    count: async (table: string) => (await program.rows(`SELECT 1 FROM ${table}`)).length,
  };
}

const credits = (count: number, rest: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ id: `credit-${index}`, amount: 1, ...rest }));

test('T35 an answer that lacks rows and does not say whose it is, as earlier ones did, closes nothing', async () => {
  const { organizationId, answerWith, look, state, count } = await startAnswered('/warehouse/inventory');
  answerWith({ organizationId, credits: credits(3) });
  await look();
  expect(await state('warehouse')).toEqual({ state: 'fresh', error: null });
  const closed = await count("past WHERE resource = 'warehouse'");
  answerWith({ credits: credits(2) });
  for (let read = 0; read < 2; read++) {
    await look();
    expect(await state('warehouse')).toEqual({
      state: 'read_interrupted',
      error: expect.stringContaining('does not say whose list it is'),
    });
  }
  expect([await count('warehouse_credits'), await count("past WHERE resource = 'warehouse'")]).toEqual([
    3,
    closed,
  ]);
  answerWith({ organizationId, credits: credits(2) });
  await look();
  expect(await state('warehouse')).toEqual({ state: 'fresh', error: null });
  expect(await count('warehouse_credits')).toBe(2);
});

test('T35 a registry that no longer says whose its lists are is believed once a person asks for a full read', async () => {
  const { organizationId, answerWith, look, state, count } = await startAnswered('/warehouse/inventory');
  answerWith({ organizationId, credits: credits(3) });
  await look();
  answerWith({ credits: credits(2) });
  await look({ payload: { full: true } });
  expect([await count('warehouse_credits'), await state('warehouse')]).toEqual([
    2,
    { state: 'fresh', error: null },
  ]);
  answerWith({ credits: credits(1) });
  await look();
  expect([await count('warehouse_credits'), await state('warehouse')]).toEqual([
    1,
    { state: 'fresh', error: null },
  ]);
});

test('T35 a long answer that says first that it is for somebody else touches no row', async () => {
  const { answerWith, look, state, count } = await startAnswered('/warehouse/inventory');
  answerWith({ organizationId: 'somebody-else', credits: credits(1_500) });
  await look();
  expect([await count('warehouse_credits'), await count("past WHERE resource = 'warehouse'")]).toEqual([
    1, 0,
  ]);
  expect(await state('warehouse')).toMatchObject({ state: 'fresh, failing' });
});

test.each([
  ['addresses', '/addresses', 'addresses', [{ address: '0xab' }]],
  ['members', '/members', 'members', [{ id: 'm', email: 'eve@example.com' }]],
  ['retirements', '/retirements', 'retirements', [{ id: 'r', amount: 1 }]],
])('T35 %s that say that they are for somebody else touch no row', async (table, path, key, rows) => {
  const { answerWith, look, state, count } = await startAnswered(path);
  const before = await count(table);
  answerWith({ organizationId: 'somebody-else', [key]: rows, pagination: { total: 1, nextPage: null } });
  await look();
  expect([await count(table), await count(`past WHERE resource = '${table}'`)]).toEqual([before, 0]);
  expect(await state(table)).toMatchObject({
    state: 'fresh, failing',
    error: expect.stringContaining('organizationId'),
  });
});

test('T35 a credit of somebody else among ours is left out and named, and no row is closed', async () => {
  const { organizationId, program, answerWith, look, state, count } =
    await startAnswered('/warehouse/inventory');
  answerWith({ organizationId, credits: credits(3) });
  await look();
  const closed = await count("past WHERE resource = 'warehouse'");
  const theirs = [{ id: 'their-credit', amount: 5, organizationId: 'somebody-else' }];
  answerWith({ organizationId, credits: [...credits(2, { organizationId }), ...theirs] });
  await look();
  expect(await state('warehouse')).toEqual({
    state: 'read_interrupted',
    error: expect.stringContaining('their-credit of somebody-else'),
  });
  expect(
    await program.rows("SELECT 1 FROM warehouse_credits_history WHERE credit_id = 'their-credit'"),
  ).toEqual([]);
  expect(await count('warehouse_credits')).toBe(3);
  expect(await program.rows("SELECT 1 FROM warehouse_credits WHERE credit_id = 'credit-2'")).toHaveLength(1);
  expect(await count("past WHERE resource = 'warehouse'")).toBe(closed + 2);
});

test('T35 a retirement of somebody else among ours is left out and named, and no row is closed', async () => {
  const { organizationId, program, answerWith, look, state, count } = await startAnswered('/retirements');
  const ours = Object((await program.rows('SELECT id FROM retirements'))[0])['id'];
  const theirs = { id: 'their-retirement', amount: 5, organizationOwner: { id: 'somebody-else' } };
  answerWith({
    retirements: [{ id: ours, amount: 2, organizationId }, theirs],
    pagination: { total: 2, currentPage: 0, pageCount: 1, nextPage: null },
  });
  for (let read = 0; read < 2; read++) {
    await look();
    expect(await state('retirements')).toEqual({
      state: 'read_interrupted',
      error: expect.stringContaining('their-retirement of somebody-else'),
    });
  }
  expect(await count('retirements')).toBe(2);
  expect(await program.rows("SELECT 1 FROM retirements_history WHERE id = 'their-retirement'")).toEqual([]);
});
