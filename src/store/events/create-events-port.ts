import type { EventsPort } from '../../events/port.js';
import { createEpochs } from './epochs.js';
import type { EventsDatabase } from './events-database.js';
import { createOccurrences } from './occurrences.js';
import { createSenderClaims } from './sender-claims.js';
import { createSubscriptions } from './subscriptions.js';

/** Creates the `EventsPort`, which stores subscriptions, events and the epoch of their ids. */
export function createEventsPort(database: EventsDatabase): EventsPort {
  return {
    ...createEpochs(database),
    ...createSubscriptions(database),
    ...createSenderClaims(database),
    ...createOccurrences(database),
    close: database.close,
  };
}
