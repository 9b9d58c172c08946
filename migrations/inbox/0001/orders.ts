import { index, table } from '../../schema.js';

export const ORDERS = [
  table(
    'inbox.orders',
    'Orders: what people have asked the worker to do at the registry, from the console. They are kept until `purge` removes their organization, because they say who did what. No order is sent twice.',
    {
      id: ['id', 'id of the order; rises in the order of creation'],
      key: [
        'text',
        'random UUID of the confirmation form; posts with the same key are one order',
        'NOT NULL UNIQUE',
      ],
      actor: ['text', 'name of the person, from the sign-in proxy; NULL if the person signed in with a link'],
      action: [
        'text',
        'reserve (hold credits), or what to do with a reservation: retire, transfer or release',
        "NOT NULL CHECK (action IN ('reserve', 'retire', 'transfer', 'release'))",
      ],
      organization_id: ['text', 'id of the organization that offers the credits', 'NOT NULL'],
      credit_id: ['text', 'id of the credit', 'NOT NULL'],
      amount_exact: ['text', 'tonnes, with the digits that the person typed', 'NOT NULL'],
      reservation_id: [
        'text',
        'id of the reservation; NULL if the order reserves credits and is not done',
        "CHECK (reservation_id IS NOT NULL OR action = 'reserve')",
      ],
      receiver_id: [
        'text',
        'id of the organization that receives the credits; NULL unless they are transferred',
        "CHECK ((receiver_id IS NOT NULL) = (action = 'transfer'))",
      ],
      beneficiary: ['text', 'for whom the credits are retired; NULL unless they are retired'],
      reason: ['text', 'why the credits are retired; NULL unless they are retired'],
      comment: ['text', 'comment on the retirement; NULL if there is none'],
      state: [
        'text',
        'waiting (for the worker), sending (the worker calls the registry), done, refused (nothing was done), or unknown (the answer was lost; look at the registry)',
        "NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sending', 'done', 'refused', 'unknown'))",
      ],
      sent_at: [
        'instant',
        "when the worker began to call the registry, by the registry's clock; NULL if it never did",
        "CHECK (sent_at IS NOT NULL OR state IN ('waiting', 'refused'))",
      ],
      result: ['text', 'sentence about the result, or about why the order was refused; NULL before the end'],
      created_at: ['instant', 'when the person confirmed the order', 'NOT NULL'],
      finished_at: [
        'instant',
        'when the result was known; NULL before the end',
        "CHECK ((finished_at IS NOT NULL) = (state IN ('done', 'refused', 'unknown')))",
      ],
    },
  ),
  /** Two orders whose results could not be told apart are never sent at the same time. */
  index(
    'unique orders_sending_credit',
    'inbox.orders',
    'organization_id, credit_id',
    "state = 'sending' AND action = 'reserve'",
  ),
  index('unique orders_sending_reservation', 'inbox.orders', 'reservation_id', "state = 'sending'"),
  index('orders_by_credit', 'inbox.orders', 'organization_id, credit_id'),
] as const;
