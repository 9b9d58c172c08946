import { CERTIFICATES } from '../resources/certificates.js';
import { type Entry, ownerOf } from '../resources/entry.js';
import { INSTALLATIONS } from '../resources/installations.js';
import { LISTS } from '../resources/lists.js';

/** What a purge empties, and the column that says whose a row is. */
export type PurgedTables = readonly (readonly [table: string, owner: string])[];

export const CERTIFICATE_TABLES = withPast(CERTIFICATES);

/** By its name a person who asks again knows the organization: that goes last. */
export const LIST_TABLES = Object.values(LISTS)
  .toSorted((a, b) => Number(a.scope === 'id') - Number(b.scope === 'id'))
  .flatMap(withPast);

const BOOKS = [
  'syncs',
  'resource_states',
  'read_pages',
  'project_references',
  'awaited_installations',
  'certificate_sums',
];

/** Removed at once: they are small. */
export const SMALL_TABLES: PurgedTables = [
  ...BOOKS.map(table => [table, 'organization_id'] as const),
  ...withPast(INSTALLATIONS),
];

function withPast(entry: Entry): PurgedTables {
  const owner = ownerOf(entry);
  if (owner === null) return [];
  return [
    [entry.table, owner],
    [`${entry.table}_past`, owner],
  ];
}
