/** Reads and creates the file of EVENTS_KEY_FILE. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Readable for its owner only, flushed to the disk, and never overwritten. */
const SAFE = { mode: 0o600, flush: true, flag: 'wx' };
const PREFIX = 'carbon-mirror-events-key-1:';
const KEY_BYTES = 32;

export class EventsKeyError extends Error {
  override readonly name = 'EventsKeyError';
}

/** Parses the text of a key file. The `EventsKeyError` for an invalid file never contains its text. */
export function parseEventsKey(text: string): Buffer {
  const encoded = text.trim();
  const key = Buffer.from(encoded.slice(PREFIX.length), 'base64');
  if (!encoded.startsWith(PREFIX) || key.length !== KEY_BYTES)
    throw new EventsKeyError('expected a file that "carbon-mirror subscriptions add" made');
  return key;
}

export function readEventsKey(file: string): Buffer {
  return parseEventsKey(readFileSync(file, 'utf8'));
}

export function existsEventsKey(file: string): boolean {
  return existsSync(file);
}

/** Creates a random events key and writes it to a new file. Throws if the file exists. */
export function createEventsKey(file: string, randomBytes: (size: number) => Buffer): Buffer {
  const key = randomBytes(KEY_BYTES);
  writeFileSync(file, `${PREFIX}${key.toString('base64')}\n`, SAFE);
  return key;
}
