import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { largest } from '../sql.js';

/** Whether any process of a role lives: alive within a minute of its last heartbeat, gone after it. */
export interface Life {
  readonly state: 'alive' | 'gone' | 'never_seen';
  readonly seenAt: string | null;
}

const ALIVE_MS = 60_000;

type Role = Tables['inbox.processes']['role'];

/** A heartbeat from the future is one of a clock that has been put right since: it says nothing. */
export async function readLife({ db }: Reader, role: Role, now: number): Promise<Life> {
  const seen = db.selectFrom('inbox.processes').where('role', '=', role);
  const seenAt = await largest(
    seen.where('seen_at', '<=', new Date(now + ALIVE_MS).toISOString()),
    'seen_at',
  );
  if (seenAt === null) return { state: 'never_seen', seenAt };
  return { state: now - Date.parse(seenAt) <= ALIVE_MS ? 'alive' : 'gone', seenAt };
}

/** All that have worked on this inbox of late. */
export async function readProcesses({ db }: Reader, role: Role) {
  const asked = db.selectFrom('inbox.processes').select(['host', 'pid', 'started_at as startedAt']);
  return await asked.where('role', '=', role).execute();
}
