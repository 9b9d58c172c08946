import { type Sqlite, write } from '../open.js';
import type { Purged } from '../../../mirror/port.js';
import { MEMBERS, PURGED, REST, type Rows } from '../../purged-tables.js';
import type { MirrorOperations } from './operations.js';
import type { SyncRows } from './sync-rows.js';
import type { UnnamedFiles } from './files.js';

const SLICE = 500;
const FRESHNESS_FACTS = ['freshness_facts', 'organization_id = ?'] as const;

/**
 * Everything that was mirrored for one organization goes, history included. Fences stay, so that an old claim cannot
 * write it back. What reads write meanwhile goes too, in one last transaction, from which on every read that had begun
 * before is refused: it may have held its answers against rows that are gone.
 */
export function createRemoval(
  db: Sqlite,
  syncRows: SyncRows,
  files: UnnamedFiles,
): Pick<MirrorOperations, 'beginPurge' | 'purgeRows' | 'endPurge' | 'removeMembers'> {
  return {
    beginPurge: (organizationId, claim) => {
      db.pragma('secure_delete = ON');
      const last = write(db, () => {
        takeBoth(syncRows, organizationId, claim);
        db.prepare("UPDATE installations SET state = 'uninstalled' WHERE organization_id = ?").run(
          organizationId,
        );
        return db.prepare<[], number>('SELECT last FROM version_counter').pluck().get() ?? 0;
      });
      return { last, retirementIds: ownRetirements(db, organizationId) };
    },
    purgeRows: (organizationId, last, which) =>
      write(
        db,
        () =>
          removeSome(db, PURGED[which], 'AND version <= ?', organizationId, last) ||
          (which === 'certificates' ? 0 : removeSyncs(db, organizationId)),
      ),
    endPurge: (organizationId, last, claim) =>
      write(db, () => {
        takeBoth(syncRows, organizationId, claim);
        return removeRest(db, files, organizationId, last);
      }),
    removeMembers: () => {
      db.pragma('secure_delete = ON');
      return write(db, () => removeMembers(db));
    },
  };
}

function takeBoth({ fence }: SyncRows, organizationId: string, claim: number): void {
  fence.take({ organizationId, part: 'data', claim });
  fence.take({ organizationId, part: 'certificates', claim });
}

/** Of the first that has some. */
function removeSome(db: Sqlite, tables: readonly Rows[], only = '', ...values: (string | number)[]): number {
  for (const [table, which] of tables) {
    const { changes } = db
      .prepare(
        `DELETE FROM ${table} WHERE version IN (SELECT version FROM ${table} WHERE ${which} ${only} LIMIT ?)`,
      )
      .run(...values, SLICE);
    if (changes > 0) return changes;
  }
  return 0;
}

function removeSyncs(db: Sqlite, organizationId: string): number {
  return db
    .prepare('DELETE FROM syncs WHERE rowid IN (SELECT rowid FROM syncs WHERE organization_id = ? LIMIT ?)')
    .run(organizationId, SLICE).changes;
}

function removeRest(db: Sqlite, files: UnnamedFiles, organizationId: string, last: number): Purged {
  const named = db
    .prepare<[string], string>(
      'SELECT DISTINCT file FROM certificates_history WHERE organization_id = ? AND file IS NOT NULL',
    )
    .pluck()
    .all(organizationId);
  const installations = db
    .prepare<[string, number], string>(
      "SELECT id FROM installations WHERE organization_id = ? AND version > ? AND state <> 'uninstalled'",
    )
    .pluck()
    .all(organizationId, last);
  for (const [table, which] of [...REST, FRESHNESS_FACTS]) {
    db.prepare(`DELETE FROM ${table} WHERE ${which}`).run(organizationId);
  }
  return { files: files.removeLocked(named), installations };
}

function removeMembers(db: Sqlite): number {
  const removed = removeSome(db, MEMBERS);
  if (removed > 0) return removed;
  db.prepare("DELETE FROM resource_states WHERE resource = 'members'").run();
  db.prepare("DELETE FROM freshness_facts WHERE resource = 'members'").run();
  return 0;
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
