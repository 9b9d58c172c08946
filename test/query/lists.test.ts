import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Row } from '../../src/store/contract/tables.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import { readRowsById, readVersionsById } from '../../src/query/lists/find-by-id.js';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import type { ListSelection } from '../../src/query/lists/list-type.js';
import { readPage, streamRows } from '../../src/query/lists/read-rows.js';
import { LISTS } from '../../src/resources/lists.js';
import { NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { temporaryMirror } from '../support/mirror/open.js';

const NOW = new Date(NOON).toISOString();

function asked(name: string, organizationId: string | null = null): ListSelection {
  const list = ALL_LISTS.find(each => each.name === name);
  if (list === undefined) throw new Error(`expected the list ${name}`);
  const where = organizationId === null ? [] : [{ column: 'organization_id', is: organizationId }];
  return { list, where, at: null };
}

function open() {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const mirror = temporaryMirror(folder);
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => reader.close());
  const retire = (version: number, organizationId: string, id: string) =>
    mirror
      .prepare(
        `INSERT INTO retirements (version, organization_id, id, created_at, valid_from, sync_id, document)
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

test('rows with equal sort keys are ordered by their versions', async () => {
  const { reader, retire } = open();
  for (const [version, id] of ['r-2', 'r-3', 'r-1'].entries()) retire(version + 1, 'o-1', id);
  expect(await columnOf('id', streamRows(reader, asked('retirements')))).toEqual(['r-1', 'r-3', 'r-2']);
  expect(await columnOf('id', streamRows(reader, asked('retirements'), 2))).toEqual(['r-1', 'r-3']);
});

/** SQLite alone would order so of itself. */
test('the order of each list is total: it places nulls and ends with a unique column', async () => {
  const { reader } = open();
  const orderOf = async (name: string) => {
    const { sql } = await readPage(reader, { ...asked(name), after: null, limit: 1 });
    return sql.replace(/.* ORDER BY (.*) LIMIT 1$/, '$1');
  };
  expect(await orderOf('projects')).toBe('num ASC NULLS FIRST, id ASC, version ASC');
  expect(await orderOf('retirements')).toBe('created_at DESC NULLS LAST, version DESC');
  for (const { name } of ALL_LISTS)
    expect(await orderOf(name), name).toMatch(/\b(version|id|number|status) (ASC|DESC)$/);
});

test('a list that is read from an index has one sort direction, so that one comparison finds the start of a page', () => {
  const indexed = ALL_LISTS.filter(({ isIndexed, order }) => isIndexed || order[0]?.[0] === 'version');
  expect(indexed.length).toBeGreaterThan(5);
  for (const { name, order } of indexed)
    expect(new Set(order.map(([, direction]) => direction)).size, name).toBe(1);
});

test('a list of one organization contains no rows of another, and only projects that its rows reference', async () => {
  const { reader, mirror, retire } = open();
  retire(1, 'o-1', 'r-1');
  retire(2, 'o-2', 'r-2');
  mirror.exec(`INSERT INTO projects (version, id, valid_from, sync_id, document)
    VALUES (3, 'p-1', '${NOW}', 1, '{}'), (4, 'p-2', '${NOW}', 1, '{}');
    INSERT INTO project_references VALUES ('o-2', 'p-2')`);
  expect(await columnOf('id', streamRows(reader, asked('retirements', 'o-2')))).toEqual(['r-2']);
  expect(await columnOf('id', streamRows(reader, asked('projects', 'o-2')))).toEqual(['p-2']);
});

test('a listed row has the name of its organization, or null if that is unknown', async () => {
  const { reader, mirror, retire } = open();
  retire(1, 'o-1', 'r-1');
  retire(2, 'o-2', 'r-2');
  mirror.exec(`INSERT INTO organizations (version, id, full_name, valid_from, sync_id, document)
    VALUES (3, 'o-1', 'Quay', '${NOW}', 1, '{}')`);
  expect(await columnOf('organization_name', streamRows(reader, asked('retirements')))).toEqual([
    null,
    'Quay',
  ]);
});

test('a row and its history are found by its id alone in every known organization', async () => {
  const { reader, retire, know } = open();
  know('o-1');
  know('o-2');
  retire(1, 'o-1', 'r-1');
  retire(2, 'o-2', 'r-1');
  const found = await readRowsById(reader, LISTS.retirements, 'r-1');
  expect(found.map(row => [row['organization_id'], row['document']])).toEqual([
    ['o-1', '{}'],
    ['o-2', '{}'],
  ]);
  expect(await readRowsById(reader, LISTS.retirements, 'r-1', { organizationId: 'o-2' })).toMatchObject([
    { version: 2 },
  ]);
  expect(await readVersionsById(reader, LISTS.retirements, 'r-1')).toMatchObject([
    { version: 1, valid_to: null },
    { version: 2, valid_to: null },
  ]);
});

test('an id alone is searched for in every known organization, and with an organization in any', async () => {
  const { reader, retire, know } = open();
  know('o-1');
  retire(1, 'o-1', 'r-1');
  retire(2, 'o-2', 'r-1');
  const ownersOf = async (...where: ListSelection['where']) =>
    await columnOf('organization_id', streamRows(reader, { ...asked('retirements'), where }));
  const isId = { column: 'id', is: 'r-1' };
  expect(await ownersOf(isId)).toEqual(['o-1']);
  expect(await ownersOf(isId, { column: 'organization_id', is: 'o-2' })).toEqual(['o-2']);
  expect(await ownersOf()).toEqual(['o-2', 'o-1']);
});

test.each([
  ['has no next page if it has as many rows as a page', 2, false],
  ['has a next page if it has one row more than a page', 1, true],
])('a list %s', async (_title, limit, hasNext) => {
  const { reader, retire } = open();
  for (const [version, id] of ['r-1', 'r-2'].entries()) retire(version + 1, 'o-1', id);
  const { rows, next } = await readPage(reader, { ...asked('retirements'), after: null, limit });
  expect({ rows: rows.length, hasNext: next !== null }).toEqual({ rows: limit, hasNext });
});
