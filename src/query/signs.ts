import type { InboxTables } from '../engines/contract/inbox-tables.js';
import type { Sqlite } from '../engines/sqlite/open.js';

/** Whether any process of a role lives: alive within a minute of its last sign, gone after it. */
export interface Life {
  readonly state: 'alive' | 'gone' | 'never_seen';
  readonly seenAt: string | null;
}

const ALIVE_MS = 60_000;

/** A sign from the future is one of a clock that has been put right since: it says nothing. */
export function readLife(db: Sqlite, role: InboxTables['processes']['role'], now: number): Life {
  const soon = new Date(now + ALIVE_MS).toISOString();
  const seenAt = db
    .prepare<[string, string], string | null>(
      'SELECT max(seen_at) FROM inbox.processes WHERE role = ? AND seen_at <= ?',
    )
    .pluck()
    .get(role, soon);
  if (seenAt === null || seenAt === undefined) return { state: 'never_seen', seenAt: null };
  return { state: now - Date.parse(seenAt) <= ALIVE_MS ? 'alive' : 'gone', seenAt };
}
