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
 * Yields the chunks of a response body. Throws `too_large` if it exceeds the limit; a Content-Length above the limit
 * throws before any chunk is read.
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

/** Reads one chunk, or rejects on abort. Node's fetch alone may never settle a read that is aborted after the last byte. */
function readChunk(reader: BodyReader, signal: AbortSignal): ReturnType<BodyReader['read']> {
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

/** Reads a whole response body, under the same limits as `readBodyChunks`. */
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
