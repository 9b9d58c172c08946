import type { Sqlite } from '../engines/sqlite/open.js';
import { entriesWith, hasColumn } from '../resources/resources.js';
import type { Value } from '../engines/contract/tables.js';

export interface Sought {
  readonly serialization: string | undefined;
  readonly creditId: string | undefined;
}

/** The projects that the mirror's credits, holds, requests and retirements name for this credit. */
export function findProjects(db: Sqlite, sought: Sought): Record<string, Value>[] {
  const named = entriesWith('project_id').map(entry => {
    const isOf = hasColumn(entry, 'credit_id') ? 'credit_id = @creditId OR' : '';
    return `SELECT project_id FROM ${entry.table} WHERE ${isOf} serialization = @serialization COLLATE NOCASE`;
  });
  return db
    .prepare<[object], Record<string, Value>>(`SELECT * FROM projects WHERE id IN (${named.join(' UNION ')})`)
    .safeIntegers()
    .all({ serialization: sought.serialization ?? null, creditId: sought.creditId ?? null });
}
