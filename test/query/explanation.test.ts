import { describe, expect, test } from 'vitest';
import { explainRow } from '../../src/query/history/explanation.js';
import { readVersionsById } from '../../src/query/lists/find-by-id.js';
import { LISTS } from '../../src/resources/lists.js';
import { ENGINES, MINUTE } from '../support/mirror/open.js';
import { credit } from '../support/mirror/rows.js';

describe.each(ENGINES)('$name', ({ library }) => {
  test('a row that came and went twice is explained by its latest end before the instant', async () => {
    const { stage, reader } = await library();
    const stays = credit('stays');
    const ends: string[] = [];
    for (const rows of [[stays, credit('moves')], [stays], [stays, credit('moves')], [stays]]) {
      await stage.read('warehouse', rows);
      ends.push(new Date(stage.clock.at).toISOString());
      stage.clock.at += MINUTE;
    }
    const versions = await readVersionsById(reader, LISTS.warehouse, 'moves');
    expect(versions).toHaveLength(2);
    const at = new Date(stage.clock.at).toISOString();
    const ground = { reader, at, inspect: async () => null, contradicted: () => [] };
    const explained = await explainRow(ground, LISTS.warehouse, versions);
    expect(explained).toMatchObject({
      row: null,
      until: ends[3],
      ended_by: { id: versions[1]?.['closed_by'] },
    });
  });
});
