import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { columns, largest, sql } from '../sql.js';

/** Whether any process of a role lives: alive within a minute of its last heartbeat, gone after it. */
export interface Life {
  readonly state: 'alive' | 'gone' | 'never_seen';
  readonly seenAt: string | null;
}

const ALIVE_MS = 60_000;

type Role = Tables['inbox.processes']['role'];

/** A heartbeat from the future is one of a clock that has been put right since: it says nothing. */
export async function readLife(reader: Reader, role: Role, now: number): Promise<Life> {
  const soon = new Date(now + ALIVE_MS).toISOString();
  const seen = sql`inbox.processes WHERE role = ${role} AND seen_at <= ${soon}`;
  const seenAt = await largest(reader, 'seen_at', seen);
  if (seenAt === null) return { state: 'never_seen', seenAt };
  return { state: now - Date.parse(seenAt) <= ALIVE_MS ? 'alive' : 'gone', seenAt };
}

/** All that have worked on this inbox of late. */
export async function readProcesses({ all }: Reader, role: Role) {
  const wanted = columns('inbox.processes', ['host', 'pid', 'started_at']);
  return await all(sql`SELECT ${wanted} FROM inbox.processes WHERE role = ${role}`);
}
