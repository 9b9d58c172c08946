import { sql } from 'kysely';
import type { EventsPort, NewEpoch } from '../../events/port.js';
import { type CellsOf, type Params, prepared } from '../sql/prepared.js';
import type { RunBatch } from '../statement.js';
import type { EventsDatabase } from './events-database.js';

const READ = prepared(({ db }) =>
  db
    .selectFrom('events.epochs')
    .select(['epoch', 'began_at', 'reason', 'newest_change', 'newest_occurrence', 'evaluated_at']),
);
const INSERT = prepared(({ db }, { epoch, at, reason, newestChange }: Params<CellsOf<NewEpoch>>) =>
  db
    .insertInto('events.epochs')
    .values({
      epoch,
      reason,
      only_row: sql.lit(1),
      began_at: at,
      newest_change: newestChange,
      newest_occurrence: sql.lit(0),
      evaluated_at: null,
    })
    .onConflict(conflict => conflict.doNothing()),
);
const UPDATE = prepared(({ db }, { epoch, at, reason, newestChange }: Params<CellsOf<NewEpoch>>) =>
  db.updateTable('events.epochs').set({ epoch, reason, began_at: at, newest_change: newestChange }),
);
type Newest = { readonly newest: number };
/** Moves cursors back to the newest change, and ends all claims, so that no sender of the old epoch can write any more. */
const LOWER_CURSORS = prepared(({ db, fn }, { newest }: Params<Newest>) =>
  db.updateTable('events.subscriptions').set(eb => ({
    claim: eb('claim', '+', sql.lit(1)),
    claimed_until: null,
    change_cursor: fn.least(eb.ref('change_cursor'), fn.cast('int', newest)),
  })),
);
/**
 * Moves the positions of held organizations back. Makes each hold wait for the event of the epoch instead of the refused event:
 * that event may be gone, and must not be sent as erased.
 */
const LOWER_POSITIONS = prepared(({ db, fn }, { newest }: Params<Newest>) =>
  db.updateTable('events.held_organizations').set(eb => ({
    change_position: fn.least(eb.ref('change_position'), fn.cast('int', newest)),
    refused_stream: sql.lit('epoch'),
    refused_number: sql.lit(0),
  })),
);

/**
 * Begins a new epoch: from now on, event ids begin with the new epoch name, so they differ from all earlier ids. If the cursor (read
 * position) of a subscription is beyond the newest change, moves it back to that change. Does nothing if there never was an epoch, because
 * then there are no subscriptions.
 */
export async function beginEpoch(batch: RunBatch, epoch: NewEpoch): Promise<void> {
  const newest = { newest: epoch.newestChange };
  await batch(UPDATE({ ...epoch }), LOWER_CURSORS(newest), LOWER_POSITIONS(newest));
}

/**
 * Creates the methods of `EventsPort` that read the current epoch and begin a new one. Event ids begin with the name of the epoch. After a
 * restore, for example, changes may get the same numbers again. A new epoch then keeps event ids unique.
 */
export function createEpochs({
  read,
  transact,
}: EventsDatabase): Pick<EventsPort, 'readEpoch' | 'ensureEpoch' | 'beginEpoch'> {
  return {
    readEpoch: async () => (await read(READ()))[0][0] ?? null,
    ensureEpoch: async first => {
      const [[known]] = await read(READ());
      if (known !== undefined) return known;
      const [, [current]] = await transact(batch => batch(INSERT({ ...first }), READ()));
      if (current === undefined) throw new Error('expected an epoch, got none');
      return current;
    },
    beginEpoch: next => transact(batch => beginEpoch(batch, next)),
  };
}
