import type { DoorPort } from '../inbox/port.js';
import type { Lost } from './engine.js';
import type { StoreSettings } from './settings.js';
import { clockOf } from './postgres/clock.js';
import { poolOf } from './postgres/pool.js';

/** The door alone, for the thread that has nothing else. */
export async function openDoor(
  { dataDir, database }: StoreSettings,
  now: () => number,
  lost: Lost,
): Promise<DoorPort> {
  if (database === null) return (await import('./sqlite/inbox/door.js')).openDoorPort(dataDir, now);
  return (await import('./postgres/inbox/door.js')).openDoorPort(
    poolOf(database, 'receive', lost),
    clockOf(database, now),
  );
}
