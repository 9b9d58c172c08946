import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { POSTGRES, SQLITE } from '../../../src/store/dialect.js';
import { insertFrom, jsonRelation, tableRef, select, sqlStatement } from '../../../src/store/sql/columns.js';
import { createInsertBuilder, type Params, prepared } from '../../../src/store/sql/prepared.js';
import { createDatabaseOn } from '../../../src/store/sqlite/database.js';
import { batchByName } from '../../../src/store/statement.js';
import { temporaryInbox } from '../../support/inbox.js';
import { temporaryMirror } from '../../support/mirror/open.js';

const job = tableRef('inbox.jobs', 'job');

const FIND_JOBS = prepared(({ db }, { key }: Params<{ readonly key: string }>) =>
  db
    .selectFrom('inbox.jobs')
    .select(['id', 'state'])
    .where('state', '=', 'waiting')
    .where('dedupe_key', '=', key)
    .forUpdate()
    .skipLocked(),
);

test('only parameters are bound, constants are part of the text, and SQLite gets neither schemas nor row locks', () => {
  const { text, values } = FIND_JOBS({ key: 'a' }).bind(SQLITE);
  expect(text.trim()).toBe(`select "id", "state" from "jobs" where "state" = 'waiting' and "dedupe_key" = ?`);
  expect(values).toEqual(['a']);
  expect(FIND_JOBS({ key: 'a' }).bind(POSTGRES)).toEqual({
    text: `select "id", "state" from "inbox"."jobs" where "state" = 'waiting' and "dedupe_key" = $1 for update skip locked`,
    values: ['a'],
  });
});

test('DISTINCT stays on either engine', () => {
  const list = prepared(({ db }) => db.selectFrom('inbox.jobs').select('kind').distinct());
  expect(list().bind(SQLITE).text).toBe('select distinct "kind" from "jobs"');
  expect(list().bind(POSTGRES).text).toBe('select distinct "kind" from "inbox"."jobs"');
});

test('a quote in a constant cannot end it', () => {
  const find = prepared(({ db }) => db.selectFrom('inbox.jobs').select('id').where('kind', '=', "a'b"));
  expect(find().bind(SQLITE).text).toContain("'a''b'");
  expect(find().bind(POSTGRES).text).toContain("'a''b'");
});

test('a constant in the text lets SQLite use a partial index', () => {
  const listFailed = prepared(({ db }) =>
    db.selectFrom('inbox.jobs').select('id').where('state', '=', 'failed'),
  );
  const plan = temporaryInbox()
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${listFailed().bind(SQLITE).text}`)
    .all();
  expect(plan.map(({ detail }) => detail).join()).toContain('jobs_failed');
});

test('a LIMIT that is a parameter does not make SQLite prepare a statement anew at each use', () => {
  const list = prepared(({ db }, { limit }: Params<{ readonly limit: number }>) =>
    db.selectFrom('inbox.jobs').select('id').limit(limit),
  );
  expect(list({ limit: 1 }).bind(SQLITE).text).toBe('select "id" from "jobs" limit cast(? as integer)');
  expect(list({ limit: 1 }).bind(POSTGRES).text).toBe('select "id" from "inbox"."jobs" limit $1');
});

test('a statement is built once for each engine', () => {
  let built = 0;
  const count = prepared(({ db }, { id }: Params<{ readonly id: number }>) => {
    built += 1;
    return db.selectFrom('inbox.jobs').select('kind').where('id', '=', id);
  });
  for (const id of [1, 2]) for (const dialect of [SQLITE, POSTGRES]) count({ id }).bind(dialect);
  expect(built).toBe(2);
});

test('a missing value is refused with its name', () => {
  const values: { readonly key: string } = Object.assign(Object.create(null), { kei: 'a' });
  expect(() => FIND_JOBS(values).bind(SQLITE)).toThrow(
    'expected a value for the parameter "key", got undefined',
  );
});

test('parameters cannot be spread', () => {
  const spread = prepared(({ db }, { ...rest }: Params<{ readonly id: number }>) =>
    db.selectFrom('inbox.jobs').select('kind').where('id', '=', rest.id),
  );
  expect(() => spread({ id: 1 }).bind(SQLITE)).toThrow('cannot be spread');
});

test('each statement of a batch returns its own rows', async () => {
  const { transact } = createDatabaseOn(temporaryMirror());
  const raise = prepared(({ db }, { last }: Params<{ readonly last: number }>) =>
    db.updateTable('mirror.version_counter').set({ last }).returning('last'),
  );
  const read = prepared(({ db }) => db.selectFrom('mirror.version_counter').select('last'));
  const rows = await transact(batch => batch(read(), raise({ last: 7 }), null, read()));
  expect(rows).toEqual([[{ last: 0 }], [{ last: 7 }], [], [{ last: 7 }]]);
});

test('the results of a batch are read by name, and a statement that is left out returns no rows', async () => {
  const { transact } = createDatabaseOn(temporaryMirror());
  const raise = prepared(({ db }, { last }: Params<{ readonly last: number }>) =>
    db.updateTable('mirror.version_counter').set({ last }),
  );
  const read = prepared(({ db }) => db.selectFrom('mirror.version_counter').select('last'));
  const results = await transact(batch =>
    batchByName(batch, { before: read(), raise: raise({ last: 7 }) }, { skipped: null, after: read() }),
  );
  expect(results).toEqual([
    { before: [{ last: 0 }], raise: [] },
    { skipped: [], after: [{ last: 7 }] },
  ]);
});

test('rows that are passed as JSON are a relation with typed columns', async () => {
  const claims = jsonRelation('claims', { job_id: 'int', note: 'text' });
  const list = prepared(({ fn }, params: Params<{ readonly claims: ReturnType<typeof claims.toTable> }>) => {
    const { job_id: id, note } = claims.columns;
    return sqlStatement`SELECT ${select({ id, note })} FROM ${claims.from(fn, params.claims)} ORDER BY ${id}`;
  });
  const rows = [
    { note: 'b', job_id: 2 },
    { job_id: 1, note: null },
  ];
  const found = await createDatabaseOn(temporaryMirror()).read(list({ claims: claims.toTable(rows) }));
  expect(found).toEqual([
    [
      { id: 1, note: null },
      { id: 2, note: 'b' },
    ],
  ]);
  expect(list({ claims: claims.toTable(rows) }).bind(POSTGRES)).toEqual({
    text: 'SELECT "claims"."job_id" AS "id", "claims"."note" AS "note" FROM (SELECT (v ->> 0)::bigint AS "job_id", (v ->> 1)::text AS "note" FROM jsonb_array_elements($1::jsonb) AS e (v)) AS "claims" ORDER BY "claims"."job_id"',
    values: ['[[2,"b"],[1,null]]'],
  });
});

const FENCES = { organization_id: 'text', part: 'text', claim: 'int' } as const;

test('many rows are inserted by one statement on either engine', async () => {
  const insert = createInsertBuilder('mirror.fences', FENCES);
  const rows = [
    ['a', 'data', 1],
    ['b', 'data', 2],
  ];
  const { read, transact } = createDatabaseOn(temporaryMirror());
  await transact(batch => batch(insert(rows)));
  const list = prepared(({ db }) => db.selectFrom('mirror.fences').selectAll().orderBy('claim'));
  expect(await read(list())).toEqual([
    [
      { organization_id: 'a', part: 'data', claim: 1 },
      { organization_id: 'b', part: 'data', claim: 2 },
    ],
  ]);
  expect(insert(rows).bind(POSTGRES)).toEqual({
    text: 'INSERT INTO "mirror"."fences" ("organization_id", "part", "claim") SELECT (v ->> 0)::text AS "organization_id", (v ->> 1)::text AS "part", (v ->> 2)::bigint AS "claim" FROM jsonb_array_elements($1::jsonb) AS e (v)',
    values: ['[["a","data",1],["b","data",2]]'],
  });
});

test('insertFrom keeps each expression with its column', () => {
  const insert = prepared(() =>
    insertFrom(
      'mirror.fences',
      { claim: job.id, organization_id: job.kind, part: job.part },
      sql`FROM ${job()}`,
    ),
  );
  expect(insert().bind(SQLITE).text).toBe(
    'INSERT INTO "fences" ("claim", "organization_id", "part") SELECT "job"."id", "job"."kind", "job"."part" FROM "jobs" AS "job"',
  );
});

/** A type argument of `sql` that is more than one value of a row, and every other place that takes a row type unchecked. */
const DECLARED_ROW =
  /\bsql<(?!\s*(?:string|number|bigint|boolean|null|'\w+')(?: \| null)?\s*>)|\b(?:prepared|CompiledQuery)</;

/** Where a type is declared: the layer, and functions of PostgreSQL that return one JSON value, whose type SQL does not know. */
const DECLARING_FILES = ['sql/prepared.ts', 'contract/reader.ts', 'postgres/inbox/inbox-functions.ts'];

test('no statement of the store declares the type of its rows', () => {
  const folder = join(import.meta.dirname, '../../../src/store');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.ts'),
  );
  const declared = files.filter(
    file => !DECLARING_FILES.includes(file) && DECLARED_ROW.test(readFileSync(join(folder, file), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(50);
  expect(declared).toEqual([]);
});

test('control: the rule finds a declared row and allows a declared value', () => {
  for (const text of ['sql<Row>`', 'sql<{ id: number }>`', 'prepared<Given, Row>(', 'CompiledQuery<Row>'])
    expect(DECLARED_ROW.test(text), text).toBe(true);
  for (const text of ['sql<string>`', 'sql<number | null>`', "sql<'work'>`", 'sql`'])
    expect(DECLARED_ROW.test(text), text).toBe(false);
});
