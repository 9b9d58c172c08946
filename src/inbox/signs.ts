import { sql } from 'kysely';
import type { ProcessRole } from '../database/inbox-tables.js';
import { type Sqlite, write } from '../database/open.js';
import { parameter, statement } from '../database/statement.js';
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

/** Whether anybody has ever worked this inbox; claims tell of those before signs of life were kept. */
export function createWorkerEverSeen(db: Sqlite): () => boolean {
  const seen = db
    .prepare<[], number>(
      `SELECT EXISTS (SELECT 1 FROM processes WHERE role = 'work') OR (SELECT last > 0 FROM claims)`,
    )
    .pluck();
  return () => seen.get() === 1;
}
