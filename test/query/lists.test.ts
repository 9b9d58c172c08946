import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Row } from '../../src/engines/contract/tables.js';
import { openReader } from '../../src/engines/sqlite/reader.js';
import { byName, totalOrder } from '../../src/query/by-name.js';
import { readByName, readHistory, readList } from '../../src/query/lists.js';
import { LISTS } from '../../src/resources/lists.js';
import type { Entry } from '../../src/resources/entry.js';
import { PROJECTS } from '../../src/resources/projects.js';
import { ENTRIES } from '../../src/resources/resources.js';
import { NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { temporaryMirror } from '../support/mirror.js';

const NOW = new Date(NOON).toISOString();
const ALL = { organizationId: null, limit: null };

function open() {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const mirror = temporaryMirror(folder);
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => reader.close());
  const retire = (version: number, organizationId: string, id: string) =>
    mirror
      .prepare(
        `INSERT INTO retirements (version, organization_id, id, created_at, valid_from, sync_run_id, document)
        VALUES (?, ?, ?, ?, ?, 1, '{}')`,
      )
      .run(version, organizationId, id, NOW, NOW);
  const know = (organizationId: string) =>
    mirror
      .prepare(`INSERT INTO resource_states (organization_id, resource) VALUES (?, 'retirements')`)
      .run(organizationId);
  return { reader, mirror, retire, know };
}

async function columnOf(name: string, rows: AsyncIterable<Row>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const row of rows) values.push(row[name]);
  return values;
}

test('rows that are equal in all that a list is ordered by come by their versions', async () => {
  const { reader, retire } = open();
  for (const [version, id] of ['r-2', 'r-3', 'r-1'].entries()) retire(version + 1, 'o-1', id);
  expect(await columnOf('id', readList(reader, LISTS.retirements, ALL))).toEqual(['r-1', 'r-3', 'r-2']);
  expect(await columnOf('id', readList(reader, LISTS.retirements, { ...ALL, limit: 2 }))).toEqual([
    'r-1',
    'r-3',
  ]);
});

/** SQLite alone would order so of itself. */
test('the order of each list is said in full: where null stands, and that the version decides at last', () => {
  const { reader } = open();
  const orderOf = (entry: Entry) => {
    let asked = byName(reader).selectFrom(entry.shown.from).select('version');
    for (const { column, direct } of totalOrder(entry, entry.shown.order))
      asked = asked.orderBy(column, direct);
    return asked.compile().sql.replace(/.* order by /, '');
  };
  expect(orderOf(PROJECTS)).toBe('"num" asc nulls first, "id" asc, "version" asc');
  expect(orderOf(LISTS.retirements)).toBe(
    '"organization_id" desc, "created_at" desc nulls last, "version" desc',
  );
  for (const entry of ENTRIES) expect(orderOf(entry)).toMatch(/"version" (asc|desc)$/);
});

test('a list of one organization holds nothing of another, and of projects what its rows name', async () => {
  const { reader, mirror, retire } = open();
  retire(1, 'o-1', 'r-1');
  retire(2, 'o-2', 'r-2');
  mirror.exec(`INSERT INTO projects (version, id, valid_from, sync_run_id, document)
    VALUES (3, 'p-1', '${NOW}', 1, '{}'), (4, 'p-2', '${NOW}', 1, '{}');
    INSERT INTO project_references VALUES ('o-2', 'p-2')`);
  const owned = { ...ALL, organizationId: 'o-2' };
  expect(await columnOf('id', readList(reader, LISTS.retirements, owned))).toEqual(['r-2']);
  expect(await columnOf('id', readList(reader, PROJECTS, owned))).toEqual(['p-2']);
});

test('a listed row carries the name of its organization, null where that is not known', async () => {
  const { reader, mirror, retire } = open();
  retire(1, 'o-1', 'r-1');
  retire(2, 'o-2', 'r-2');
  mirror.exec(`INSERT INTO organizations (version, id, full_name, valid_from, sync_run_id, document)
    VALUES (3, 'o-1', 'Quay', '${NOW}', 1, '{}')`);
  expect(await columnOf('organization_name', readList(reader, LISTS.retirements, ALL))).toEqual([
    null,
    'Quay',
  ]);
});

test('one row is found by its name alone in every organization that is known, and its history beside it', async () => {
  const { reader, retire, know } = open();
  know('o-1');
  know('o-2');
  retire(1, 'o-1', 'r-1');
  retire(2, 'o-2', 'r-1');
  const found = await readByName(reader, LISTS.retirements, 'r-1');
  expect(found.map(row => [row['organization_id'], row['document']])).toEqual([
    ['o-1', '{}'],
    ['o-2', '{}'],
  ]);
  expect(await readByName(reader, LISTS.retirements, 'r-1', 'o-2')).toMatchObject([{ version: 2 }]);
  expect(await readHistory(reader, LISTS.retirements, 'r-1')).toMatchObject([
    { version: 1, valid_to: null },
    { version: 2, valid_to: null },
  ]);
});
