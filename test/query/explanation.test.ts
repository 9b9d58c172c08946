import { describe, expect, test } from 'vitest';
import { explainRow } from '../../src/query/history/explanation.js';
import { readVersionsById } from '../../src/query/lists/find-by-id.js';
import { LISTS } from '../../src/resources/lists.js';
import { ENGINES, MINUTE } from '../support/mirror/open.js';
import { credit, retirement } from '../support/mirror/rows.js';

describe.each(ENGINES)('$name', ({ library }) => {
  async function openLibrary() {
    const { stage, tables, reader } = await library();
    const explain = async (id: string) => {
      const at = new Date(stage.clock.at).toISOString();
      const ground = { reader, at, inspect: async () => null, contradicted: () => [] };
      const versions = await readVersionsById(reader, LISTS.warehouse, id);
      return { version: versions[0] ?? {}, ...(await explainRow(ground, LISTS.warehouse, versions)) };
    };
    return { stage, tables, reader, explain };
  }

  test('a row that came and went twice is explained by its latest end before the instant', async () => {
    const { stage, reader, explain } = await openLibrary();
    const stays = credit('stays');
    const ends: string[] = [];
    for (const rows of [[stays, credit('moves')], [stays], [stays, credit('moves')], [stays]]) {
      await stage.read('warehouse', rows);
      ends.push(new Date(stage.clock.at).toISOString());
      stage.clock.at += MINUTE;
    }
    const versions = await readVersionsById(reader, LISTS.warehouse, 'moves');
    expect(versions).toHaveLength(2);
    expect(await explain('moves')).toMatchObject({
      row: null,
      until: ends[3],
      ended_by: { id: versions[1]?.['closed_by'] },
    });
  });

  test('a row is confirmed by the last complete read of its own list', async () => {
    const { stage, explain } = await openLibrary();
    await stage.read('warehouse', [credit('stays')]);
    const readStartedAt = new Date(stage.clock.at).toISOString();
    stage.clock.at += MINUTE;
    await stage.read('retirements', [retirement('r-1')]);
    stage.clock.at += MINUTE;
    const { version, reasons } = await explain('stays');
    const syncId = version['sync_id'];
    expect(reasons).toMatchObject([
      { code: 'observed', sync: { id: syncId } },
      { code: 'confirmed', readStartedAt, syncId },
      { code: 'first_observed', at: readStartedAt, syncId },
    ]);
  });

  test('a row whose sync is no longer on record is explained by the id of the sync', async () => {
    const { stage, tables, explain } = await openLibrary();
    await stage.read('warehouse', [credit('stays')]);
    stage.clock.at += MINUTE;
    await tables.change('DELETE FROM syncs');
    const { version, reasons } = await explain('stays');
    const syncId = version['sync_id'];
    expect(reasons).toMatchObject([
      { code: 'sync_not_recorded', syncId },
      { code: 'first_observed', syncId },
    ]);
  });
});
