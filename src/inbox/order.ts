/**
 * Orders: what a person has asked the worker to do at the registry, such as to reserve credits. An order is waiting, sending,
 * done, refused or unknown. The state `sending` is on the disk before the registry is called, so a crash can never lead to a
 * second call: an order that is found in this state is looked up and never sent again.
 */
export const ORDER_ACTIONS = ['reserve', 'retire', 'transfer', 'release'] as const;
export type OrderAction = (typeof ORDER_ACTIONS)[number];

export const ORDER_STATES = ['waiting', 'sending', 'done', 'refused', 'unknown'] as const;
type OrderState = (typeof ORDER_STATES)[number];

/** The kind of jobs that carry out orders. */
export const ORDER_JOB = 'order';

/** A waiting order older than this is refused, because the person no longer expects it. Reservations last equally long. */
export const ORDER_LIFETIME_MS = 10 * 60_000;

/** An order as a person confirmed it. */
export interface NewOrder {
  /** The random UUID of the confirmation form. Posts with the same key are one order. */
  readonly key: string;
  /** The name that the sign-in proxy sent, or null without a proxy. */
  readonly actor: string | null;
  readonly action: OrderAction;
  readonly organizationId: string;
  readonly creditId: string;
  /** Tonnes, with the digits that the person typed. */
  readonly amount: string;
  /** Null for an order that reserves credits. */
  readonly reservationId: string | null;
  /** The organization that receives the credits, for a transfer. */
  readonly receiverId: string | null;
  readonly beneficiary: string | null;
  readonly reason: string | null;
  readonly comment: string | null;
}

/** A stored order. */
export interface Order extends NewOrder {
  readonly id: number;
  readonly state: OrderState;
  /** When the registry was called, by the registry's clock. Null before. */
  readonly sentAt: string | null;
}

/** The texts of an order that can name a person. They are not needed to look up the result of an order. */
export const ORDER_TEXTS = ['actor', 'beneficiary', 'reason', 'comment', 'result'] as const;
export type OrderTextName = (typeof ORDER_TEXTS)[number];
type OrderTexts = { readonly id: number } & Readonly<Record<OrderTextName, string | null>>;
/** Replaces an erased text. An actor of NULL would mean that the person signed in with a link. */
export const ERASED_TEXT = '(erased)';

/** The result of an order that has ended. */
export interface OrderEnd {
  readonly state: 'done' | 'refused' | 'unknown';
  /** A sentence for people. */
  readonly result: string;
  /** The reservation that a `reserve` order created. */
  readonly reservationId?: string;
}

/** `started`, or why an order was not started. `busy`: another order with the same target is being sent. */
type StartResult = 'started' | 'expired' | 'busy' | 'started before';

/** The operations of the inbox on orders. */
export interface OrderPort {
  /**
   * Stores an order together with its job. An order with a known key is not stored again, whatever it contains. Returns the
   * stored order.
   */
  readonly placeOrder: (order: NewOrder) => Promise<Order>;
  readonly readOrder: (key: string) => Promise<Order | null>;
  /** Sets a waiting order to `sending`. Resolves when that is flushed to disk. Only one caller gets `started`. */
  readonly startOrder: (key: string, sentAt: string) => Promise<StartResult>;
  /** Records the end of an order. Returns false if it had ended before; `done` replaces `unknown`. */
  readonly finishOrder: (key: string, end: OrderEnd) => Promise<boolean>;
  /** Lists the reservations that other orders for this credit created or used. */
  readonly listOrderedReservations: (
    order: Pick<Order, 'key' | 'organizationId' | 'creditId'>,
  ) => Promise<readonly string[]>;
  /**
   * Removes the orders of an organization. An order that is being sent stays, so that it is never sent again, but its texts are
   * erased. Returns how many orders were removed or erased.
   */
  readonly removeOrders: (organizationId: string) => Promise<number>;
  /** Lists the texts of all orders, oldest first. */
  readonly listOrderTexts: (afterId: number, limit: number) => Promise<readonly OrderTexts[]>;
  /** Erases texts of an order. Returns false for a waiting order, whose texts are still to be sent. */
  readonly eraseOrderTexts: (id: number, names: readonly OrderTextName[]) => Promise<boolean>;
}

/**
 * Returns whether two orders have the same key, person and content. Ignores the reservation id of a `reserve` order, because
 * the registry assigns it later.
 */
export function isSameOrder(left: NewOrder, right: NewOrder): boolean {
  const listFields = (order: NewOrder) => [
    order.key,
    order.actor,
    order.action,
    order.organizationId,
    order.creditId,
    order.amount,
    order.action === 'reserve' ? null : order.reservationId,
    order.receiverId,
    order.beneficiary,
    order.reason,
    order.comment,
  ];
  return JSON.stringify(listFields(left)) === JSON.stringify(listFields(right));
}
