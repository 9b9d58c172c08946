import { CERTIFICATES } from '../resources/certificates.js';
import { type Entry, ownerOf } from '../resources/entry.js';
import { INSTALLATIONS } from '../resources/installations.js';
import { LISTS } from '../resources/lists.js';
import { wordOf } from '../resources/resources.js';

/** Some of a table: `?` is whose. */
export type Rows = readonly [table: string, which: string];

const OWN = 'organization_id = ?';

/** What a purge removes, a slice at a time. By its name a person who asks again knows the organization: that goes last. */
export const PURGED = {
  certificates: rowsOf([CERTIFICATES]),
  lists: rowsOf(
    Object.values<Entry>(LISTS).toSorted((a, b) => Number(a.scope === 'id') - Number(b.scope === 'id')),
  ),
};

const BOOKS = [
  'syncs',
  'resource_states',
  'project_references',
  'awaited_installations',
  'certificate_sums',
  'freshness_facts',
];

/** What goes at once, when the most of it is gone. */
export const REST: readonly Rows[] = [
  ...PURGED.certificates,
  ...PURGED.lists,
  ...rowsOf([INSTALLATIONS]),
  ...BOOKS.map((table): Rows => [table, OWN]),
];

/** The people of all organizations. */
export const MEMBERS: readonly Rows[] = [pastOf([LISTS.members]), ['members', 'true']];

function rowsOf(entries: readonly Entry[]): Rows[] {
  const [past, which] = pastOf(entries);
  return [
    [past, `${which} AND ${OWN}`],
    ...entries.map((entry): Rows => [entry.table, `${ownerOf(entry)} = ?`]),
  ];
}

function pastOf(entries: readonly Entry[]): Rows {
  return ['past', `resource IN (${entries.map(entry => `'${wordOf(entry)}'`).join(', ')})`];
}
