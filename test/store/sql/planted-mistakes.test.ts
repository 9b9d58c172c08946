/**
 * Ten mistakes, each planted in a statement of the builder and in an `sql` statement with named columns. The compiler checks
 * this file: a mistake that it no longer finds makes its `@ts-expect-error` an error. Mistakes without one are not found.
 */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { insertFrom, tableRef, select, sqlStatement } from '../../../src/store/sql/columns.js';
import { type Params, prepared, type ResultRow } from '../../../src/store/sql/prepared.js';

type JobId = { readonly id: number };

const job = tableRef('inbox.jobs');
const text = sql<string>`'text'`;

/** Mistakes of statements of the builder. All ten are found. */
const BUILDER_MISTAKES = {
  'unknown table': () =>
    prepared(({ db }) =>
      // @ts-expect-error no such table
      db.selectFrom('inbox.no_jobs').select('id'),
    ),
  'unknown column': () =>
    prepared(({ db }) =>
      db
        .selectFrom('inbox.jobs')
        // @ts-expect-error no such column
        .select('no_column'),
    ),
  'unknown alias': () =>
    prepared(({ db }) =>
      db
        .selectFrom('inbox.jobs as j')
        // @ts-expect-error no such alias
        .select('k.id'),
    ),
  'unknown parameter': () =>
    prepared(({ db }, params: Params<JobId>) =>
      db
        .selectFrom('inbox.jobs')
        .select('kind')
        // @ts-expect-error the parameter is called `id`
        .where('id', '=', params.jobId),
    ),
  'a parameter of another type': () =>
    prepared(({ db }, { key }: Params<{ readonly key: string }>) =>
      db
        .selectFrom('inbox.jobs')
        .select('kind')
        // @ts-expect-error a text is compared with a number
        .where('id', '=', key),
    ),
  'a value outside a closed set': () =>
    prepared(({ db }) =>
      db
        .selectFrom('inbox.jobs')
        .select('id')
        // @ts-expect-error the state is called `running`
        .where('state', '=', 'runing'),
    ),
  'INSERT without a NOT NULL column': () =>
    prepared(({ db }) =>
      // @ts-expect-error `pid` and others are missing
      db.insertInto('inbox.processes').values({ role: 'work', host: 'localhost' }),
    ),
  'a renamed column': () =>
    prepared(({ db }) =>
      db
        .updateTable('inbox.jobs')
        // @ts-expect-error the column is called `claimed_until`
        .set({ lease_ends_at: null }),
    ),
  'a wrong type of row': () => {
    const find = prepared(({ db }) => db.selectFrom('inbox.jobs').select('id'));
    // @ts-expect-error the id is a number
    const row: { readonly id: string } | undefined = undefined as ResultRow<typeof find> | undefined;
    return row;
  },
  'the wrong order of columns in INSERT … SELECT': () =>
    prepared(() =>
      insertFrom(
        'mirror.fences',
        // @ts-expect-error the claim is a number, and the organization a text
        { organization_id: job.claim, part: job.part, claim: job.organization_id },
        sql`FROM ${job()}`,
      ),
    ),
} as const;

/** The same of `sql` statements. Those that are not found are reported in `NOT_FOUND_IN_SQL`. */
const SQL_MISTAKES = {
  'unknown table': () =>
    // @ts-expect-error no such table
    tableRef('inbox.no_jobs'),
  'unknown column': () =>
    // @ts-expect-error no such column
    prepared(() => sql`SELECT ${job.no_column} FROM ${job()}`),
  'unknown alias': () => prepared(() => sql`SELECT k.id FROM ${tableRef('inbox.jobs', 'j')()}`),
  'unknown parameter': () =>
    prepared(
      (_, params: Params<JobId>) =>
        // @ts-expect-error the parameter is called `id`
        sql`SELECT ${job.kind} FROM ${job()} WHERE ${job.id} = ${params.jobId}`,
    ),
  'a parameter of another type': () =>
    prepared(
      (_, { key }: Params<{ readonly key: string }>) =>
        sql`SELECT ${job.kind} FROM ${job()} WHERE ${job.id} = ${key}`,
    ),
  'a value outside a closed set': () =>
    prepared(() => sql`SELECT ${job.id} FROM ${job()} WHERE ${job.state} = 'runing'`),
  'INSERT without a NOT NULL column': () =>
    prepared(() =>
      insertFrom(
        'inbox.processes',
        // @ts-expect-error `pid` and others are missing
        { role: sql<'work'>`'work'`, host: text },
        sql`FROM ${job()}`,
      ),
    ),
  'a renamed column': () =>
    // @ts-expect-error the column is called `claimed_until`
    prepared(() => sql`UPDATE ${job()} SET ${job.lease_ends_at} = NULL`),
  'a wrong type of row': () => {
    const find = prepared(() => sqlStatement`SELECT ${select({ id: job.id })} FROM ${job()}`);
    // @ts-expect-error the id is a number
    const row: { readonly id: string } | undefined = undefined as ResultRow<typeof find> | undefined;
    return row;
  },
  'the wrong order of columns in INSERT … SELECT': () =>
    prepared(() =>
      insertFrom(
        'mirror.fences',
        // @ts-expect-error the claim is a number, and the organization a text
        { organization_id: job.claim, part: job.part, claim: job.organization_id },
        sql`FROM ${job()}`,
      ),
    ),
} as const satisfies Record<keyof typeof BUILDER_MISTAKES, unknown>;

const NOT_FOUND_IN_SQL: readonly (keyof typeof SQL_MISTAKES)[] = [
  'unknown alias',
  'a parameter of another type',
  'a value outside a closed set',
];

test('the compiler finds ten of ten mistakes in a statement of the builder and seven in an sql statement', () => {
  expect(Object.keys(BUILDER_MISTAKES)).toHaveLength(10);
  expect(
    Object.keys(SQL_MISTAKES).filter(name => !NOT_FOUND_IN_SQL.some(each => each === name)),
  ).toHaveLength(7);
});

test('a row type cannot be declared', () => {
  type Row = { readonly id: string };
  // @ts-expect-error the second type is that of the built statement
  expect(prepared<JobId, Row>(({ db }) => db.selectFrom('inbox.jobs').select('id'))).toBeTypeOf('function');
  const untyped = prepared(() => sql`SELECT ${job.id} FROM ${job()}`);
  // @ts-expect-error without a select list nothing is known of a row
  const readId = (row: ResultRow<typeof untyped>): unknown => row.id;
  expect(readId({})).toBeUndefined();
});
