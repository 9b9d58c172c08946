import { setImmediate as pause } from 'node:timers/promises';
import { type Sqlite, write } from '../database/open.js';
import type { Books } from './books.js';
import { DESCRIPTORS, type ListResource } from './resources.js';

const SLICE = 500;
/** Removed at once: they are small. */
const SMALL = ['read_pages', 'project_references', 'retirement_sums', 'certificate_sums', 'announcements'];

/**
 * Removes everything that was mirrored for one organization, history included, and answers the names of the
 * certificate files that nothing names any more. Fences stay, so that an old claim cannot write it back.
 */
export async function purge(books: Books, organizationId: string, claim: number): Promise<string[]> {
  const { db } = books;
  db.pragma('secure_delete = ON');
  write(db, () => {
    books.fence.hold({ organizationId, lane: 'data', claim });
    books.fence.hold({ organizationId, lane: 'certificates', claim });
    db.prepare("UPDATE installations SET state = 'uninstalled' WHERE organization_id = ?").run(
      organizationId,
    );
  });
  const files = orphans(db, organizationId);
  for (const [table, column] of tables()) {
    const remove = db.prepare<[string, number]>(
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${column} = ? LIMIT ?)`,
    );
    await removeAll(db, () => remove.run(organizationId, SLICE).changes);
  }
  for (const table of SMALL) {
    write(db, () => db.prepare(`DELETE FROM ${table} WHERE organization_id = ?`).run(organizationId));
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

function tables(): [string, string][] {
  const names: ListResource[] = [
    'warehouse',
    'inventory',
    'reservations',
    'inventory_requests',
    'retirements',
    'addresses',
    'members',
    'organization',
  ];
  const listed = names.flatMap((name): [string, string][] => {
    const { table, scope } = DESCRIPTORS[name];
    return [
      [table, scope],
      [`${table}_past`, scope],
    ];
  });
  const others = [
    'certificates',
    'certificates_past',
    'sync_runs',
    'resource_states',
    'installations_past',
    'installations',
  ];
  return [...listed, ...others.map((name): [string, string] => [name, 'organization_id'])];
}

function orphans(db: Sqlite, organizationId: string): string[] {
  const named = 'SELECT file FROM certificates WHERE organization_id';
  const namedBefore = 'SELECT file FROM certificates_past WHERE organization_id';
  return db
    .prepare<string[], string>(
      `SELECT file FROM (${named} = ? UNION ${namedBefore} = ?) WHERE file IS NOT NULL
         AND file NOT IN (${named} <> ? AND file IS NOT NULL)
         AND file NOT IN (${namedBefore} <> ? AND file IS NOT NULL)`,
    )
    .pluck()
    .all(organizationId, organizationId, organizationId, organizationId);
}

async function removeAll(db: Sqlite, remove: () => number): Promise<void> {
  while (write(db, remove) === SLICE) await pause();
}
