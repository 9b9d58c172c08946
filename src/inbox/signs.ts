import { sql } from 'kysely';
import type { ProcessRole } from '../engines/contract/inbox-tables.js';
import { type Sqlite, write } from '../engines/sqlite/open.js';
import { parameter, statement } from '../engines/sqlite/statement.js';
import { queries, toInstant } from './queries.js';

/** Who lives. */
export interface LivingProcess {
  readonly role: ProcessRole;
  /** Name of the machine. */
  readonly host: string;
  readonly pid: number;
  readonly startedAt: number;
}

export type SignOfLife = (self: LivingProcess, now: number) => void;

export const SIGN_EVERY_MS = 15_000;
/** A process without a sign for so long is gone. Only the last of each role stays, to say since when. */
const GONE_AFTER_MS = 3_600_000;

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

/** What can be told of the inbox at a glance. Instants are epoch milliseconds. */
export interface Pulse {
  /** Claims tell of those that worked it before signs of life were kept. */
  readonly workerEverSeen: boolean;
  /** The latest sign of life of each role; without those that gave none. */
  readonly seenAt: Readonly<Partial<Record<ProcessRole, number>>>;
  /** Since when the oldest job waits that may start; null where none does. */
  readonly oldestDueAt: number | null;
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
