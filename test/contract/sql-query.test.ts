import { describe, expect, test } from 'vitest';
import { readStoreSettings } from '../../src/app/config/read-settings.js';
import { createSqlRunner } from '../../src/console/sql/sql-runner.js';
import { openEngine } from '../../src/store/open-engine.js';
import { ENGINES } from '../support/mirror/open.js';

describe.each(ENGINES)('$name', ({ library }) => {
  test.each([
    ['select * from retirments', 'Did you mean retirements?'],
    ['select * from availabel_credits', 'Did you mean available_credits?'],
    ['select * from inbox.jbos', 'Did you mean inbox.jobs?'],
    ['select benficiary from retirements', 'Did you mean beneficiary of retirements?'],
    ['select amount_exact from available_credits', 'is a column of retirements, warehouse_credits'],
    ['select verdict from retirements', 'is a column of inbox.deliveries'],
    ['select r.vintge from retirements as r', 'Did you mean r.vintage of retirements?'],
  ])('an unknown name in a query is reported with similar names: %s', async (sql, perhaps) => {
    const { env } = await library();
    const { runSqlQuery: runQuery, describeSchema } = openEngine(readStoreSettings(env));
    const queryRunner = createSqlRunner({ runQuery, describeSchema }, Date.now);
    const visitor = { signal: new AbortController().signal, hangUp: () => undefined };
    const reply = await queryRunner.readFirstRows(sql, visitor);
    expect('fault' in reply && reply.fault).toContain(perhaps);
    const other = await queryRunner.readFirstRows('select * from xyzzyplugh', visitor);
    expect('fault' in other && other.fault).toMatch(/^SQL: .*xyzzyplugh/);
    expect('fault' in other && other.fault).not.toContain('Did you mean');
  });
});
