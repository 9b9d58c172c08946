import type { Sqlite } from '../engines/sqlite/open.js';
import { LISTS } from '../resources/lists.js';
import { ENTRIES } from '../resources/resources.js';
import { INSTALLED_NAME } from './names.js';

/** Where the registry's own objects may hold a person's address, beside the members. */
const TABLES = ENTRIES.filter(entry => entry.hasDocument && entry !== LISTS.members).map(
  ({ table }) => table,
);

export interface Mention {
  readonly table: string;
  readonly rows: number;
}

/** Rows, past ones included, whose registry's object names the address. They are found by reading every one. */
export function readMentions(db: Sqlite, isAbout: (document: string) => boolean): Mention[] {
  return TABLES.map(table => ({ table, rows: countIn(db, table, isAbout) })).filter(({ rows }) => rows > 0);
}

function countIn(db: Sqlite, table: string, isAbout: (document: string) => boolean): number {
  let rows = 0;
  for (const document of db.prepare<[], string>(`SELECT document FROM ${table}_history`).pluck().iterate()) {
    if (isAbout(document)) rows += 1;
  }
  return rows;
}

export interface Purgeable {
  readonly organizationId: string;
  /** The name that a person has to repeat; the id where no name is known. */
  readonly name: string;
  readonly state: string;
}

export function readPurgeable(db: Sqlite, organizationId: string): Purgeable {
  const row = db
    .prepare<[object], { name: string | null; state: string | null }>(
      `SELECT
        coalesce(
          (SELECT full_name FROM organizations WHERE id = @organizationId),
          (SELECT full_name FROM organizations_past WHERE id = @organizationId ORDER BY valid_to DESC LIMIT 1),
          (SELECT ${INSTALLED_NAME} FROM installations WHERE organization_id = @organizationId LIMIT 1)
        ) AS name,
        (SELECT CASE WHEN max(state = 'active') THEN 'active' WHEN max(state = 'suspended') THEN 'suspended' ELSE 'uninstalled' END
          FROM installations WHERE organization_id = @organizationId) AS state`,
    )
    .get({ organizationId });
  return { organizationId, name: row?.name ?? organizationId, state: row?.state ?? 'uninstalled' };
}
