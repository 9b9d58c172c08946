import { ORDER_TEXTS, type OrderPort, type OrderTextName } from './order.js';

/** How many orders contained a matching text. */
export interface ErasedOrderCounts {
  /** Orders whose matching texts were erased. */
  readonly erased: number;
  /** Orders that wait for the worker. They are unchanged, because the worker still sends their texts. */
  readonly waiting: number;
}

const BATCH_SIZE = 100;

/** Erases all texts of orders that match, such as the name of an actor. Returns the numbers of orders. */
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
