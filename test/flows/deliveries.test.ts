import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/registry/object-models.js';
import { runCommand } from '../support/command.js';
import { findDifferences } from '../support/compare.js';
import { visitConsole } from '../support/console.js';
import { startInstalled, type Program } from '../support/program.js';
import { signedPost } from '../support/receiver.js';

interface Message {
  readonly body: string;
  readonly signature: string;
}

function lastMessage({ registry }: Program): Message {
  const [latest] = registry.deliveries.list(1);
  const { body, signature } = registry.deliveries.get(latest?.id ?? 0);
  return { body, signature: signature ?? '' };
}

async function post({ webhookUrl }: Program, { body, signature }: Message): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-registry-signature-256': signature };
  const response = await fetch(webhookUrl, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** Collects one genuine webhook of each of the seven events about one installation. */
async function collectEveryMessage() {
  const installed = await startInstalled();
  const { program, installationId, organizationId, creditId, retire } = installed;
  const { registry, app } = program;
  const messages = [lastMessage(program)];
  const keep = () => messages.push(lastMessage(program));
  retire(1);
  keep();
  registry.credits.withdraw(organizationId, { creditId, amount: 20 });
  const retirementData = { reason: 'r', beneficiaryName: 'b' };
  const order = { action: 'retire', body: { creditId, amount: 2, retirementData } } as const;
  registry.requests.accept(registry.requests.create(organizationId, app.id, order).id);
  keep();
  registry.installations.suspend(installationId);
  keep();
  registry.installations.unsuspend(installationId);
  keep();
  registry.installations.acceptPermissions(installationId);
  keep();
  registry.installations.uninstall(installationId);
  keep();
  return { ...installed, messages };
}

/** Plays every Nth of the 5,040 orders of seven events; `npm run torture -- orders` plays all. */
const ORDER_STEP = Number(process.env['ORDER_STEP'] ?? 251);
const ORDERS_TIMEOUT_MS = 30 * 60_000;

function createPermutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, index) =>
    createPermutations(items.toSpliced(index, 1)).map(rest => [first, ...rest]),
  );
}

async function playOrders(): Promise<void> {
  const { program, organizationId, messages } = await collectEveryMessage();
  expect(new Set(messages.map(message => JSON.parse(message.body).event))).toEqual(new Set(WEBHOOK_EVENTS));
  program.registry.installations.install(program.app.id, organizationId);
  await program.rest();
  const orders = createPermutations(messages);
  expect(orders).toHaveLength(5040);
  for (let order = 0; order < orders.length; order += ORDER_STEP) {
    for (const message of orders[order] ?? []) expect(await post(program, message)).toBe(202);
    await program.rest();
    expect(await findDifferences(program)).toEqual([]);
  }
  expect(await program.rows("SELECT count(*) AS active FROM installations WHERE state = 'active'")).toEqual([
    { active: 1 },
  ]);
}

test(
  'T08 the mirror matches the registry in whatever order the seven events arrive',
  playOrders,
  ORDERS_TIMEOUT_MS,
);

test('T07 an old "uninstalled" event, replayed 200 times after a new installation, changes nothing', async () => {
  const { program, organizationId, installationId, calls } = await startInstalled();
  program.registry.installations.uninstall(installationId);
  const uninstalled = lastMessage(program);
  await program.rest();
  const { id } = program.registry.installations.install(program.app.id, organizationId);
  await program.rest();
  const before = { active: calls(`/installations/${id}`), old: calls(`/installations/${installationId}`) };
  const began = program.ended.length;
  for (let round = 0; round < 4; round++) {
    const statuses = await Promise.all(Array.from({ length: 50 }, () => post(program, uninstalled)));
    expect(new Set(statuses)).toEqual(new Set([202]));
  }
  await program.rest();
  expect(await program.rows('SELECT state FROM installations WHERE id = ?', id)).toEqual([
    { state: 'active' },
  ]);
  expect(calls(`/installations/${id}`)).toBe(before.active);
  expect(program.ended.length - began).toBeLessThan(20);
  expect(calls(`/installations/${installationId}`)).toBeGreaterThan(before.old);
});

test('T09 50 identical posts at once cause one read and at most one more', async () => {
  const { program, retire } = await startInstalled();
  program.registry.deliveries.changeSettings({ hold: true });
  retire(3);
  const message = lastMessage(program);
  const began = program.ended.length;
  const statuses = await Promise.all(Array.from({ length: 50 }, () => post(program, message)));
  expect(statuses).toEqual(Array.from({ length: 50 }, () => 202));
  await program.rest();
  const runs = program.ended.slice(began).filter(({ kind }) => kind === 'installation');
  const posted = await program.column<string>(
    "SELECT received_at FROM deliveries WHERE event = 'warehouseTransaction' ORDER BY received_at",
  );
  const postedForMs = Date.parse(posted.at(-1) ?? '') - Date.parse(posted[0] ?? '');
  expect(runs.length).toBeGreaterThanOrEqual(1);
  expect(runs.length).toBeLessThanOrEqual(2 + Math.floor(postedForMs / 1000));
  expect(await findDifferences(program)).toEqual([]);
});

test('lost, repeated and reordered deliveries lead to the same rows', async () => {
  const { program, retire } = await startInstalled();
  program.registry.deliveries.changeSettings({ duplicate: 2, reorder: 3, drop: 2 });
  for (let amount = 1; amount <= 5; amount++) retire(amount);
  program.registry.deliveries.release();
  await program.rest();
  await program.reconcile();
  expect(await program.rows('SELECT count(*) AS rows FROM retirements')).toEqual([{ rows: 5 }]);
  expect(await findDifferences(program)).toEqual([]);
});

test('P02 a delivery that arrives during a read of its installation causes another read', async () => {
  const { program, retire } = await startInstalled();
  program.registry.faults.add({
    path: '/organizations/*/retirements',
    kind: 'delay',
    options: { delayMs: 150 },
    count: 1,
  });
  retire(1);
  await expect.poll(async () => (await program.inbox.countJobs()).running).toBe(1);
  retire(2);
  await program.rest();
  expect(await program.rows('SELECT amount FROM retirements ORDER BY amount')).toEqual([
    { amount: 1 },
    { amount: 2 },
  ]);
  expect(await findDifferences(program)).toEqual([]);
});

test('T99 a delivery whose read failed in part shows what failed and when it is retried, in list, page, JSON and job', async () => {
  const { program, retire } = await startInstalled();
  const { registry, env, time, engine } = program;
  const fault = { kind: 'status', options: { status: 503 } };
  const { id } = registry.faults.add({ path: '/organizations/*/retirements', ...fault });
  retire(1);
  await program.rest();
  const run = async (...argv: string[]) =>
    (await runCommand(argv, { env, now: time.now, columns: 400 })).stdout;
  const showDelivery = async () => {
    const [delivery] = JSON.parse(await run('deliveries', 'list', '--limit', '1', '--json')).rows;
    const job = JSON.parse(await run('jobs', 'show', String(delivery.job_id), '--json'));
    const output = await run('deliveries', 'show', String(delivery.id));
    return { delivery, job, shown: output, list: await run('deliveries', 'list', '--limit', '1') };
  };
  const [again] = await program.column<string>("SELECT run_at FROM jobs WHERE kind = 'retry'");
  const end = `read in part: retirements failed (503), tried again ${again?.slice(11, 16)}`;
  const before = await showDelivery();
  expect(before.delivery.end.startsWith(end), before.delivery.end).toBe(true);
  expect(before.job.end).toBe(before.delivery.end);
  for (const text of [before.list, before.shown]) expect(text).toContain(end);
  for (const text of [before.list, before.shown]) expect(text).not.toContain('nothing new');

  const { open } = await visitConsole(engine.openReader, { now: time.now });
  const page = async (path: string) => await (await open(path)).text();
  const delivery = await page(`/deliveries/${before.delivery.id}`);
  expect(delivery).toContain(end);
  expect(delivery).toMatch(/retirements<\/a> [^<]*<span class="state bad">failed<\/span> \(503\)/);
  expect(delivery).not.toMatch(/retirements<\/a> in \d+ ms, nothing changed/);
  expect(await page(`/jobs/${before.delivery.job_id}`)).toContain(end);
  for (const list of ['/deliveries', '/jobs'])
    expect(await page(list)).toContain('read in part: retirements failed (503)');

  registry.faults.remove(id);
  expect(await program.inbox.prioritizeFailed(['unavailable'])).toBe(1);
  const [last] = await program.column<string>("SELECT started_at FROM jobs WHERE kind = 'retry'");
  expect((await showDelivery()).delivery.end).toContain(`tried again ${last?.slice(11, 16)}`);
  time.move(60_000);
  await program.rest();
  expect((await showDelivery()).delivery.end).toContain(
    'read in part: retirements failed (503), tried again',
  );
  retire(1);
  await program.rest();
  expect((await showDelivery()).delivery.end).toMatch(/^read in \d+\.\d s: /);
});

test('a delivery shows whether its installation is unknown or uninstalled', async () => {
  const { program, installationId } = await startInstalled();
  const { env, registry, time } = program;
  registry.installations.uninstall(installationId);
  await program.rest();
  const payload = JSON.parse(lastMessage(program).body);
  const say = async (id: string) => {
    const signed = { ...payload, at: id, installation: { ...payload.installation, id } };
    const { body, headers } = signedPost(signed, { secret: env['WEBHOOK_SECRETS'] ?? '' });
    expect(await post(program, { body, signature: headers['x-registry-signature-256'] ?? '' })).toBe(202);
    await program.rest();
    const argv = ['deliveries', 'list', '--limit', '1', '--json'];
    return JSON.parse((await runCommand(argv, { env, now: time.now })).stdout).rows[0];
  };
  const never = { outcome: 'uninstalled', end: 'the registry knows no such installation' };
  expect(await say(randomUUID())).toMatchObject(never);
  expect((await say(installationId)).end).toMatch(/^uninstalled in /);
});

test('the command and the page of a delivery show its transaction decoded', async () => {
  const { program, retire, creditId } = await startInstalled();
  retire(1.5);
  await program.rest();
  const { env, time, engine } = program;
  const [id] = await program.column<number>(
    "SELECT id FROM deliveries WHERE event = 'warehouseTransaction' ORDER BY id DESC LIMIT 1",
  );
  const show = (...more: string[]) =>
    runCommand(['deliveries', 'show', String(id), ...more], { env, now: time.now, columns: 400 });
  const { content } = JSON.parse((await show('--json')).stdout);
  expect(content.transaction).toMatchObject({ creditId, amount: 1.5, status: 'processed' });
  const { open } = await visitConsole(engine.openReader, { now: time.now });
  const page = (await (await open(`/deliveries/${id}`)).text()).replaceAll('&quot;', '"');
  for (const text of [(await show()).stdout, page]) {
    expect(text).toMatch(/"amount": ?1\.5\b/);
    expect(text).toContain(creditId);
  }
});
