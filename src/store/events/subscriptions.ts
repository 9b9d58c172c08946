import { sql } from 'kysely';
import type { EventsPort, NewSubscription } from '../../events/port.js';
import { type CellsOf, type Params, prepared } from '../sql/prepared.js';
import type { EventsDatabase } from './events-database.js';

type Subscriptions = Pick<
  EventsPort,
  'add' | 'list' | 'listHolds' | 'listAttempts' | 'remove' | 'pause' | 'resume' | 'rotate' | 'replay'
>;

const LIST = prepared(({ db }) =>
  db.selectFrom('events.subscriptions').selectAll().orderBy('created_at').orderBy('id'),
);
const LIST_HOLDS = prepared(({ db }) =>
  db
    .selectFrom('events.held_organizations')
    .selectAll()
    .orderBy('subscription_id')
    .orderBy('next_attempt_at')
    .orderBy('organization_id'),
);
type AttemptLimit = { readonly id: string; readonly limit: number };
const LIST_ATTEMPTS = prepared(({ db, fn }, { id, limit }: Params<AttemptLimit>) =>
  db
    .selectFrom('events.event_attempts')
    .select(['subscription_id', 'event_id', 'type', 'attempted_at', 'duration_ms', 'status', 'error'])
    .where('subscription_id', '=', id)
    .orderBy('id', 'desc')
    .limit(fn.cast('int', limit)),
);

const INSERT = prepared(({ db }, params: Params<CellsOf<NewSubscription>>) => {
  const { id, url, events, created_at, key_check, epoch, change_cursor, occurrence_cursor } = params;
  return db.insertInto('events.subscriptions').values({
    id,
    url,
    events,
    created_at,
    key_check,
    epoch,
    change_cursor,
    occurrence_cursor,
    state: 'active',
    pause_reason: null,
    generation: sql.lit(1),
    previous_until: null,
    claimed_until: null,
    delivered_at: null,
  });
});

type Id = { readonly id: string };
const DELETIONS = [
  prepared(({ db }, { id }: Params<Id>) =>
    db.deleteFrom('events.event_attempts').where('subscription_id', '=', id),
  ),
  prepared(({ db }, { id }: Params<Id>) =>
    db.deleteFrom('events.held_organizations').where('subscription_id', '=', id),
  ),
  prepared(({ db }, { id }: Params<Id>) => db.deleteFrom('events.subscriptions').where('id', '=', id)),
];

/** Ends the claim of the current sender, so that the next sender uses the new values. */
const UNCLAIM = prepared(({ db }, { id }: Params<Id>) =>
  db
    .updateTable('events.subscriptions')
    .set(eb => ({ claim: eb('claim', '+', sql.lit(1)), claimed_until: null }))
    .where('id', '=', id),
);
const PAUSE = prepared(({ db }, { id, reason }: Params<{ readonly id: string; readonly reason: string }>) =>
  db.updateTable('events.subscriptions').set({ state: 'paused', pause_reason: reason }).where('id', '=', id),
);
const ACTIVATE = prepared(({ db }, { id }: Params<Id>) =>
  db.updateTable('events.subscriptions').set({ state: 'active', pause_reason: null }).where('id', '=', id),
);
const RETRY_HOLDS = prepared(({ db }, { id, at }: Params<{ readonly id: string; readonly at: string }>) =>
  db
    .updateTable('events.held_organizations')
    .set({ state: 'waiting', attempts: sql.lit(0), failing_since: at, next_attempt_at: at })
    .where('subscription_id', '=', id),
);
const ROTATE = prepared(({ db }, { id, until }: Params<{ readonly id: string; readonly until: string }>) =>
  db
    .updateTable('events.subscriptions')
    .set(eb => ({ generation: eb('generation', '+', sql.lit(1)), previous_until: until }))
    .where('id', '=', id),
);
type CursorValues = { readonly id: string; readonly change: number; readonly occurrence: number };
const SET_CURSORS = prepared(({ db }, { id, change, occurrence }: Params<CursorValues>) =>
  db
    .updateTable('events.subscriptions')
    .set({ change_cursor: change, occurrence_cursor: occurrence })
    .where('id', '=', id),
);
/** Moves the positions of held organizations back too. Their events are sent again when their next attempt is due. */
const LOWER_POSITIONS = prepared(({ db, fn }, { id, change, occurrence }: Params<CursorValues>) =>
  db
    .updateTable('events.held_organizations')
    .set(eb => ({
      change_position: fn.least(eb.ref('change_position'), fn.cast('int', change)),
      occurrence_position: fn.least(eb.ref('occurrence_position'), fn.cast('int', occurrence)),
    }))
    .where('subscription_id', '=', id),
);

/**
 * Creates the methods of `EventsPort` that manage event subscriptions, and the method that returns their holds. A hold is an organization
 * whose events wait because the receiver refused one of its events.
 */
export function createSubscriptions({ read, transact }: EventsDatabase): Subscriptions {
  return {
    add: subscription => transact(async batch => void (await batch(INSERT({ ...subscription })))),
    list: async () => (await read(LIST()))[0],
    listHolds: async () => (await read(LIST_HOLDS()))[0],
    listAttempts: async (id, limit) => (await read(LIST_ATTEMPTS({ id, limit })))[0],
    remove: id => transact(async batch => void (await batch(...DELETIONS.map(remove => remove({ id }))))),
    pause: (id, reason) =>
      transact(async batch => void (await batch(UNCLAIM({ id }), PAUSE({ id, reason })))),
    resume: (id, at) =>
      transact(async batch => void (await batch(UNCLAIM({ id }), ACTIVATE({ id }), RETRY_HOLDS({ id, at })))),
    rotate: (id, until) =>
      transact(async batch => void (await batch(UNCLAIM({ id }), ROTATE({ id, until })))),
    replay: (id, change, occurrence) => {
      const cursors = { id, change, occurrence };
      return transact(
        async batch => void (await batch(UNCLAIM({ id }), SET_CURSORS(cursors), LOWER_POSITIONS(cursors))),
      );
    },
  };
}
