import { expect, test } from 'vitest';
import { type NewJob, createInstallationJob } from '../../src/inbox/job.js';
import { startInstalled } from '../support/program.js';
import { startProxy } from '../support/proxy.js';

const STATE_SQL =
  "SELECT CASE WHEN state = 'fresh' AND failing_since IS NOT NULL THEN 'fresh, failing' ELSE coalesce(reason, state) END AS state, error FROM freshness WHERE resource = ?";

/** Starts a mirror with one credit and two retirements. `answerWith` replaces the response on paths with this ending. */
async function startWithResponse(ending: string) {
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
  const readNow = async (options: Pick<NewJob, 'payload'> = {}): Promise<void> => {
    program.time.move(2000);
    const job = { ...createInstallationJob(installationId, organizationId, 'person'), ...options };
    await program.inbox.enqueue([job]);
    await program.worker().idle();
  };
  return {
    ...installed,
    readNow: readNow,
    answerWith: (value: unknown) => {
      answer = JSON.stringify(value);
    },
    state: async (resource: string) => (await program.rows(STATE_SQL, resource))[0],
    count: async (table: string) => (await program.rows(`SELECT 1 FROM ${table}`)).length,
  };
}

const createCredits = (count: number, rest: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ id: `credit-${index}`, amount: 1, ...rest }));

test('T35 a response without the owner that earlier ones named closes no row', async () => {
  const {
    organizationId,
    answerWith,
    readNow: look,
    state,
    count,
  } = await startWithResponse('/warehouse/inventory');
  answerWith({ organizationId, credits: createCredits(3) });
  await look();
  expect(await state('warehouse')).toEqual({ state: 'fresh', error: null });
  const closed = await count("past WHERE resource = 'warehouse'");
  answerWith({ credits: createCredits(2) });
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
  answerWith({ organizationId, credits: createCredits(2) });
  await look();
  expect(await state('warehouse')).toEqual({ state: 'fresh', error: null });
  expect(await count('warehouse_credits')).toBe(2);
});

test('T35 a full sync accepts a registry that no longer names the owner of its lists', async () => {
  const {
    organizationId,
    answerWith,
    readNow: look,
    state,
    count,
  } = await startWithResponse('/warehouse/inventory');
  answerWith({ organizationId, credits: createCredits(3) });
  await look();
  answerWith({ credits: createCredits(2) });
  await look({ payload: { full: true } });
  expect([await count('warehouse_credits'), await state('warehouse')]).toEqual([
    2,
    { state: 'fresh', error: null },
  ]);
  answerWith({ credits: createCredits(1) });
  await look();
  expect([await count('warehouse_credits'), await state('warehouse')]).toEqual([
    1,
    { state: 'fresh', error: null },
  ]);
});

test('T35 a long response that names another owner first changes no row', async () => {
  const { answerWith, readNow: look, state, count } = await startWithResponse('/warehouse/inventory');
  answerWith({ organizationId: 'somebody-else', credits: createCredits(1_500) });
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
])('T35 %s with another owner change no row', async (table, path, key, rows) => {
  const { answerWith, readNow: look, state, count } = await startWithResponse(path);
  const before = await count(table);
  answerWith({ organizationId: 'somebody-else', [key]: rows, pagination: { total: 1, nextPage: null } });
  await look();
  expect([await count(table), await count(`past WHERE resource = '${table}'`)]).toEqual([before, 0]);
  expect(await state(table)).toMatchObject({
    state: 'fresh, failing',
    error: expect.stringContaining('organizationId'),
  });
});

test('T35 a credit with another owner is left out and reported, and no row is closed', async () => {
  const {
    organizationId,
    program,
    answerWith,
    readNow: look,
    state,
    count,
  } = await startWithResponse('/warehouse/inventory');
  answerWith({ organizationId, credits: createCredits(3) });
  await look();
  const closed = await count("past WHERE resource = 'warehouse'");
  const theirs = [{ id: 'their-credit', amount: 5, organizationId: 'somebody-else' }];
  answerWith({ organizationId, credits: [...createCredits(2, { organizationId }), ...theirs] });
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

test('T35 a retirement with another owner is left out and reported, and no row is closed', async () => {
  const {
    organizationId,
    program,
    answerWith,
    readNow: look,
    state,
    count,
  } = await startWithResponse('/retirements');
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
