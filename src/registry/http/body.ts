import { RegistryError } from '../errors.js';

type Reader = ReadableStreamDefaultReader<Uint8Array>;

export interface BodyLimits {
  readonly maxBytes: number;
  /** Aborts the whole exchange with its reason. */
  readonly abort: AbortController;
  /** The longest pause between two chunks. */
  readonly idleMs: number;
}

/** The chunks of an answer under a byte cap; what the peer calls the length is checked first. */
export async function* walkBody(response: Response, limits: BodyLimits): AsyncGenerator<Buffer> {
  const { maxBytes, abort, idleMs } = limits;
  if (response.body === null) return;
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const reader = response.body.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const timer = setTimeout(() => abort.abort(silence(idleMs)), idleMs);
      const chunk = await readNext(reader, abort.signal).finally(() => clearTimeout(timer));
      if (chunk.done) return;
      bytes += chunk.value.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield Buffer.from(chunk.value.buffer, chunk.value.byteOffset, chunk.value.byteLength);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Node's fetch may leave a read open for ever where it is aborted between the last bytes and the end. */
function readNext(reader: Reader, signal: AbortSignal): ReturnType<Reader['read']> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    reader
      .read()
      .finally(() => signal.removeEventListener('abort', leave))
      .then(resolve, reject);
  });
}

export async function gatherBody(response: Response, limits: BodyLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of walkBody(response, limits)) chunks.push(chunk);
  return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
}

function tooLarge(maxBytes: number): RegistryError {
  return new RegistryError('too_large', `the answer is larger than ${maxBytes} bytes`);
}

function silence(idleMs: number): RegistryError {
  return new RegistryError('timeout', `nothing came for ${idleMs} ms`);
}
