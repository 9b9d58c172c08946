/** Sends answers: with a validator, compressed if the client accepts it, and with the rate limit of the token. */
import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Answer } from '../query/answer/answer.js';
import { serializeAnswer, toJson } from '../query/answer/serialize.js';

const compress = promisify(gzip);
/** Shorter bodies fit into one packet, so compressing them gains nothing. */
const MIN_COMPRESSED_LENGTH = 1_024;

/** Serializes one page of an answer as JSON: its rows and notes, then `members`, which include the cursor of the next page. */
export async function serializePage(
  answer: Answer<unknown>,
  members: { readonly next: string | number | null } & Readonly<Record<string, unknown>>,
): Promise<string> {
  const chunks: string[] = [];
  for await (const chunk of serializeAnswer(answer.rows, answer, toJson, members)) chunks.push(chunk);
  return chunks.join('');
}

/**
 * Sends a JSON text, compressed if it is long and the client accepts gzip. Sends 304 if the client already has this text. Compression is
 * safe here: the length of a compressed body can reveal a secret in the body, but these bodies contain no secret, and a browser never sends
 * a token by itself.
 */
export async function sendJson(request: Request, response: Response, body: string): Promise<void> {
  // Weak, because the compressed body is another sequence of bytes.
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  response.set({ etag, 'content-type': 'application/json; charset=utf-8' });
  response.vary('accept-encoding');
  if (matchesEtag(request.headers['if-none-match'], etag)) {
    response.removeHeader('content-type');
    response.status(304).end();
    return;
  }
  const isCompressed = body.length >= MIN_COMPRESSED_LENGTH && request.acceptsEncodings('gzip') !== false;
  if (isCompressed) response.set('content-encoding', 'gzip');
  response.end(isCompressed ? await compress(body) : body);
}

/** Returns whether the If-None-Match header contains this ETag or `*`. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  return header.split(',').some(each => ['*', opaque].includes(each.trim().replace(/^W\//, '')));
}
