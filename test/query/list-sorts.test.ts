import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openReader } from '../../src/store/sqlite/reader.js';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import { showSql } from '../../src/query/lists/read-rows.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { temporaryMirror } from '../support/mirror/open.js';

const SORTED_LISTS = ALL_LISTS.filter(({ sorts }) => sorts.length > 0);

test('each order that people can choose is read from an index', () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const mirror = temporaryMirror(folder);
  mirror.exec(`ATTACH '${join(folder, 'inbox.db')}' AS inbox`);
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => reader.close());
  expect(SORTED_LISTS.length).toBeGreaterThan(5);
  for (const list of SORTED_LISTS)
    for (const { name, order } of list.sorts) {
      const sql = showSql(reader, { list: { ...list, order }, where: [], at: null }, 50);
      const plan = mirror.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      expect.soft(JSON.stringify(plan), `${list.name}, ${name}`).not.toContain('USE TEMP B-TREE FOR');
    }
});

test('each order has a name of its own, ends with a unique column and is offered above a shown column', () => {
  for (const { name, sorts, columns, order } of SORTED_LISTS) {
    expect(new Set(sorts.map(sort => sort.name)).size, name).toBe(sorts.length);
    expect(
      sorts.map(sort => JSON.stringify(sort.order)),
      name,
    ).toContain(JSON.stringify(order));
    for (const sort of sorts) {
      expect(
        columns.map(column => column.name),
        name,
      ).toContain(sort.column);
      expect(sort.order.at(-1)?.[0], name).toMatch(/^(version|id)$/);
    }
  }
});
