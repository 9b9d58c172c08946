import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { Sqlite } from '../../../src/sandbox/store/driver.js';
import type { WorldTables } from '../../../src/sandbox/store/schema.js';
import { SCHEMA } from '../../../src/sandbox/store/tables.js';
import { createWorld } from '../../../src/sandbox/world/create-world.js';
import { fillWorld } from '../../../src/sandbox/world/fill.js';
import type { WorldSpec } from '../../../src/sandbox/world/plan.js';

const SPEC: WorldSpec = { seed: 7, startAt: Date.UTC(2026, 0, 1) };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const opened: Database[] = [];
afterEach(() => {
  for (const db of opened.splice(0)) db.close();
});

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
  const db = fill(SPEC);
  expect(count(db, 'organizations')).toBeGreaterThanOrEqual(3);
  expect(count(db, 'projects')).toBeGreaterThanOrEqual(8);
  expect(count(db, 'credits')).toBe(60);
  expect(count(db, 'retirements')).toBe(150);
  expect(count(db, 'retirements', 'is_claimed = 0')).toBeGreaterThanOrEqual(3);
  expect(
    count(db, 'retirements', 'is_claimed = 0 and coalesce(beneficiary, reason, comment, app_id) is not null'),
  ).toBe(0);
  expect(count(db, 'retirements', 'is_claimed = 1 and (beneficiary is null or reason is null)')).toBe(0);
  expect(count(db, 'credits', "type = 'exAnte'")).toBeGreaterThan(0);
  expect(count(db, 'projects', 'is_public = 0 and id in (select project_id from credits)')).toBe(1);
  expect(values(db, 'select distinct vintage from credits').length).toBeGreaterThanOrEqual(5);
  expect(values(db, 'select distinct place from holdings').length).toBe(2);
  expect(values(db, 'select distinct state from reservations').length).toBe(4);
  expect(values(db, 'select distinct state from inventory_requests').length).toBe(3);
  expect(count(db, 'holdings', 'amount_micro % 1000000 <> 0')).toBeGreaterThan(0);
  for (const table of ['members', 'addresses']) {
    expect(values(db, `select distinct organization_id from ${table}`).length).toBe(
      count(db, 'organizations'),
    );
  }
});

test.each([
  ['the demo world', SPEC],
  ['a larger one', { ...SPEC, retirements: 5_000, credits: 1_000, organizations: 7 }],
  ['one organization alone', { ...SPEC, organizations: 1 }],
  ['the smallest', { ...SPEC, organizations: 1, projects: 1, credits: 1, retirements: 1 }],
  ['one without retirements', { ...SPEC, retirements: 0 }],
])('In %s each credit was issued in the sum of its holdings, holds and retirements', (_, spec) => {
  const db = fill(spec);
  const unequal = values(
    db,
    `select id from credits where issued_micro <>
       (select coalesce(sum(amount_micro), 0) from holdings where credit_id = credits.id)
     + (select coalesce(sum(amount_micro), 0) from reservations where credit_id = credits.id and state = 'outstanding')
     + (select coalesce(sum(amount_micro), 0) from retirements where credit_id = credits.id)`,
  );
  expect(unequal).toEqual([]);
  expect(count(db, 'credits')).toBe(spec.credits ?? 60);
  expect(count(db, 'retirements')).toBe(spec.retirements ?? 150);
});

test('Lists are counted 1, 2, 3 in order of time, and the organization holds the last number', () => {
  const db = fill({ ...SPEC, retirements: 3_000 });
  for (const [table, column] of [
    ['retirements', 'retirement_count'],
    ['reservations', 'reservation_count'],
    ['inventory_requests', 'request_count'],
  ]) {
    const wrong = values(
      db,
      `select id from organizations where ${column} <> (select count(*) from ${table} where organization_id = organizations.id)
         or ${column} <> coalesce((select max(ordinal) from ${table} where organization_id = organizations.id), 0)`,
    );
    expect(wrong).toEqual([]);
    const disordered = values(
      db,
      `select one.id from ${table} as one join ${table} as next
         on next.organization_id = one.organization_id and next.ordinal = one.ordinal + 1
       where next.created_at < one.created_at`,
    );
    expect(disordered).toEqual([]);
  }
});

test('Each finished reservation and accepted request has its transaction, which names the retirement and the app', () => {
  const db = fill(SPEC);
  const ended = `select id from reservations where state = 'finished'
    union all select id from inventory_requests where state = 'Accepted'`;
  const named = 'select coalesce(reservation_id, request_id) from transactions where app_id is not null';
  expect(values(db, `${named} order by 1`)).toEqual(values(db, `${ended} order by 1`));
  const fitting = `select t.id from transactions t join retirements r on r.id = t.retirement_id
    where r.credit_id = t.credit_id and r.amount_micro = t.amount_micro and r.app_id = t.app_id`;
  expect(values(db, fitting)).toHaveLength(values(db, named).length);
  expect(values(db, 'select distinct event from transactions order by 1')).toEqual([
    'organizationTransaction',
    'warehouseTransaction',
  ]);
});

test('Ids and serializations have the forms that the registry shows', () => {
  const db = fill(SPEC);
  for (const table of [
    'apps',
    'users',
    'organizations',
    'projects',
    'reservations',
    'inventory_requests',
    'retirements',
  ]) {
    for (const id of values(db, `select id from ${table}`)) expect(id).toMatch(UUID);
  }
  for (const id of values(db, 'select id from credits'))
    expect(id).toMatch(/^(exPost|exAnte)-\d+-0x[0-9a-f]{40}$/);
  for (const serialization of values(db, 'select serialization from credits')) {
    expect(serialization).toMatch(/^ICR-[A-Z]{3}-\d+-\d+-\d+-[RA]-[01]-\d{4}$/);
  }
  expect(
    values(db, "select id from credits where id <> type || '-' || token_id || '-' || token_address"),
  ).toEqual([]);
});

test('Only credits that were issued are retired, and never before that', () => {
  const db = fill({ ...SPEC, retirements: 2_000 });
  const wrong = `select retirements.id from retirements join credits on credits.id = credit_id
    where credits.type <> 'exPost' or credits.created_at > retirements.created_at`;
  expect(values(db, wrong)).toEqual([]);
});

test('A size that cannot be is refused with every fault named', () => {
  expect(() => createWorld({ ...SPEC, organizations: 0, credits: -1, retirements: 1.5 })).toThrow(
    /credits.*retirements.*organizations/,
  );
});

test('A world that does not fit leaves the database as it was', () => {
  const db = fill(SPEC);
  const before = count(db, 'retirements');
  const users = [...createWorld({ ...SPEC, seed: 8 }).users];
  expect(() => fillWorld(db, { ...createWorld(SPEC), apps: [], users })).toThrow(/UNIQUE/);
  expect(count(db, 'retirements')).toBe(before);
  expect(count(db, 'users')).toBe([...createWorld(SPEC).users].length);
});

test('Without its note a world is not there at all', () => {
  const db = openEmpty();
  expect(() => fillWorld(db, createWorld(SPEC), interrupt)).toThrow('killed');
  expect(count(db, 'apps')).toBe(0);
  expect(count(db, 'retirements')).toBe(0);
});

function interrupt(): never {
  throw new Error('killed');
}

function openEmpty(): Database {
  const db = new Sqlite(':memory:');
  opened.push(db);
  db.pragma('foreign_keys = ON');
  db.exec(SCHEMA);
  return db;
}

function fill(spec: WorldSpec): Database {
  const db = openEmpty();
  fillWorld(db, createWorld(spec));
  return db;
}

function digest(world: WorldTables): string {
  const hash = createHash('sha256');
  for (const [table, rows] of Object.entries(world)) {
    hash.update(table);
    for (const row of rows) hash.update(JSON.stringify(row));
  }
  return hash.digest('hex');
}

function worldIds(seed: number): string[] {
  return Object.values(createWorld({ ...SPEC, seed })).flatMap(idsOf);
}

function idsOf(rows: Iterable<object>): string[] {
  return Array.from(rows).flatMap(row => ('id' in row && typeof row.id === 'string' ? [row.id] : []));
}

function count(db: Database, table: string, where = 'true'): unknown {
  return db.prepare(`select count(*) from ${table} where ${where}`).pluck().get();
}

function values(db: Database, sql: string): unknown[] {
  return db.prepare(sql).pluck().all();
}
