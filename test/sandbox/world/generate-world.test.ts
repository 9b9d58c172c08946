import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateWorld } from '../../../src/sandbox/world/generate-world.js';
import type { WorldSpec } from '../../../src/sandbox/world/world-size.js';
import type { WorldAmounts } from '../../../src/sandbox/options.js';
import { startTemporarySandbox, findUnbalancedCredits } from '../../support/sandbox.js';

type World = ReturnType<typeof generateWorld>;

const SPEC: WorldSpec = { seed: 7, startAt: Date.UTC(2026, 0, 1) };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('the same seed gives the same world, byte for byte', () => {
  expect(hashWorld(generateWorld(SPEC))).toBe(hashWorld(generateWorld(SPEC)));
  expect(hashWorld(generateWorld({ ...SPEC, seed: 8 }))).not.toBe(hashWorld(generateWorld(SPEC)));
});

/** A journal holds only the seed and the size of its world. To change a world, give the journal another version. */
test.each<[string, string, WorldAmounts]>([
  ['the demo world', 'c4f1e0cce9ad79f689b4d12e507a46e9704b9ca973aa074ae0d2c51436de7ef2', {}],
  [
    'a larger one',
    'e07ffd90ecb5b2389f2be24b05d4e7feff031ff2bca43cbe0fdbd95e91bb25e2',
    { retirements: 1_000, credits: 300, organizations: 7 },
  ],
  [
    'one organization alone',
    '8f97b6dca111cd256b6a878e9e8ad85a7882164993ccaa40c2973e33ab8bc684',
    { organizations: 1 },
  ],
])('%s has the same rows in every version of the sandbox', (_, hash, world) => {
  expect(hashWorld(generateWorld({ ...SPEC, ...world }))).toBe(hash);
});

test('the start time changes only the outstanding reservations', () => {
  const later = generateWorld({ ...SPEC, startAt: SPEC.startAt + 86_400_000 });
  expect(hashWorld({ ...later, reservations: generateWorld(SPEC).reservations })).toBe(
    hashWorld(generateWorld(SPEC)),
  );
  const outstanding = [...later.reservations].filter(({ state }) => state === 'outstanding');
  expect(outstanding.length).toBeGreaterThan(0);
  for (const { createdAt, reservedToDate } of outstanding) {
    expect(Date.parse(createdAt)).toBeLessThan(SPEC.startAt + 86_400_000);
    expect(Date.parse(reservedToDate)).toBeGreaterThan(SPEC.startAt + 86_400_000);
    expect(Date.parse(reservedToDate) - Date.parse(createdAt)).toBe(600_000);
  }
});

test('two seeds share no id', () => {
  const first = new Set(listWorldIds(1));
  expect(listWorldIds(2).filter(id => first.has(id))).toEqual([]);
});

test('the demo world contains every kind of object and state', () => {
  const { organizations, projects, credits, retirements, ...world } = generateLists(SPEC);
  expect(organizations.length).toBeGreaterThanOrEqual(3);
  expect(projects.length).toBeGreaterThanOrEqual(8);
  expect(credits).toHaveLength(60);
  expect(retirements).toHaveLength(150);
  const [claimed, unclaimed] = [true, false].map(is =>
    retirements.filter(row => (row.details !== null) === is),
  );
  expect(unclaimed?.length).toBeGreaterThanOrEqual(3);
  for (const { appId } of unclaimed ?? []) expect(appId).toBeNull();
  for (const { details: words } of claimed ?? [])
    expect([words?.beneficiary, words?.reason]).not.toContain('');
  expect(credits.filter(({ type }) => type === 'exAnte').length).toBeGreaterThan(0);
  const issuers = new Set(credits.map(({ projectId }) => projectId));
  expect(projects.filter(({ id, isPublic }) => !isPublic && issuers.has(id))).toHaveLength(1);
  expect(removeDuplicates(credits.map(({ vintage }) => vintage)).length).toBeGreaterThanOrEqual(5);
  expect(removeDuplicates(world.holdings.map(({ place }) => place))).toHaveLength(2);
  expect(removeDuplicates(world.reservations.map(({ state }) => state))).toHaveLength(4);
  expect(removeDuplicates(world.requests.map(({ state }) => state))).toHaveLength(3);
  expect(world.holdings.filter(({ amountMicro }) => amountMicro % 1_000_000 !== 0).length).toBeGreaterThan(0);
  for (const rows of [world.users, world.addresses])
    expect(removeDuplicates(rows.map(({ organizationId }) => organizationId))).toHaveLength(
      organizations.length,
    );
});

test.each<[string, WorldAmounts]>([
  ['the demo world', {}],
  ['a larger one', { retirements: 5_000, credits: 1_000, organizations: 7 }],
  ['one organization alone', { organizations: 1 }],
  ['the smallest', { organizations: 1, projects: 1, credits: 1, retirements: 1 }],
  ['one without retirements', { retirements: 0 }],
])('In %s each credit was issued in the sum of its holdings, holds and retirements', async (_, world) => {
  const sandbox = await startTemporarySandbox({ seed: SPEC.seed, world });
  expect(findUnbalancedCredits(sandbox)).toEqual([]);
  expect(sandbox.registry.store.tables.credits.count()).toBe(world.credits ?? 60);
  expect(sandbox.registry.store.tables.retirements.count()).toBe(world.retirements ?? 150);
});

test('lists are in order of time', () => {
  const { retirements, reservations, requests } = generateLists({ ...SPEC, retirements: 3_000 });
  for (const rows of [retirements, reservations, requests]) {
    const dates = rows.map(({ createdAt }) => createdAt);
    expect(dates).toEqual(dates.toSorted());
  }
});

test('each finished reservation and accepted request has a transaction that names its retirement and app', () => {
  const { reservations, requests, retirements, transactions } = generateLists(SPEC);
  const ended = [
    ...reservations.filter(({ state }) => state === 'finished'),
    ...requests.filter(({ state }) => state === 'Accepted'),
  ];
  expect(ended.length).toBeGreaterThan(0);
  const originIds = transactions.map(row => row.reservationId ?? row.requestId ?? '');
  expect(originIds.toSorted()).toEqual(ended.map(({ id }) => id).toSorted());
  for (const { retirementId, creditId, amountMicro, appId } of transactions) {
    expect(appId).not.toBeNull();
    const retired = retirements.find(({ id }) => id === retirementId);
    expect(retired).toMatchObject({ creditId, amountMicro, appId });
  }
  expect(removeDuplicates(transactions.map(({ event }) => event)).toSorted()).toEqual([
    'organizationTransaction',
    'warehouseTransaction',
  ]);
});

test('ids and serializations have the registry’s formats', () => {
  const { apps, users, organizations, projects, reservations, requests, retirements, credits } =
    generateLists(SPEC);
  for (const rows of [apps, users, organizations, projects, reservations, requests, retirements])
    for (const { id } of rows) expect(id).toMatch(UUID);
  for (const { id, type, tokenId, tokenAddress, serialization } of credits) {
    expect(id).toMatch(/^(exPost|exAnte)-\d+-0x[0-9a-f]{40}$/);
    expect(id).toBe(`${type}-${tokenId}-${tokenAddress}`);
    expect(serialization).toMatch(/^ICR-[A-Z]{3}-\d+-\d+-\d+-[RA]-[01]-\d{4}$/);
  }
});

test('credits are retired only after they were issued', () => {
  const { credits, retirements } = generateLists({ ...SPEC, retirements: 2_000 });
  const byId = new Map(credits.map(row => [row.id, row]));
  for (const { creditId, createdAt } of retirements) {
    const credit = byId.get(creditId);
    expect(credit?.type).toBe('exPost');
    expect((credit?.createdAt ?? '') <= createdAt).toBe(true);
  }
});

test('an impossible size is refused with all problems named', () => {
  expect(() => generateWorld({ ...SPEC, organizations: 0, credits: -1, retirements: 1.5 })).toThrow(
    /credits.*retirements.*organizations/,
  );
});

function generateLists(spec: WorldSpec) {
  const { credits, holdings, retirements, ...world } = generateWorld(spec);
  return { ...world, credits: [...credits], holdings: [...holdings], retirements: [...retirements] };
}

function removeDuplicates<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}

function hashWorld(world: World): string {
  const hash = createHash('sha256');
  for (const [table, rows] of Object.entries(world)) {
    hash.update(table);
    for (const row of rows) hash.update(JSON.stringify(row));
  }
  return hash.digest('hex');
}

function listWorldIds(seed: number): string[] {
  return Object.values(generateWorld({ ...SPEC, seed })).flatMap(rows => listIds(rows));
}

function listIds(rows: Iterable<object>): string[] {
  return Array.from(rows).flatMap(row => ('id' in row && typeof row.id === 'string' ? [row.id] : []));
}
