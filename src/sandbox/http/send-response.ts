import { once } from 'node:events';
import type { Response } from 'express';

const MIN_WRITE_LENGTH = 64 * 1024;

/** Sends a PDF certificate as a file download. */
export function sendCertificate(res: Response, retirementId: string, pdf: Buffer): void {
  // The file name has no quotes, because known clients would take the quotes as a part of it.
  res.set('Content-Disposition', `attachment; filename=retirement-${retirementId}.pdf`);
  res.type('application/octet-stream').send(pdf);
}

/** Streams JSON text. Waits while a slow client catches up, and stops when the client disconnects. */
export async function sendChunks(res: Response, chunks: Iterable<string>): Promise<void> {
  res.type('json');
  let text = '';
  for (const chunk of chunks) {
    text += chunk;
    if (text.length < MIN_WRITE_LENGTH) continue;
    const isBufferFull = !res.write(text);
    text = '';
    if (isBufferFull) await waitForDrain(res);
    if (res.destroyed) return;
  }
  res.end(text);
}

/** Resolves when the response can take more data or its connection is closed. */
async function waitForDrain(res: Response): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]);
  // Remove the other listener, because a long response waits thousands of times.
  waiting.abort();
}
