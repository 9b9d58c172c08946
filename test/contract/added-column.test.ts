import { describe, expect, test } from 'vitest';
import { changesView } from '../../migrations/mirror/0001/changes.js';
import { RESOURCES } from '../../migrations/mirror/current.js';
import { mirror0001 } from '../../migrations/mirror/0001.js';
import {
  addColumn,
  type Columns,
  joined,
  type Mirrored,
  POSTGRES,
  raw,
  SQLITE,
} from '../../migrations/schema.js';
import { mergeRelations } from '../../src/store/migrations.js';
import { ENGINES, MINUTE } from '../support/mirror/open.js';
import { organization } from '../support/mirror/rows.js';

/** A column that a later migration might add. No real one has this name. */
const TOWN = { town: ['text', 'town of the organization'] } as const satisfies Columns;
const LATER = RESOURCES.map(entry =>
  entry.table === 'organizations' ? { ...entry, columns: { ...entry.columns, ...TOWN } } : entry,
);
const ORGANIZATIONS = LATER.find(entry => entry.table === 'organizations');
type LaterColumns = Extract<(typeof LATER)[number], { readonly table: 'organizations' }>['columns'];

/** Returns a later migration that adds the column, as CONTRIBUTING.md describes. */
function mirror0002(organizations: Mirrored) {
  return joined([
    addColumn(organizations, 'town', ({ engine }) =>
      engine === 'sqlite' ? "document ->> '$.city'" : "document::json ->> 'city'",
    ),
    raw(({ mirror }) => `DROP VIEW ${mirror}changes;\n`),
    changesView(LATER),
  ]);
}

describe.each(ENGINES)('$name', ({ name, library }) => {
  test('a migration adds a column: current rows get it from their documents, past versions have NULL', async () => {
    if (ORGANIZATIONS === undefined) throw new Error('expected the table organizations');
    const kind: LaterColumns['town'][0] = 'text';
    // A pool of its own, because no other test may use the changed tables.
    const { stage } = await library({ free: [], prepare: null });
    const { db, clock } = stage;
    const read = async (city: string) => {
      clock.at += MINUTE;
      await stage.read('organization', [organization('organization-1', { city })]);
    };
    await read('Bergen');
    await read('Oslo');
    const migration = mirror0002(ORGANIZATIONS);
    await db.change(migration.textOf(name === 'SQLite' ? SQLITE : POSTGRES));
    expect(await db.column('SELECT town FROM organizations')).toEqual(['Oslo']);
    expect(await db.column('SELECT town FROM organizations_history ORDER BY version')).toEqual([
      null,
      'Oslo',
    ]);
    expect(await db.value('SELECT after FROM changes ORDER BY number DESC LIMIT 1')).toContain(
      '"town":"Oslo"',
    );

    const relations = mergeRelations([mirror0001(name === 'SQLite' ? 'sqlite' : 'postgres'), migration]);
    const names = relations.map(relation => relation.name);
    expect(names).toEqual([...new Set(names)]);
    for (const table of ['organizations', 'organizations_history'])
      expect(relations.find(relation => relation.name === `mirror.${table}`)?.columns['town']?.[0]).toBe(
        kind,
      );
  });
});
