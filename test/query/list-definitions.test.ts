import { expect, test } from 'vitest';
import type { List } from '../../src/query/lists/list-type.js';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';

/** Writes a definition with one line for each column and each filter. */
function describeList({ columns, filters, past, entry, refine, reads, ...list }: List): string {
  const lines = (name: string, items: readonly unknown[]) =>
    items.map(
      item =>
        `${name} ${JSON.stringify(item, (_key, value) => (value instanceof RegExp ? String(value) : value))}`,
    );
  return [
    `=== ${list.name}`,
    ...lines('list', [{ ...list, table: entry?.table ?? null, isComputed: refine !== null }]),
    ...lines('column', columns),
    ...lines('filter', Object.entries(filters)),
    ...lines('reads', [reads]),
    ...lines('past', past === null ? [] : [past.from, past.reads, ...past.columns]),
  ].join('\n');
}

/** To approve changes, run: npx vitest run test/query/list-definitions.test.ts -u, and read the diff. */
test('the columns, filters and names of every list match the approved text', async () => {
  const text = `${ALL_LISTS.map(describeList).join('\n')}\n`;
  await expect(text).toMatchFileSnapshot('../fixtures/approved/lists.txt');
});
