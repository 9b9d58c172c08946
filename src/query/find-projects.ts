import type { Sqlite } from '../engines/sqlite/open.js';
import type { Value } from '../engines/contract/tables.js';

export interface Sought {
  readonly serialization: string | undefined;
  readonly creditId: string | undefined;
}

const SOURCES = ['warehouse_credits', 'inventory_credits', 'reservations', 'inventory_requests'];

/** The projects that the mirror's credits, holds, requests and retirements name for this credit. */
export function findProjects(db: Sqlite, sought: Sought): Record<string, Value>[] {
  const named = SOURCES.map(
    table => `SELECT project_id FROM ${table}
      WHERE credit_id = @creditId OR serialization = @serialization COLLATE NOCASE`,
  );
  const retired = 'SELECT project_id FROM retirements WHERE serialization = @serialization COLLATE NOCASE';
  return db
    .prepare<[object], Record<string, Value>>(
      `SELECT * FROM projects WHERE id IN (${[...named, retired].join(' UNION ')})`,
    )
    .safeIntegers()
    .all({ serialization: sought.serialization ?? null, creditId: sought.creditId ?? null });
}
