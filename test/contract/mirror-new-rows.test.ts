import { describe, expect, test } from 'vitest';
import { type RowInsert, NO_CHANGES } from '../../src/mirror/port/rows.js';
import { type ListResource, LISTS } from '../../src/resources/lists.js';
import { ENGINES, openSync } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';
import { NOON } from '../support/inbox.js';

const observedAt = new Date(NOON).toISOString();
const REST = { observedAt, replacedVersion: null, follows: false, isRepeated: false };

function createInsert(id: string, overrides: Partial<RowInsert> = {}): RowInsert {
  const item = retirement(id);
  const cells = LISTS.retirements.columns.map(cell => cell.getValue(item));
  return { ...REST, key: [id], cells, document: item.document, ...overrides };
}

function createMember(email: string): RowInsert {
  const item = { id: 'm-1', fullName: 'Member', email, document: '{}' };
  return {
    ...REST,
    key: ['m-1'],
    cells: LISTS.members.columns.map(cell => cell.getValue(item)),
    document: '{}',
  };
}

/** Commits whose rows all have keys that no current row has. */
describe.each(ENGINES)('$name', ({ stage }) => {
  async function staged() {
    const { db, port, mirror } = await stage();
    const write = async (
      resource: ListResource,
      inserts: readonly RowInsert[],
      knownAt: string | null = null,
    ) => (await port.commit(openSync(resource, knownAt), { ...NO_CHANGES, inserts }, null)).versions;
    return { db, port, mirror, write };
  }

  test('new rows get consecutive versions in their order, dated by when they were observed', async () => {
    const { db, write } = await staged();
    const [first = 0, ...later] = await write(
      'retirements',
      ['r-2', 'r-1', 'r-3'].map(id => createInsert(id)),
    );
    expect(later).toEqual([first + 1, first + 2]);
    expect(await db.rows('SELECT id, valid_from FROM retirements ORDER BY version')).toEqual(
      ['r-2', 'r-1', 'r-3'].map(id => ({ id, valid_from: observedAt })),
    );
  });

  test('a row that was closed and comes back begins after its end, even if the clock stands still', async () => {
    const { db, port, write } = await staged();
    const [version = 0] = await write('retirements', [createInsert('r-1')]);
    const removals = [{ version, observedAt }];
    const { latestInstant: latestAt } = await port.commit(
      openSync('retirements', observedAt),
      { ...NO_CHANGES, removals },
      null,
    );
    await write('retirements', [createInsert('r-1')], latestAt);
    expect(await db.rows('SELECT valid_from, valid_to FROM retirements_history ORDER BY version')).toEqual([
      { valid_from: observedAt, valid_to: observedAt.replace('.000Z', '.001Z') },
      { valid_from: observedAt.replace('.000Z', '.002Z'), valid_to: null },
    ]);
  });

  test('a row of a person forgotten meanwhile is left out', async () => {
    const { db, mirror, write } = await staged();
    await mirror.forget('ada@people.example');
    expect(await write('members', [createMember('Ada@people.example')])).toEqual([0]);
    expect(await db.value('SELECT count(*) FROM members')).toBe(0);
  });
});
