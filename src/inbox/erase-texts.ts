import type { InboxPort } from './port.js';

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
 * Erases the signed texts of stored webhooks whose decoded content matches. Returns how many texts and deliveries that
 * affected.
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
