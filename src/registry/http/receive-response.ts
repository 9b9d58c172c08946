import type { RequestAttempt } from './send-with-retries.js';
import type { HttpResponse, StreamedResponse } from './http-types.js';
import { RegistryError } from '../errors.js';
import { parsePdfFileName } from './response-headers.js';

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

/**
 * Reads the whole response body, and records whether the attempt to send the request succeeded or failed. Throws if the body
 * contains the access token of the request.
 */
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
   * Yields the chunks of the response body. Records the attempt to send the request as failed on an error, otherwise as
   * succeeded. Throws if the body contains the access token of the request.
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

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

export interface BodyLimits {
  readonly maxBytes: number;
  /** Aborts the request. The reason must be an error. */
  readonly abort: AbortController;
  /** The longest pause between two chunks. */
  readonly idleMs: number;
}

/**
 * Yields the chunks of a response body. Throws `too_large` if the body exceeds the size limit, and aborts the request if no
 * chunk arrives for too long.
 */
async function* readBodyChunks(response: Response, limits: BodyLimits): AsyncGenerator<Buffer> {
  const { maxBytes, abort, idleMs } = limits;
  if (response.body === null) return;
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) throw createTooLargeError(maxBytes);
  const reader = response.body.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const idleTimer = setTimeout(() => abort.abort(createIdleError(idleMs)), idleMs);
      const chunk = await readChunk(reader, abort.signal).finally(() => clearTimeout(idleTimer));
      if (chunk.done) return;
      bytes += chunk.value.byteLength;
      if (bytes > maxBytes) throw createTooLargeError(maxBytes);
      yield Buffer.from(chunk.value.buffer, chunk.value.byteOffset, chunk.value.byteLength);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads the next chunk of a response body. Rejects with the reason of the signal as soon as it is aborted. */
function readChunk(reader: BodyReader, signal: AbortSignal): ReturnType<BodyReader['read']> {
  // `reader.read` alone may never settle if the request is aborted after the last byte.
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    reader
      .read()
      .finally(() => signal.removeEventListener('abort', onAbort))
      .then(resolve, reject);
  });
}

/** Reads a whole response body into memory. Throws `too_large` if the body exceeds the size limit. */
export async function readBody(response: Response, limits: BodyLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readBodyChunks(response, limits)) chunks.push(chunk);
  return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
}

function createTooLargeError(maxBytes: number): RegistryError {
  return new RegistryError('too_large', `the answer is larger than ${maxBytes} bytes`);
}

function createIdleError(idleMs: number): RegistryError {
  return new RegistryError('timeout', `no data for ${idleMs} ms`);
}
