import { sql } from 'kysely';
import { PRIORITIES } from '../../inbox/job.js';
import {
  ERASED_TEXT,
  type NewOrder,
  type Order,
  ORDER_JOB,
  ORDER_LIFETIME_MS,
  ORDER_TEXTS,
  type OrderPort,
  type OrderTextName,
} from '../../inbox/order.js';
import { insertFrom, tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import type { NowParam, InboxDatabase } from './inbox-database.js';

const own = tableRef('inbox.orders');
const other = tableRef('inbox.orders', 'other');
const job = tableRef('inbox.jobs');

const ORDER_CELLS = {
  id: own.id,
  key: own.key,
  actor: own.actor,
  action: own.action,
  organizationId: own.organization_id,
  creditId: own.credit_id,
  amount: own.amount_exact,
  reservationId: own.reservation_id,
  receiverId: own.receiver_id,
  beneficiary: own.beneficiary,
  reason: own.reason,
  comment: own.comment,
  state: own.state,
  sentAt: own.sent_at,
};

type OrderValues = NowParam & {
  readonly key: string;
  readonly actor: string | null;
  readonly action: NewOrder['action'];
  readonly organizationId: string;
  readonly creditId: string;
  readonly amount: string;
  readonly reservationId: string | null;
  readonly receiverId: string | null;
  readonly beneficiary: string | null;
  readonly reason: string | null;
  readonly comment: string | null;
};
const INSERT_ORDER = prepared(({ fn }, params: Params<OrderValues>) => {
  const insert = insertFrom(
    'inbox.orders',
    {
      key: fn.cast('text', params.key),
      actor: fn.cast('text', params.actor),
      action: fn.cast('text', params.action),
      organization_id: fn.cast('text', params.organizationId),
      credit_id: fn.cast('text', params.creditId),
      amount_exact: fn.cast('text', params.amount),
      reservation_id: fn.cast('text', params.reservationId),
      receiver_id: fn.cast('text', params.receiverId),
      beneficiary: fn.cast('text', params.beneficiary),
      reason: fn.cast('text', params.reason),
      comment: fn.cast('text', params.comment),
      sent_at: sql<null>`NULL`,
      result: sql<null>`NULL`,
      created_at: fn.clock(params.now),
      finished_at: sql<null>`NULL`,
    },
    sql`WHERE true`,
  );
  return sqlStatement`${insert} ON CONFLICT (${own.key}) DO NOTHING`;
});

type JobRequest = NowParam & { readonly dedupeKey: string; readonly payload: string };
/**
 * The job names no organization, so that it never waits for a read of the organization: a reservation lasts only ten minutes.
 * The job is stored once, even if the order is posted again after the job was done.
 */
const INSERT_JOB = prepared(({ fn }, { now, dedupeKey, payload }: Params<JobRequest>) =>
  insertFrom(
    'inbox.jobs',
    {
      kind: sql.lit(ORDER_JOB),
      organization_id: sql<null>`NULL`,
      installation_id: sql<null>`NULL`,
      dedupe_key: fn.cast('text', dedupeKey),
      trigger: sql.lit('person'),
      priority: sql.lit<number>(PRIORITIES.announced),
      payload: fn.cast('json', payload),
      run_at: fn.clock(now),
      claimed_until: sql<null>`NULL`,
      claim: sql<null>`NULL`,
      started_at: sql<null>`NULL`,
      finished_at: sql<null>`NULL`,
      created_at: fn.clock(now),
      error_or_pause_code: sql<null>`NULL`,
      last_error: sql<null>`NULL`,
      outcome: sql<null>`NULL`,
      merged_into: sql<null>`NULL`,
    },
    sql`WHERE NOT EXISTS (SELECT 1 FROM ${job()} WHERE ${job.dedupe_key} = ${dedupeKey})`,
  ),
);

type OrderKey = { readonly key: string };
const READ_ORDER = prepared(
  (_, { key }: Params<OrderKey>) =>
    sqlStatement`SELECT ${select(ORDER_CELLS)} FROM ${own()} WHERE ${own.key} = ${key}`,
);
const NOTIFY_WORKERS = prepared(({ fn }) => fn.notifyWorkers);

const EXPIRED = 'No worker began this order within ten minutes. Nothing was done.';
const EXPIRE = prepared(({ fn }, params: Params<NowParam & OrderKey>) => {
  const now = fn.clock(params.now);
  return sqlStatement`UPDATE ${own()} SET ${own.state} = 'refused', ${own.finished_at} = ${now}, ${own.result} = ${sql.lit(EXPIRED)}
    WHERE ${own.key} = ${params.key} AND ${own.state} = 'waiting'
      AND ${own.created_at} < ${fn.addMs(now, sql.lit(-ORDER_LIFETIME_MS))}
    RETURNING ${select({ id: own.id })}`;
});

type OrderStart = OrderKey & { readonly sentAt: string };
/** Leaves an order waiting while another order is being sent whose result could be mistaken for the result of this order. */
const START = prepared(
  ({ fn }, { key, sentAt }: Params<OrderStart>) =>
    sqlStatement`UPDATE ${own()} SET ${own.state} = 'sending', ${own.sent_at} = ${fn.cast('instant', sentAt)}
      WHERE ${own.key} = ${key} AND ${own.state} = 'waiting' AND NOT EXISTS (
        SELECT 1 FROM ${other()} WHERE ${other.state} = 'sending' AND ${other.organization_id} = orders.organization_id
          AND CASE orders.action WHEN 'reserve' THEN ${other.action} = 'reserve' AND ${other.credit_id} = orders.credit_id
            ELSE ${other.reservation_id} = orders.reservation_id END)
      RETURNING ${select({ id: own.id })}`,
);

type OrderResult = NowParam &
  OrderKey & {
    readonly state: 'done' | 'refused' | 'unknown';
    readonly result: string;
    readonly reservationId: string | null;
  };
const FINISH = prepared(({ fn }, params: Params<OrderResult>) => {
  const { key, state, result, reservationId } = params;
  return sqlStatement`UPDATE ${own()} SET ${own.state} = ${state}, ${own.result} = ${result},
      ${own.reservation_id} = coalesce(${fn.cast('text', reservationId)}, ${own.reservation_id}), ${own.finished_at} = ${fn.clock(params.now)}
    WHERE ${own.key} = ${key}
      AND (${own.state} IN ('waiting', 'sending') OR (${own.state} = 'unknown' AND ${fn.cast('text', state)} = 'done'))
    RETURNING ${select({ id: own.id })}`;
});

/** An order, and the credit whose reservations are looked for. */
type OrderCredit = OrderKey & { readonly organizationId: string; readonly creditId: string };
const LIST_RESERVATIONS = prepared(
  (_, { key, organizationId, creditId }: Params<OrderCredit>) =>
    sqlStatement`SELECT ${select({ id: sql<string>`${own.reservation_id}` })} FROM ${own()}
      WHERE ${own.organization_id} = ${organizationId} AND ${own.credit_id} = ${creditId}
        AND ${own.key} <> ${key} AND ${own.reservation_id} IS NOT NULL`,
);

const OVERWRITE_DELETED = prepared(({ fn }) => fn.overwriteDeleted);
const LIST_TEXTS = prepared(
  (_, { afterId, limit }: Params<{ readonly afterId: number; readonly limit: number }>) => {
    const { id, actor, beneficiary, reason, comment, result } = own;
    return sqlStatement`SELECT ${select({ id, actor, beneficiary, reason, comment, result })} FROM ${own()}
    WHERE ${own.id} > ${afterId} ORDER BY ${own.id} LIMIT ${limit}`;
  },
);

/** 1 for each text to erase, 0 for the others. */
type ErasedTexts = Readonly<Record<OrderTextName, 0 | 1>>;
const ERASE = prepared((_, params: Params<ErasedTexts & { readonly id: number }>) => {
  const cells = ORDER_TEXTS.map(
    name =>
      sql`${own[name]} = CASE WHEN ${params[name]} = 1 THEN ${sql.lit(ERASED_TEXT)} ELSE ${own[name]} END`,
  );
  return sqlStatement`UPDATE ${own()} SET ${sql.join(cells)}
    WHERE ${own.id} = ${params.id} AND ${own.state} <> 'waiting' RETURNING ${select({ id: own.id })}`;
});

const ERASE_SENDING = prepared((_, { organizationId }: Params<{ readonly organizationId: string }>) => {
  const cells = ORDER_TEXTS.map(
    name => sql`${own[name]} = CASE WHEN ${own[name]} IS NOT NULL THEN ${sql.lit(ERASED_TEXT)} END`,
  );
  return sqlStatement`UPDATE ${own()} SET ${sql.join(cells)}
    WHERE ${own.organization_id} = ${organizationId} AND ${own.state} = 'sending' RETURNING ${select({ id: own.id })}`;
});

/** Keeps an order that is being sent, so that it is never sent again. */
const REMOVE = prepared(
  (_, { organizationId }: Params<{ readonly organizationId: string }>) =>
    sqlStatement`DELETE FROM ${own()} WHERE ${own.organization_id} = ${organizationId} AND ${own.state} <> 'sending'
      RETURNING ${select({ id: own.id })}`,
);

/** Creates the `OrderPort`, which stores people's orders, such as to reserve credits, and their results. */
export function createOrders({ read, commit, now }: InboxDatabase): OrderPort {
  return {
    placeOrder: async order => {
      const at = { now: now() };
      const request = {
        ...at,
        dedupeKey: `${ORDER_JOB}:${order.key}`,
        payload: JSON.stringify({ order: order.key }),
      };
      const [, , [stored]] = await commit(
        INSERT_ORDER({ ...at, ...order }),
        INSERT_JOB(request),
        READ_ORDER({ key: order.key }),
        NOTIFY_WORKERS(),
      );
      return requireOrder(stored);
    },
    readOrder: async key => (await read(READ_ORDER({ key })))[0][0] ?? null,
    startOrder: async (key, sentAt) => {
      const [expired, started, [stored]] = await commit(
        EXPIRE({ key, now: now() }),
        START({ key, sentAt }),
        READ_ORDER({ key }),
      );
      if (expired.length > 0) return 'expired';
      if (started.length > 0) return 'started';
      return requireOrder(stored).state === 'waiting' ? 'busy' : 'started before';
    },
    finishOrder: async (key, { state, result, reservationId = null }) => {
      const [finished] = await commit(FINISH({ key, state, result, reservationId, now: now() }));
      return finished.length > 0;
    },
    listOrderedReservations: async ({ key, organizationId, creditId }) => {
      const [rows] = await read(LIST_RESERVATIONS({ key, organizationId, creditId }));
      return rows.map(({ id }) => id);
    },
    removeOrders: async organizationId => {
      const [, removed, erased] = await commit(
        OVERWRITE_DELETED(),
        REMOVE({ organizationId }),
        ERASE_SENDING({ organizationId }),
      );
      return removed.length + erased.length;
    },
    listOrderTexts: async (afterId, limit) => (await read(LIST_TEXTS({ afterId, limit })))[0],
    eraseOrderTexts: async (id, names) => {
      const [, erased] = await commit(
        OVERWRITE_DELETED(),
        ERASE({
          id,
          actor: names.includes('actor') ? 1 : 0,
          beneficiary: names.includes('beneficiary') ? 1 : 0,
          reason: names.includes('reason') ? 1 : 0,
          comment: names.includes('comment') ? 1 : 0,
          result: names.includes('result') ? 1 : 0,
        }),
      );
      return erased.length > 0;
    },
  };
}

/** Returns the order that a statement found. Throws if it found none. */
function requireOrder(order: ResultRow<typeof READ_ORDER> | undefined): Order {
  if (order === undefined) throw new Error('expected a stored order, got none');
  return order;
}
