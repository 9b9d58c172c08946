import { readBody, readBodyChunks } from './response-body.js';
import type { RequestAttempt } from './request-attempt.js';
import type { HttpResponse, StreamedResponse } from './http-types.js';
import { RegistryError } from '../errors.js';
import { parsePdfFileName } from './pdf-file-name.js';

/** A response whose headers have arrived and whose body is still to be read. */
export interface OpenResponse {
  readonly response: Response;
  readonly attempt: RequestAttempt;
}

export interface ResponseBodyOptions {
  readonly maxBytes: number;
  /** The longest pause between two chunks. */
  readonly idleMs: number;
  /** The length of the token that was sent. */
  readonly tokenLength: number;
  /** Whether the bytes repeat the token that was sent. */
  readonly hasTokenEcho: (bytes: Buffer) => boolean;
  readonly createCancelledError: () => RegistryError;
}

/** The length of a secret's longest encoding, the one in a URL, per byte. */
const MAX_CHARACTERS_PER_BYTE = 3;

/** Reads the whole response body and ends the attempt. Throws if the body contains the access token of the request. */
export async function receiveWholeBody(
  open: OpenResponse,
  options: ResponseBodyOptions,
): Promise<HttpResponse> {
  const { response, attempt } = open;
  try {
    const body = await readBody(response, { ...options, abort: attempt.abort });
    attempt.countBytes(body.length);
    assertNoTokenEcho(body, options);
    attempt.succeed();
    return { status: response.status, body };
  } catch (error) {
    throw attempt.fail(error);
  }
}

/**
 * Creates a streamed response whose body is read from the network while the caller iterates over it. The attempt ends when the
 * body ends or fails, on `cancel`, or at the deadline.
 */
export function receiveStream(
  { response, attempt }: OpenResponse,
  options: ResponseBodyOptions,
): StreamedResponse {
  const { abort } = attempt;

  /**
   * Yields the chunks of the response body, then ends the attempt. Throws if the body contains the access token of the request.
   */
  async function* iterateBody(): AsyncGenerator<Buffer> {
    try {
      // The token may be split between two chunks, so each chunk is checked together with the end of the previous bytes.
      let uncheckedTail = Buffer.alloc(0);
      for await (const chunk of readBodyChunks(response, { ...options, abort })) {
        attempt.countBytes(chunk.length);
        const bytes = Buffer.concat([uncheckedTail, chunk]);
        assertNoTokenEcho(bytes, options);
        uncheckedTail = bytes.subarray(-MAX_CHARACTERS_PER_BYTE * options.tokenLength);
        yield chunk;
      }
    } catch (error) {
      throw attempt.fail(error);
    } finally {
      attempt.succeed();
    }
  }

  return {
    status: response.status,
    contentLength: getContentLength(response),
    fileName: parsePdfFileName(response.headers.get('content-disposition')),
    isWhole: isCompleteResponse(response),
    body: iterateBody(),
    cancel: async () => abort.abort(options.createCancelledError()),
  };
}

/** Throws if the bytes of a response contain the access token that the request was sent with. */
function assertNoTokenEcho(bytes: Buffer, { hasTokenEcho }: ResponseBodyOptions): void {
  if (hasTokenEcho(bytes))
    throw new RegistryError('bad_answer', 'the answer repeats the credential of its request');
}

/** Returns the Content-Length header as a number. Null if the header is missing or the body is compressed. */
function getContentLength(response: Response): number | null {
  const length = response.headers.get('content-length');
  const isEncoded = response.headers.has('content-encoding');
  return length === null || isEncoded || !/^\d{1,15}$/.test(length) ? null : Number(length);
}

/** Whether a response has the whole file: it is no partial response, and its headers mark the end of the body. */
function isCompleteResponse({ status, headers }: Response): boolean {
  // Without a marked end, a truncated body would look complete.
  const marksEnd = headers.has('content-length') || headers.get('transfer-encoding') === 'chunked';
  return status === 200 && marksEnd && !headers.has('content-range');
}
