import { existsSync } from 'node:fs';
import type { EventsPort } from '../../events/port.js';
import { createEventsPort } from '../events/create-events-port.js';
import { createDatabaseOn } from './database.js';
import { assertMigrated } from './migrate.js';
import { openDatabase } from './open-database.js';

const BUSY_MS = 10_000;

/**
 * Opens the database of event subscriptions and events. Returns null if it was never created, and throws unless its schema is
 * migrated.
 */
export function openEvents(file: string, now: () => number): EventsPort | null {
  if (!existsSync(file)) return null;
  const db = openDatabase(file, { busyTimeoutMs: BUSY_MS });
  try {
    assertMigrated(db, 'events');
  } catch (error) {
    db.close();
    throw error;
  }
  return createEventsPort({
    ...createDatabaseOn(db),
    now: () => new Date(now()).toISOString(),
    close: async () => void db.close(),
  });
}
