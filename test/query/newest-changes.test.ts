import { describe, expect, test } from 'vitest';
import { ALL_CHANGES, readNewest } from '../../src/query/history/changes.js';
import { ENGINES } from '../support/mirror/open.js';
import { fillAgedMirror } from '../support/mirror/aged.js';

const ID = 'organization-3';

describe.each(ENGINES)('$name', engine => {
  test('the newest changes of one organization are complete in a mirror that is busy with others', async () => {
    const { tables, reader } = await engine.library();
    for (const table of ['installations', 'syncs', 'resource_states'])
      await tables.change(`DELETE FROM ${table}`);
    await fillAgedMirror(tables, engine.name === 'SQLite' ? 'sqlite' : 'postgres', {
      organizations: 50,
      pastVersions: 15_000,
      days: 9,
      readsPerDay: 1,
    });
    await tables.change(
      `UPDATE past SET is_removed = 1 WHERE organization_id = '${ID}' AND closed_version = (
         SELECT min(closed_version) FROM past WHERE organization_id = '${ID}')`,
    );
    const expected = await tables.column<number>(
      `SELECT number FROM changes WHERE organization_id = '${ID}' ORDER BY number DESC`,
    );
    const newest = { ...ALL_CHANGES, organizationId: ID };
    const found = await readNewest(reader, newest, null, 1_000);
    expect(found.map(({ number }) => number)).toEqual(expected.map(Number));
    expect(expected.length).toBeGreaterThan(250);
    const older = await readNewest(reader, newest, Number(expected[120]), 7);
    expect(older.map(({ number }) => number)).toEqual(expected.slice(121, 128).map(Number));
    const retirements = await readNewest(reader, { ...newest, resource: 'retirements' }, null, 1_000);
    expect(retirements).toHaveLength(20);
  });
});
