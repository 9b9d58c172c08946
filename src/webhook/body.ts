import type { IncomingMessage } from 'node:http';

export type Body = { readonly bytes: Buffer } | { readonly status: 413 | 415; readonly detail: string };

const MAX_BODY_BYTES = 65_536;

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * Calls back once, with the whole body or with what is wrong about it; never when the sender goes away.
 * Of a body that is too large Node reads the rest and throws it away, so that the sender can read the answer.
 */
export function readBody(request: IncomingMessage, done: (body: Body) => void): void {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = request.headers;
  if (encoding !== undefined && encoding !== 'identity') {
    return done({ status: 415, detail: 'expected a body without content-encoding' });
  }
  if (type !== undefined && !JSON_TYPE.test(type)) {
    return done({ status: 415, detail: 'expected content-type application/json in UTF-8' });
  }
  if (Number(length) > MAX_BODY_BYTES) return rejectTooLarge();

  let chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks = [];
  });
  request.on('end', () => {
    if (size > MAX_BODY_BYTES) return rejectTooLarge();
    done({ bytes: Buffer.concat(chunks) });
  });
  request.on('error', () => undefined);

  function rejectTooLarge(): void {
    done({ status: 413, detail: `expected a body of at most ${MAX_BODY_BYTES} bytes` });
  }
}
