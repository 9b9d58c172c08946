import { setImmediate as pause } from 'node:timers/promises';
import { type Sqlite, write } from '../database/open.js';
import type { Books } from './books.js';
import { DESCRIPTORS, type ListResource } from './resources.js';

const SLICE = 500;
/** Removed at once: they are small. */
const SMALL = ['read_pages', 'project_references', 'retirement_sums', 'certificate_sums', 'announcements'];

const LISTS: readonly ListResource[] = [
  'warehouse',
  'inventory',
  'reservations',
  'inventory_requests',
  'retirements',
  'addresses',
  'members',
  'organization',
];
const VERSIONED: readonly (readonly [table: string, scope: string])[] = [
  ...LISTS.map((name): [string, string] => [DESCRIPTORS[name].table, DESCRIPTORS[name].scope]),
  ['certificates', 'organization_id'] as const,
].flatMap(([table, scope]): [string, string][] => [
  [table, scope],
  [`${table}_past`, scope],
]);

/**
 * Removes everything that was mirrored for one organization, history included. The files of its retirements go first, so
 * that one who is killed and asked again finds by the rows what is left. Fences stay, so that an old claim cannot write
 * it back; what a new one writes meanwhile has newer versions, and stays with its files. Answers how many files went.
 */
export async function purge(
  books: Books,
  organizationId: string,
  claim: number,
  removeFiles: (retirementIds: ReadonlySet<string>) => Promise<number>,
): Promise<number> {
  const { db } = books;
  db.pragma('secure_delete = ON');
  const last = write(db, () => {
    books.fence.hold({ organizationId, lane: 'data', claim });
    books.fence.hold({ organizationId, lane: 'certificates', claim });
    db.prepare("UPDATE installations SET state = 'uninstalled' WHERE organization_id = ?").run(
      organizationId,
    );
    return db.prepare<[], number>('SELECT last FROM version_counter').pluck().get() ?? 0;
  });
  const files = await removeFiles(new Set(ownRetirements(db, organizationId)));
  for (const [table, column] of VERSIONED) {
    const remove = db.prepare<[string, number, number]>(
      `DELETE FROM ${table} WHERE version IN (
         SELECT version FROM ${table} WHERE ${column} = ? AND version <= ? LIMIT ?)`,
    );
    await removeAll(db, () => remove.run(organizationId, last, SLICE).changes);
  }
  for (const table of ['sync_runs', 'resource_states']) {
    const remove = db.prepare<[string, number]>(
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE organization_id = ? LIMIT ?)`,
    );
    await removeAll(db, () => remove.run(organizationId, SLICE).changes);
  }
  for (const table of SMALL) {
    write(db, () => db.prepare(`DELETE FROM ${table} WHERE organization_id = ?`).run(organizationId));
  }
  for (const table of ['installations_past', 'installations']) {
    write(db, () =>
      db.prepare(`DELETE FROM ${table} WHERE organization_id = ? AND version <= ?`).run(organizationId, last),
    );
  }
  return files;
}

/** A few at a time; states go last, so that whoever reads meanwhile is not told that all are there. */
export async function removeMembers(db: Sqlite): Promise<void> {
  const said = db.prepare("DELETE FROM resource_states WHERE resource = 'members'");
  const announced = db.prepare("DELETE FROM announcements WHERE resource = 'members'");
  db.pragma('secure_delete = ON');
  for (const table of ['members', 'members_past']) {
    const remove = db.prepare<[number]>(
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} LIMIT ?)`,
    );
    await removeAll(db, () => remove.run(SLICE).changes);
  }
  write(db, () => {
    said.run();
    announced.run();
  });
}

/** Those that no other organization has too. */
function ownRetirements(db: Sqlite, organizationId: string): string[] {
  const known = (whose: string) =>
    `SELECT id FROM retirements_history WHERE organization_id ${whose} ?
     UNION SELECT retirement_id FROM certificates_history WHERE organization_id ${whose} ?`;
  return db
    .prepare<string[], string>(`SELECT id FROM (${known('=')}) EXCEPT SELECT id FROM (${known('<>')})`)
    .pluck()
    .all(organizationId, organizationId, organizationId, organizationId);
}

async function removeAll(db: Sqlite, remove: () => number): Promise<void> {
  while (write(db, remove) === SLICE) await pause();
}
