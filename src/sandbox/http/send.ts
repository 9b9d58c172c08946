import { once } from 'node:events';
import type { Response } from 'express';

const PIECE_BYTES = 64 * 1024;

export function sendCertificate(res: Response, retirementId: string, pdf: Buffer): void {
  // Without quotes: known clients take all that follows the sign.
  res.set('Content-Disposition', `attachment; filename=retirement-${retirementId}.pdf`);
  res.type('application/octet-stream').send(pdf);
}

/** Writes pieces of text as fast as the caller reads them, and stops when the caller leaves. */
export async function sendPieces(res: Response, pieces: Iterable<string>): Promise<void> {
  res.type('json');
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < PIECE_BYTES) continue;
    const isFull = !res.write(text);
    text = '';
    if (isFull) await waitForRoom(res);
    if (res.destroyed) return;
  }
  res.end(text);
}

async function waitForRoom(res: Response): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]);
  // Takes the other listener away: a long answer waits a thousand times.
  waiting.abort();
}
