import type { DoorPort } from '../../../inbox/port.js';
import type { InboxClock } from '../clock.js';
import type { PoolOptions } from '../driver.js';
import { openPostgres } from '../open.js';
import { createDoorPort } from './door.js';

/** It needs no schema but the inbox, and none at all to begin: what it lacks each post is told. */
export function openDoorPort(pool: PoolOptions, clock: InboxClock): DoorPort {
  return createDoorPort(openPostgres(pool), clock);
}
