import { setImmediate as pause } from 'node:timers/promises';
import { type Sqlite, write } from '../database/open.js';
import type { Books } from './books.js';
import type { CertificateFolder } from './certificates.js';
import { DESCRIPTORS, type ListResource } from './resources.js';
import { createUnnamedFiles } from './unnamed-files.js';

const SLICE = 500;

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
type Tables = readonly (readonly [table: string, scope: string])[];
const CERTIFICATES: Tables = withPast('certificates', 'organization_id');
const VERSIONED: Tables = LISTS.flatMap(name => withPast(DESCRIPTORS[name].table, DESCRIPTORS[name].scope));
/** Removed at once: they are small. */
const REST: Tables = [
  'sync_runs',
  'resource_states',
  'read_pages',
  'project_references',
  'retirement_sums',
  'certificate_sums',
  'announcements',
  'installations_past',
  'installations',
].map(table => [table, 'organization_id']);

export interface Purge {
  readonly organizationId: string;
  /** A claim that is newer than all that were given out. */
  readonly takeClaim: () => number;
  readonly folder: CertificateFolder;
}

export interface Purged {
  readonly files: number;
  /** Installations that came while it went on: what they brought went too, and they want to be read again. */
  readonly installations: readonly string[];
}

/**
 * Removes everything that was mirrored for one organization, history included. Who is killed and asked again finds the
 * files by the retirements, which go after them. What reads write meanwhile goes too, in one last transaction, from
 * which on every read that had begun before is refused: it may have held its answers against rows that are gone.
 */
export async function purge(books: Books, { organizationId, takeClaim, folder }: Purge): Promise<Purged> {
  const { db } = books;
  db.pragma('secure_delete = ON');
  const last = write(db, () => {
    holdBoth(books, organizationId, takeClaim());
    db.prepare("UPDATE installations SET state = 'uninstalled' WHERE organization_id = ?").run(
      organizationId,
    );
    return db.prepare<[], number>('SELECT last FROM version_counter').pluck().get() ?? 0;
  });
  const files = await folder.filesOf(new Set(ownRetirements(db, organizationId)));
  await removeOlder(db, CERTIFICATES, organizationId, last);
  const removed = await createUnnamedFiles(db, folder).removeAll(files);
  await removeOlder(db, VERSIONED, organizationId, last);
  const runs = db.prepare<[string, number]>(
    'DELETE FROM sync_runs WHERE rowid IN (SELECT rowid FROM sync_runs WHERE organization_id = ? LIMIT ?)',
  );
  await removeAll(db, () => runs.run(organizationId, SLICE).changes);
  return write(db, () => {
    holdBoth(books, organizationId, takeClaim());
    const { files: late, installations } = removeRest(db, folder, organizationId, last);
    return { files: removed + late, installations };
  });
}

function holdBoth({ fence }: Books, organizationId: string, claim: number): void {
  fence.hold({ organizationId, lane: 'data', claim });
  fence.hold({ organizationId, lane: 'certificates', claim });
}

async function removeOlder(db: Sqlite, tables: Tables, organizationId: string, last: number): Promise<void> {
  for (const [table, column] of tables) {
    const remove = db.prepare<[string, number, number]>(
      `DELETE FROM ${table} WHERE version IN (
         SELECT version FROM ${table} WHERE ${column} = ? AND version <= ? LIMIT ?)`,
    );
    await removeAll(db, () => remove.run(organizationId, last, SLICE).changes);
  }
}

function removeRest(db: Sqlite, folder: CertificateFolder, organizationId: string, last: number): Purged {
  const named = db.prepare<[string], string>(
    'SELECT DISTINCT file FROM certificates_history WHERE organization_id = ? AND file IS NOT NULL',
  );
  const files = named.pluck().all(organizationId);
  const installations = db
    .prepare<[string, number], string>(
      "SELECT id FROM installations WHERE organization_id = ? AND version > ? AND state <> 'uninstalled'",
    )
    .pluck()
    .all(organizationId, last);
  for (const [table, column] of [...CERTIFICATES, ...VERSIONED, ...REST]) {
    db.prepare(`DELETE FROM ${table} WHERE ${column} = ?`).run(organizationId);
  }
  return { files: createUnnamedFiles(db, folder).removeLocked(files), installations };
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

function withPast(table: string, scope: string): Tables {
  return [
    [table, scope],
    [`${table}_past`, scope],
  ];
}

async function removeAll(db: Sqlite, remove: () => number): Promise<void> {
  while (write(db, remove) === SLICE) await pause();
}
