import type { InboxPort } from './port.js';
import { ORDER_TEXTS, type OrderPort, type OrderTextName } from './order.js';

/** The result of erasing signed texts. */
export interface ErasedTextCounts {
  /** Signed texts that were erased. Their digests and deliveries stay. */
  readonly texts: number;
  /** Deliveries that referred to these texts. */
  readonly deliveries: number;
}

/** Signed texts read and erased at once. Small, because the receiver waits for each transaction. */
const BATCH_SIZE = 100;

/**
 * Erases the stored bodies of webhooks (the texts that the registry signed) for whose decoded content `matches` returns true.
 * Returns the number of erased texts, and the number of deliveries that had one of them.
 */
export async function eraseMatchingTexts(
  inbox: Pick<InboxPort, 'listSignedTexts' | 'eraseSignedTexts'>,
  matches: (content: string) => boolean,
): Promise<ErasedTextCounts> {
  let texts = 0;
  let deliveries = 0;
  let lastId = 0;
  for (;;) {
    const batch = await inbox.listSignedTexts(lastId, BATCH_SIZE);
    const ids = batch
      .filter(({ signedData }) => matches(Buffer.from(signedData, 'base64').toString('utf8')))
      .map(({ id }) => id);
    // Rows and digests stay, so a later duplicate is recognized and its text is not stored again.
    if (ids.length > 0) deliveries += await inbox.eraseSignedTexts(ids);
    texts += ids.length;
    const lastOfFullBatch = batch[BATCH_SIZE - 1];
    if (lastOfFullBatch === undefined) return { texts, deliveries };
    lastId = lastOfFullBatch.id;
  }
}

/** How many orders contained a matching text. */
export interface ErasedOrderCounts {
  /** Orders whose matching texts were erased. */
  readonly erased: number;
  /** Orders that wait for the worker. They are unchanged, because the worker still sends their texts. */
  readonly waiting: number;
}

/**
 * Erases the texts of orders, such as the name of the person who placed an order, if `matches` returns true for the text. Returns the
 * number of changed orders, and the number of orders that could not be changed because they wait for the worker.
 */
export async function eraseMatchingOrderTexts(
  inbox: Pick<OrderPort, 'listOrderTexts' | 'eraseOrderTexts'>,
  matches: (text: string) => boolean,
): Promise<ErasedOrderCounts> {
  const counts = { erased: 0, waiting: 0 };
  let lastId = 0;
  for (;;) {
    const batch = await inbox.listOrderTexts(lastId, BATCH_SIZE);
    for (const { id, ...texts } of batch) {
      const matching: OrderTextName[] = ORDER_TEXTS.filter(name => {
        const text = texts[name];
        return text !== null && matches(text);
      });
      if (matching.length === 0) continue;
      if (await inbox.eraseOrderTexts(id, matching)) counts.erased += 1;
      else counts.waiting += 1;
    }
    const lastOfFullBatch = batch[BATCH_SIZE - 1];
    if (lastOfFullBatch === undefined) return counts;
    lastId = lastOfFullBatch.id;
  }
}
