import type { Database } from 'better-sqlite3';
import { conflict } from '../http/errors.js';
import type { Place, ReservationRow } from './schema.js';

/**
 * Every credit stands in exactly one place: a warehouse, an inventory, a hold, a retirement or a queued transaction.
 * What was issued equals the sum of all of them after each transaction.
 */
export interface Accounts {
  give(organizationId: string, place: Place, creditId: string, micro: number): void;
  /** Refuses where less is there, and then changes nothing. */
  take(organizationId: string, place: Place, creditId: string, micro: number): void;
  amountOf(organizationId: string, place: Place, creditId: string): number;
  /** Ends the holds whose time has come and gives their credits back to the warehouse. */
  endExpiredHolds(now: string): void;
}

type Hold = Pick<ReservationRow, 'id' | 'organization_id' | 'credit_id' | 'amount_micro'>;

export function createAccounts(db: Database): Accounts {
  const add = db.prepare<[string, Place, string, number]>(
    `insert into holdings (organization_id, place, credit_id, amount_micro) values (?, ?, ?, ?)
     on conflict (organization_id, place, credit_id) do update set amount_micro = amount_micro + excluded.amount_micro`,
  );
  const reduce = db.prepare<[number, string, Place, string, number]>(
    `update holdings set amount_micro = amount_micro - ?
     where organization_id = ? and place = ? and credit_id = ? and amount_micro > ?`,
  );
  const empty = db.prepare<[string, Place, string, number]>(
    'delete from holdings where organization_id = ? and place = ? and credit_id = ? and amount_micro = ?',
  );
  const read = db
    .prepare<[string, Place, string], number>(
      'select amount_micro from holdings where organization_id = ? and place = ? and credit_id = ?',
    )
    .pluck();
  const expired = db.prepare<[string], Hold>(
    `select id, organization_id, credit_id, amount_micro from reservations
     where state = 'outstanding' and reserved_to_at <= ?`,
  );
  const expire = db.prepare<[string]>(
    `update reservations set state = 'expired', updated_at = reserved_to_at where id = ?`,
  );

  function give(organizationId: string, place: Place, creditId: string, micro: number): void {
    add.run(organizationId, place, creditId, micro);
  }

  function take(organizationId: string, place: Place, creditId: string, micro: number): void {
    if (reduce.run(micro, organizationId, place, creditId, micro).changes === 1) return;
    if (empty.run(organizationId, place, creditId, micro).changes === 1) return;
    throw conflict(`The ${place} holds less of this credit than the amount asked for`);
  }

  const endHolds = db.transaction((holds: readonly Hold[]) => {
    for (const hold of holds) {
      give(hold.organization_id, 'warehouse', hold.credit_id, hold.amount_micro);
      expire.run(hold.id);
    }
  });

  return {
    give,
    take,
    amountOf: (organizationId, place, creditId) => read.get(organizationId, place, creditId) ?? 0,
    endExpiredHolds(now) {
      const holds = expired.all(now);
      if (holds.length > 0) endHolds(holds);
    },
  };
}
