import type { IncomingMessage } from 'node:http';

/** The body of a request, or why the body is refused. */
export type BodyResult = { readonly bytes: Buffer } | BodyRefusal;

/** Why the body of a request is refused. */
interface BodyRefusal {
  readonly reason: 'too_large' | 'wrong_content_type';
  readonly detail: string;
}

const MAX_BODY_BYTES = 65_536;

const JSON_IN_UTF8 = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** Reads a request body and passes it, or why it is refused, to `onResult`. Calls nothing if the sender disconnects first. */
export function readBody(request: IncomingMessage, onResult: (result: BodyResult) => void): void {
  const refusal = findHeaderRefusal(request);
  if (refusal !== null) return onResult(refusal);

  let chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    // Read and discard the rest of a body that is too large, so that the sender can read the answer.
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks = [];
  });
  request.on('end', () => onResult(size > MAX_BODY_BYTES ? TOO_LARGE : { bytes: Buffer.concat(chunks) }));
  request.on('error', () => undefined);
}

/** Checks content type, encoding and length in the headers. Returns why the body is refused, or null if it is accepted. */
function findHeaderRefusal({ headers }: IncomingMessage): BodyRefusal | null {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = headers;
  if (encoding !== undefined && encoding !== 'identity')
    return { reason: 'wrong_content_type', detail: 'expected a body without content-encoding' };
  if (type !== undefined && !JSON_IN_UTF8.test(type))
    return { reason: 'wrong_content_type', detail: 'expected content-type application/json in UTF-8' };
  return Number(length) > MAX_BODY_BYTES ? TOO_LARGE : null;
}

const TOO_LARGE: BodyRefusal = {
  reason: 'too_large',
  detail: `expected a body of at most ${MAX_BODY_BYTES} bytes`,
};
