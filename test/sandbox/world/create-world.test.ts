import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createWorld } from '../../../src/sandbox/world/create-world.js';
import type { WorldSpec } from '../../../src/sandbox/world/plan.js';
import type { WorldAmounts } from '../../../src/sandbox/options.js';
import { temporarySandbox, unequalCredits } from '../../support/sandbox.js';

type World = ReturnType<typeof createWorld>;

const SPEC: WorldSpec = { seed: 7, startAt: Date.UTC(2026, 0, 1) };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('The same seed makes the same world, every id and byte of it', () => {
  expect(digest(createWorld(SPEC))).toBe(digest(createWorld(SPEC)));
  expect(digest(createWorld({ ...SPEC, seed: 8 }))).not.toBe(digest(createWorld(SPEC)));
});

test('The start time moves the outstanding reservations and nothing else', () => {
  const later = createWorld({ ...SPEC, startAt: SPEC.startAt + 86_400_000 });
  expect(digest({ ...later, reservations: createWorld(SPEC).reservations })).toBe(digest(createWorld(SPEC)));
  const outstanding = [...later.reservations].filter(({ state }) => state === 'outstanding');
  expect(outstanding.length).toBeGreaterThan(0);
  for (const { created_at, reserved_to_at } of outstanding) {
    expect(Date.parse(created_at)).toBeLessThan(SPEC.startAt + 86_400_000);
    expect(Date.parse(reserved_to_at)).toBeGreaterThan(SPEC.startAt + 86_400_000);
    expect(Date.parse(reserved_to_at) - Date.parse(created_at)).toBe(600_000);
  }
});

test('Two seeds share no id', () => {
  const first = new Set(worldIds(1));
  expect(worldIds(2).filter(id => first.has(id))).toEqual([]);
});

test('The demo world holds a bit of everything', () => {
  const { organizations, projects, credits, retirements, ...world } = fill(SPEC);
  expect(organizations.length).toBeGreaterThanOrEqual(3);
  expect(projects.length).toBeGreaterThanOrEqual(8);
  expect(credits).toHaveLength(60);
  expect(retirements).toHaveLength(150);
  const [claimed, unclaimed] = [true, false].map(is => retirements.filter(row => row.is_claimed === is));
  expect(unclaimed?.length).toBeGreaterThanOrEqual(3);
  for (const { beneficiary, reason, comment, app_id } of unclaimed ?? [])
    expect([beneficiary, reason, comment, app_id]).toEqual([null, null, null, null]);
  for (const { beneficiary, reason } of claimed ?? []) expect([beneficiary, reason]).not.toContain(null);
  expect(credits.filter(({ type }) => type === 'exAnte').length).toBeGreaterThan(0);
  const issuers = new Set(credits.map(({ project_id }) => project_id));
  expect(projects.filter(({ id, is_public }) => !is_public && issuers.has(id))).toHaveLength(1);
  expect(distinct(credits.map(({ vintage }) => vintage)).length).toBeGreaterThanOrEqual(5);
  expect(distinct(world.holdings.map(({ place }) => place))).toHaveLength(2);
  expect(distinct(world.reservations.map(({ state }) => state))).toHaveLength(4);
  expect(distinct(world.requests.map(({ state }) => state))).toHaveLength(3);
  expect(world.holdings.filter(({ amount_micro }) => amount_micro % 1_000_000 !== 0).length).toBeGreaterThan(
    0,
  );
  for (const rows of [world.users, world.addresses])
    expect(distinct(rows.map(({ organization_id }) => organization_id))).toHaveLength(organizations.length);
});

test.each<[string, WorldAmounts]>([
  ['the demo world', {}],
  ['a larger one', { retirements: 5_000, credits: 1_000, organizations: 7 }],
  ['one organization alone', { organizations: 1 }],
  ['the smallest', { organizations: 1, projects: 1, credits: 1, retirements: 1 }],
  ['one without retirements', { retirements: 0 }],
])('In %s each credit was issued in the sum of its holdings, holds and retirements', async (_, world) => {
  const sandbox = await temporarySandbox({ seed: SPEC.seed, world });
  expect(unequalCredits(sandbox)).toEqual([]);
  expect(sandbox.registry.store.tables.credits.count()).toBe(world.credits ?? 60);
  expect(sandbox.registry.store.tables.retirements.count()).toBe(world.retirements ?? 150);
});

test('Lists stand in order of time', () => {
  const { retirements, reservations, requests } = fill({ ...SPEC, retirements: 3_000 });
  for (const rows of [retirements, reservations, requests]) {
    const dates = rows.map(({ created_at }) => created_at);
    expect(dates).toEqual(dates.toSorted());
  }
});

test('Each finished reservation and accepted request has its transaction, which names the retirement and the app', () => {
  const { reservations, requests, retirements, transactions } = fill(SPEC);
  const ended = [
    ...reservations.filter(({ state }) => state === 'finished'),
    ...requests.filter(({ state }) => state === 'Accepted'),
  ];
  expect(ended.length).toBeGreaterThan(0);
  const told = transactions.map(row => row.reservation_id ?? row.request_id ?? '');
  expect(told.toSorted()).toEqual(ended.map(({ id }) => id).toSorted());
  for (const { retirement_id, credit_id, amount_micro, app_id } of transactions) {
    expect(app_id).not.toBeNull();
    const retired = retirements.find(({ id }) => id === retirement_id);
    expect(retired).toMatchObject({ credit_id, amount_micro, app_id });
  }
  expect(distinct(transactions.map(({ event }) => event)).toSorted()).toEqual([
    'organizationTransaction',
    'warehouseTransaction',
  ]);
});

test('Ids and serializations have the forms that the registry shows', () => {
  const { apps, users, organizations, projects, reservations, requests, retirements, credits } = fill(SPEC);
  for (const rows of [apps, users, organizations, projects, reservations, requests, retirements])
    for (const { id } of rows) expect(id).toMatch(UUID);
  for (const { id, type, token_id, token_address, serialization } of credits) {
    expect(id).toMatch(/^(exPost|exAnte)-\d+-0x[0-9a-f]{40}$/);
    expect(id).toBe(`${type}-${token_id}-${token_address}`);
    expect(serialization).toMatch(/^ICR-[A-Z]{3}-\d+-\d+-\d+-[RA]-[01]-\d{4}$/);
  }
});

test('Only credits that were issued are retired, and never before that', () => {
  const { credits, retirements } = fill({ ...SPEC, retirements: 2_000 });
  const byId = new Map(credits.map(row => [row.id, row]));
  for (const { credit_id, created_at } of retirements) {
    const credit = byId.get(credit_id);
    expect(credit?.type).toBe('exPost');
    expect((credit?.created_at ?? '') <= created_at).toBe(true);
  }
});

test('A size that cannot be is refused with every fault named', () => {
  expect(() => createWorld({ ...SPEC, organizations: 0, credits: -1, retirements: 1.5 })).toThrow(
    /credits.*retirements.*organizations/,
  );
});

function fill(spec: WorldSpec) {
  const { credits, holdings, retirements, ...world } = createWorld(spec);
  return { ...world, credits: [...credits], holdings: [...holdings], retirements: [...retirements] };
}

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}

function digest(world: World): string {
  const hash = createHash('sha256');
  for (const [table, rows] of Object.entries(world)) {
    hash.update(table);
    for (const row of rows) hash.update(JSON.stringify(row));
  }
  return hash.digest('hex');
}

function worldIds(seed: number): string[] {
  return Object.values(createWorld({ ...SPEC, seed })).flatMap(rows => idsOf(rows));
}

function idsOf(rows: Iterable<object>): string[] {
  return Array.from(rows).flatMap(row => ('id' in row && typeof row.id === 'string' ? [row.id] : []));
}
