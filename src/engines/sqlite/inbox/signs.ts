import { sql } from 'kysely';
import { type Sqlite, write } from '../open.js';
import { parameter, statement } from '../statement.js';
import {
  GONE_AFTER_MS,
  type LivingProcess,
  type ProcessRole,
  type Pulse,
  SIGN_EVERY_MS,
} from '../../../inbox/process.js';
import { queries, toInstant } from './queries.js';

export type SignOfLife = (self: LivingProcess, now: number) => void;

type Sign = { id: number; role: ProcessRole; host: string; pid: number; startedAt: string; now: string };

/** One row a process: entered with its first sign, then touched; entered anew where an older inbox was put back. */
export function createSignOfLife(db: Sqlite): SignOfLife {
  const touch = statement<Sign>(
    db,
    queries
      .updateTable('processes')
      .set({ seen_at: parameter<string>('now') })
      .where('id', '=', parameter<number>('id'))
      .where('role', '=', parameter<ProcessRole>('role'))
      .where('host', '=', parameter<string>('host'))
      .where('pid', '=', parameter<number>('pid'))
      .where('started_at', '=', parameter<string>('startedAt')),
  );
  const enter = statement<Sign, { id: number }>(
    db,
    queries
      .insertInto('processes')
      .values({
        role: parameter<ProcessRole>('role'),
        host: parameter<string>('host'),
        pid: parameter<number>('pid'),
        started_at: parameter<string>('startedAt'),
        seen_at: parameter<string>('now'),
      })
      .returning('id'),
  );
  const remove = statement<{ before: string }>(
    db,
    queries
      .deleteFrom('processes')
      .where('seen_at', '<', parameter<string>('before'))
      .where(
        'id',
        'not in',
        queries
          .selectFrom('processes as one')
          .select(sql<number>`first_value(id) OVER (PARTITION BY role ORDER BY seen_at DESC)`.as('last')),
      ),
  );
  let id = 0;
  return ({ startedAt, ...self }, now) =>
    write(db, () => {
      const sign = { ...self, id, startedAt: toInstant(startedAt), now: toInstant(now) };
      if (touch.run(sign) === 0) id = enter.get(sign)?.id ?? 0;
      remove.run({ before: toInstant(now - GONE_AFTER_MS) });
    });
}

export function createPulse(db: Sqlite): (now: number) => Pulse {
  const worked = db.prepare<[], number>('SELECT last > 0 FROM claims').pluck();
  const seen = db.prepare<[string], { role: ProcessRole; at: string }>(
    'SELECT role, max(seen_at) AS at FROM processes WHERE seen_at <= ? GROUP BY role',
  );
  const due = db
    .prepare<[string], string | null>("SELECT min(run_at) FROM jobs WHERE state = 'ready' AND run_at <= ?")
    .pluck();
  return now => {
    const seenAt = Object.fromEntries(
      seen.all(toInstant(now + SIGN_EVERY_MS)).map(({ role, at }) => [role, Date.parse(at)]),
    );
    const dueAt = due.get(toInstant(now)) ?? null;
    return {
      workerEverSeen: worked.get() === 1 || 'work' in seenAt,
      seenAt,
      oldestDueAt: dueAt === null ? null : Date.parse(dueAt),
    };
  };
}
