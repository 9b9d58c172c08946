import { type Kysely, sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type MirrorTables, openMirror } from '../../src/store/public.js';
import { TABLES } from '../../src/store/contract/tables.js';
import { ENGINES, openFilledMirror } from '../support/mirror/open.js';

async function open({ DATA_DIR: dataDir, MIRROR_DATABASE_URL: url }: Environment) {
  const mirror = await openMirror(url === undefined ? { dataDir } : { url });
  onTestFinished(() => mirror.destroy());
  return mirror;
}

interface Environment {
  readonly DATA_DIR: string;
  readonly MIRROR_DATABASE_URL?: string;
}

function joinCredits(mirror: Kysely<MirrorTables>) {
  return mirror
    .selectFrom('warehouse_credits')
    .innerJoin('organizations', 'organizations.id', 'warehouse_credits.organization_id')
    .select(['organizations.full_name', 'credit_id', 'amount_exact', 'warehouse_credits.valid_from'])
    .orderBy('credit_id');
}

describe.each(ENGINES)('$name', () => {
  test('a typed query joins tables and returns the values that readers return', async () => {
    const { env, tables } = await openFilledMirror();
    const mirror = await open(env);
    const expected = await tables.rows(`SELECT o.full_name, c.credit_id, c.amount_exact, c.valid_from
      FROM warehouse_credits AS c JOIN organizations AS o ON o.id = c.organization_id ORDER BY c.credit_id`);
    expect(await joinCredits(mirror).execute()).toEqual(expected);
    expect(expected).toHaveLength(3);
    const streamed = [];
    for await (const row of joinCredits(mirror).stream(2)) streamed.push(row);
    expect(streamed).toEqual(expected);
  });

  test('every table and view of the mirror can be selected by its plain name', async () => {
    const { env } = await openFilledMirror();
    const mirror = await open(env);
    const names = Object.keys(TABLES).filter(name => !name.startsWith('inbox.'));
    for (const name of names) {
      const query = sql`SELECT * FROM ${sql.table(name)} LIMIT 1`.execute(mirror);
      await expect(query, name).resolves.toHaveProperty('rows');
    }
  });

  test('integers keep every digit, and a number is compared as an integer', async () => {
    const { env, tables } = await openFilledMirror();
    await tables.change(
      "INSERT INTO certificate_sums VALUES ('o-1', 'stored', 9007199254740993), ('o-2', 'stored', 7)",
    );
    const mirror = await open(env);
    const sums = mirror.selectFrom('certificate_sums').select('certificates').orderBy('organization_id');
    expect(await sums.execute()).toEqual([{ certificates: 9007199254740993n }, { certificates: 7 }]);
    expect(await sums.where('certificates', '=', 7).execute()).toEqual([{ certificates: 7 }]);
  });

  test('the queries of a transaction see the state of one moment', async () => {
    const { env, tables } = await openFilledMirror();
    const mirror = await open(env);
    const count = (db: Kysely<MirrorTables>) =>
      db
        .selectFrom('retirements')
        .select(({ fn }) => fn.countAll<number>().as('rows'))
        .execute();
    const counts = await mirror
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async snapshot => {
        const first = await count(snapshot);
        await tables.change('DELETE FROM retirements');
        return [first, await count(snapshot)];
      });
    expect(counts).toEqual([[{ rows: 3 }], [{ rows: 3 }]]);
    expect(await count(mirror)).toEqual([{ rows: 0 }]);
  });

  test('the connection refuses every write', async () => {
    const { env, tables } = await openFilledMirror();
    const mirror = await open(env);
    const writes = [
      sql`DELETE FROM retirements`,
      sql`UPDATE organizations SET full_name = 'x'`,
      sql`CREATE TABLE t (a integer)`,
      sql`CREATE TEMP TABLE t (a integer)`,
      sql`COMMIT; DELETE FROM retirements`,
    ];
    for (const write of writes) {
      await expect(write.execute(mirror)).rejects.toThrow(/read.?only|multiple commands|more than one/);
      await expect(mirror.transaction().execute(inside => write.execute(inside))).rejects.toThrow();
    }
    expect(await tables.value('SELECT count(*) FROM retirements')).toBe(3);
    expect(await joinCredits(mirror).execute()).toHaveLength(3);
  });
});
