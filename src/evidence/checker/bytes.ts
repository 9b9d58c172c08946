/** Bytes in the only type that Web Cryptography accepts: not of a shared buffer. */
export type Bytes = Uint8Array<ArrayBuffer>;

const HASH_PATTERN = /^[0-9a-f]{64}$/;
const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Computes the SHA-256 of the parts, joined without a separator. */
export async function sha256(...parts: readonly Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', concatenate(parts)));
}

/** Computes the SHA-256 of a text in UTF-8, in hex. */
export async function hashText(text: string): Promise<string> {
  return toHex(await sha256(encodeUtf8(text)));
}

function concatenate(parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

export function encodeUtf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += HEX_OF_BYTE[byte];
  return hex;
}

/** Decodes hex digits. Does not check them; there must be an even number. */
export function fromHex(hex: string): Bytes {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );
}

/** Decodes base64. Returns null if it is malformed or not the canonical encoding of its bytes. */
export function fromBase64(text: string): Bytes | null {
  try {
    const binary = atob(text);
    return btoa(binary) === text ? Uint8Array.from(binary, character => character.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** Returns true for 64 lower-case hex digits. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH_PATTERN.test(value);
}

/** Returns true for an instant as `toISOString` of a Date writes it. Such instants can be compared as texts. */
export function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-/.test(value)) return false;
  const milliseconds = Date.parse(value);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString() === value;
}

/** Runs asynchronous work for all items, `size` at once. Calls `onBatch` after each batch with the number of finished items. */
export async function runInBatches<Item>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<void>,
  onBatch: (finished: number) => void = () => undefined,
): Promise<void> {
  for (let start = 0; start < items.length; start += size) {
    await Promise.all(items.slice(start, start + size).map(work));
    onBatch(Math.min(start + size, items.length));
  }
}
