import type { EventsPort } from '../../events/port.js';
import { createEpochs } from './epochs.js';
import type { EventsDatabase } from './events-database.js';
import { createOccurrences } from './occurrences.js';
import { createSenderClaims } from './sender-claims.js';
import { createSubscriptions } from './subscriptions.js';

/**
 * Creates the `EventsPort`, which stores subscriptions, the progress of senders, events that are not row changes, and the current epoch.
 * Event ids begin with the name of the current epoch.
 */
export function createEventsPort(database: EventsDatabase): EventsPort {
  return {
    ...createEpochs(database),
    ...createSubscriptions(database),
    ...createSenderClaims(database),
    ...createOccurrences(database),
    close: database.close,
  };
}
