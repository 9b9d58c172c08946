import type { InboxPort } from './port.js';

export interface ForgottenTexts {
  /** Signed texts that were emptied. Their digests and deliveries stay. */
  readonly texts: number;
  readonly deliveries: number;
}

/** A receiver waits for each write no longer than it may: few texts in one transaction. */
const BATCH = 100;

/**
 * Empty every signed text whose content the test names. The row stays, so that a duplicate of the same bytes
 * does not bring the text back while the receiver still knows it.
 */
export async function forgetTexts(
  inbox: Pick<InboxPort, 'listSignedTexts' | 'eraseSignedTexts'>,
  isAbout: (content: string) => boolean,
): Promise<ForgottenTexts> {
  let texts = 0;
  let deliveries = 0;
  let last = 0;
  for (;;) {
    const batch = await inbox.listSignedTexts(last, BATCH);
    const ids = batch
      .filter(({ signedData }) => isAbout(Buffer.from(signedData, 'base64').toString('utf8')))
      .map(({ id }) => id);
    if (ids.length > 0) deliveries += await inbox.eraseSignedTexts(ids);
    texts += ids.length;
    const next = batch[BATCH - 1];
    if (next === undefined) return { texts, deliveries };
    last = next.id;
  }
}
