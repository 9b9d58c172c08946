import { sql } from 'kysely';
import type { Attempt, EventsPort, Hold } from '../../events/port.js';
import { type CellsOf, type Params, createInsertBuilder, prepared } from '../sql/prepared.js';
import type { EventsDatabase } from './events-database.js';

type SenderClaims = Pick<EventsPort, 'claim' | 'renew' | 'release' | 'save'>;

type ClaimValues = { readonly id: string; readonly now: string | null; readonly leaseMs: number };
const CLAIM = prepared(({ db, fn }, { id, now, leaseMs }: Params<ClaimValues>) =>
  db
    .updateTable('events.subscriptions')
    .set(eb => ({
      claim: eb('claim', '+', sql.lit(1)),
      claimed_until: fn.addMs(fn.clock(now), fn.cast('int', leaseMs)),
    }))
    .where('id', '=', id)
    .where('state', '=', sql.lit('active'))
    .where(eb => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', fn.clock(now))]))
    .returning(['id', 'claim']),
);
const RENEW = prepared(
  ({ db, fn }, { id, claim, now, leaseMs }: Params<ClaimValues & { readonly claim: number }>) =>
    db
      .updateTable('events.subscriptions')
      .set({ claimed_until: fn.addMs(fn.clock(now), fn.cast('int', leaseMs)) })
      .where('id', '=', id)
      .where('claim', '=', claim)
      .where('state', '=', sql.lit('active'))
      .returning('id'),
);
type ClaimKey = { readonly id: string; readonly claim: number };
const RELEASE = prepared(({ db }, { id, claim }: Params<ClaimKey>) =>
  db
    .updateTable('events.subscriptions')
    .set({ claimed_until: null })
    .where('id', '=', id)
    .where('claim', '=', claim),
);

type SaveValues = ClaimKey & {
  readonly epoch: string;
  readonly change: number;
  readonly occurrence: number;
  readonly delivered: number;
  readonly refused: number;
  readonly deliveredAt: string | null;
};
/** Returns no row if the claim was lost or the subscription was paused. */
const SAVE = prepared(({ db, fn }, params: Params<SaveValues>) =>
  db
    .updateTable('events.subscriptions')
    .set(eb => ({
      epoch: params.epoch,
      change_cursor: params.change,
      occurrence_cursor: params.occurrence,
      delivered: eb('delivered', '+', fn.cast('int', params.delivered)),
      refused: eb('refused', '+', fn.cast('int', params.refused)),
      delivered_at: sql<
        string | null
      >`coalesce(${fn.cast('instant', params.deliveredAt)}, ${eb.ref('delivered_at')})`,
    }))
    .where('id', '=', params.id)
    .where('claim', '=', params.claim)
    .where('state', '=', sql.lit('active'))
    .returning('id'),
);
const PAUSE = prepared(({ db }, { id, reason }: Params<{ readonly id: string; readonly reason: string }>) =>
  db
    .updateTable('events.subscriptions')
    .set({ state: 'paused', pause_reason: reason, claimed_until: null })
    .where('id', '=', id),
);
type HoldKey = { readonly subscription: string; readonly organization: string };
const DELETE_HOLD = prepared(({ db }, { subscription, organization }: Params<HoldKey>) =>
  db
    .deleteFrom('events.held_organizations')
    .where('subscription_id', '=', subscription)
    .where('organization_id', '=', organization),
);
const INSERT_HOLD = prepared(({ db }, hold: Params<CellsOf<Hold>>) =>
  db.insertInto('events.held_organizations').values({
    subscription_id: hold.subscription_id,
    organization_id: hold.organization_id,
    state: hold.state,
    change_position: hold.change_position,
    occurrence_position: hold.occurrence_position,
    refused_stream: hold.refused_stream,
    refused_number: hold.refused_number,
    refused_type: hold.refused_type,
    attempts: hold.attempts,
    failing_since: hold.failing_since,
    failed_at: hold.failed_at,
    next_attempt_at: hold.next_attempt_at,
    status: hold.status,
    error: hold.error,
  }),
);
const INSERT_ATTEMPTS = createInsertBuilder('events.event_attempts', {
  subscription_id: 'text',
  event_id: 'text',
  type: 'text',
  attempted_at: 'instant',
  duration_ms: 'int',
  status: 'int',
  error: 'text',
});
const toCells = (attempt: Attempt) => [
  attempt.subscription_id,
  attempt.event_id,
  attempt.type,
  attempt.attempted_at,
  attempt.duration_ms,
  attempt.status,
  attempt.error,
];

/**
 * Creates the methods of `EventsPort` for senders of events. A sender claims a subscription, renews the claim while it sends,
 * and saves its progress.
 */
export function createSenderClaims({ transact, now }: EventsDatabase): SenderClaims {
  return {
    claim: (id, leaseMs) =>
      transact(async batch => {
        const [[claimed]] = await batch(CLAIM({ id, now: now(), leaseMs }));
        return claimed ?? null;
      }),
    renew: ({ id, claim }, leaseMs) =>
      transact(async batch => (await batch(RENEW({ id, claim, now: now(), leaseMs })))[0].length > 0),
    release: ({ id, claim }) => transact(async batch => void (await batch(RELEASE({ id, claim })))),
    save: progress =>
      transact(async batch => {
        const { id, claim, epoch, attempts, holds, released, pauseReason } = progress;
        const delivered = attempts.filter(({ error }) => error === null);
        const values = {
          id,
          claim,
          epoch,
          change: progress.changeCursor,
          occurrence: progress.occurrenceCursor,
          delivered: delivered.length,
          refused: attempts.length - delivered.length,
          deliveredAt: delivered.at(-1)?.attempted_at ?? null,
        };
        const [saved] = await batch(SAVE(values));
        if (saved.length === 0) return false;
        const ended = [...released, ...holds.map(hold => hold.organization_id)];
        await batch(
          ...ended.map(organization => DELETE_HOLD({ subscription: id, organization })),
          ...holds.map(hold => INSERT_HOLD({ ...hold })),
          attempts.length === 0 ? null : INSERT_ATTEMPTS(attempts.map(toCells)),
          pauseReason === null ? null : PAUSE({ id, reason: pauseReason }),
        );
        return true;
      }),
  };
}
