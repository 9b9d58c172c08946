import { randomBytes } from 'node:crypto';
import { createEventsKey, EventsKeyError, existsEventsKey, readEventsKey } from '../../events/key-file.js';
import type { Subscription } from '../../events/port.js';
import { deriveKeyCheck } from '../../events/signing.js';
import type { SubscriptionsContext } from './open-subscriptions.js';
import { createUsageError } from '../command-error.js';

/** Reads the events key. Throws a usage error if EVENTS_KEY_FILE is not set, or its file has no valid key. */
export function requireEventsKey({ requireMirror }: SubscriptionsContext): Buffer {
  const file = requireKeyFile(requireMirror().env);
  if (!existsEventsKey(file))
    throw createUsageError(
      `The file ${file} of EVENTS_KEY_FILE does not exist.`,
      'The first "carbon-mirror subscriptions add" creates it. If there are subscriptions, put their key back.',
    );
  return readKeyFile(file);
}

/**
 * Returns the events key in the file of EVENTS_KEY_FILE. If the file is missing, creates it with a new key. If the file is missing although
 * there are subscriptions, throws a usage error, because they need the old key.
 */
export function createOrReadEventsKey(context: SubscriptionsContext, hasSubscriptions: boolean): Buffer {
  const file = requireKeyFile(context.requireMirror().env);
  if (existsEventsKey(file) || hasSubscriptions) return requireEventsKey(context);
  return createEventsKey(file, randomBytes);
}

/** Throws unless this events key is the one that the subscription was created with. */
export function assertKeyOfSubscription(key: Uint8Array, { id, key_check: check }: Subscription): void {
  if (deriveKeyCheck(key, id) === check) return;
  throw createUsageError(
    `EVENTS_KEY_FILE is not the key of the subscription ${id}.`,
    'Put the old key back, or remove the subscription and add it again.',
  );
}

/** Returns the path in EVENTS_KEY_FILE. Throws a usage error if this setting is missing. */
function requireKeyFile(env: Readonly<Record<string, string | undefined>>): string {
  const file = env['EVENTS_KEY_FILE'];
  if (file) return file;
  throw createUsageError(
    'EVENTS_KEY_FILE is not set.',
    'Set it to a file outside DATA_DIR, such as /etc/carbon-mirror/events.key, for this command and for the worker.',
  );
}

/** Reads the events key from a file. Throws a usage error if the file does not contain a valid key. */
function readKeyFile(file: string): Buffer {
  try {
    return readEventsKey(file);
  } catch (error) {
    if (!(error instanceof EventsKeyError)) throw error;
    throw createUsageError(`The file ${file} of EVENTS_KEY_FILE is no events key: ${error.message}.`);
  }
}
