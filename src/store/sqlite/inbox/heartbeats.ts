import {
  GONE_AFTER_MS,
  type LivingProcess,
  type ProcessRole,
  type Pulse,
  HEARTBEAT_EVERY_MS,
} from '../../../inbox/process.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

type Beat = { id: number; role: ProcessRole; host: string; pid: number; startedAt: string; now: string };

/**
 * One row a process: entered with its first heartbeat, then touched; entered anew where an older inbox was put back.
 * To be run inside `write`.
 */
export function createHeartbeat(db: Sqlite): (self: LivingProcess, now: number) => void {
  const touch = statement<Beat>(
    db,
    `UPDATE processes SET seen_at = @now
    WHERE id = @id AND role = @role AND host = @host AND pid = @pid AND started_at = @startedAt`,
  );
  const enter = statement<Beat, { id: number }>(
    db,
    `INSERT INTO processes (role, host, pid, started_at, seen_at)
    VALUES (@role, @host, @pid, @startedAt, @now) RETURNING id`,
  );
  const remove = statement<{ before: string }>(
    db,
    `DELETE FROM processes WHERE seen_at < @before AND id NOT IN (
      SELECT first_value(id) OVER (PARTITION BY role ORDER BY seen_at DESC) FROM processes)`,
  );
  let id = 0;
  return ({ startedAt, ...self }, now) => {
    const beat = { ...self, id, startedAt: formatInstant(startedAt), now: formatInstant(now) };
    if (touch.run(beat) === 0) id = enter.get(beat)?.id ?? 0;
    remove.run({ before: formatInstant(now - GONE_AFTER_MS) });
  };
}

export function createPulse(db: Sqlite): (now: number) => Pulse {
  const worked = db.prepare<[], number>('SELECT last > 0 FROM claims').pluck();
  const seen = db.prepare<[string], { role: ProcessRole; at: string }>(
    'SELECT role, max(seen_at) AS at FROM processes WHERE seen_at <= ? GROUP BY role',
  );
  const due = db
    .prepare<[string], string | null>("SELECT min(run_at) FROM jobs WHERE state = 'waiting' AND run_at <= ?")
    .pluck();
  return now => {
    const seenAt = Object.fromEntries(
      seen.all(formatInstant(now + HEARTBEAT_EVERY_MS)).map(({ role, at }) => [role, Date.parse(at)]),
    );
    const dueAt = due.get(formatInstant(now)) ?? null;
    return {
      at: now,
      workerEverSeen: worked.get() === 1 || 'work' in seenAt,
      seenAt,
      oldestDueAt: dueAt === null ? null : Date.parse(dueAt),
    };
  };
}
