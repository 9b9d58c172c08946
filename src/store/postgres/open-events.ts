import type { EventsPort } from '../../events/port.js';
import { createEventsPort } from '../events/create-events-port.js';
import { openMigrated } from './await-schema.js';
import { toDatabase } from './database.js';
import type { PoolOptions } from './driver.js';
import { assertMigrated } from './migrate.js';
import type { InboxClock } from './pool-settings.js';

/** Opens the store of event subscriptions and events. Throws unless the schemas are migrated. */
export async function openEvents(pool: PoolOptions, clock: InboxClock): Promise<EventsPort> {
  const postgres = await openMigrated(pool);
  try {
    await assertMigrated(postgres, 'events');
  } catch (error) {
    await postgres.close();
    throw error;
  }
  return createEventsPort({
    ...toDatabase(postgres),
    now: () => (clock === null ? null : new Date(clock()).toISOString()),
    close: postgres.close,
  });
}
