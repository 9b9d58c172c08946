import { RegistryError } from '../errors.js';

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
export async function* readBodyChunks(response: Response, limits: BodyLimits): AsyncGenerator<Buffer> {
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
