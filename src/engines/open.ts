import type { DoorPort } from '../inbox/port.js';
import type { Engine, StoreSettings } from './engine.js';
import { createSqliteEngine } from './sqlite/engine.js';

/** The one place that picks an engine. It opens nothing and loads no driver: see `Engine`. */
export function openEngine(settings: StoreSettings): Engine {
  return createSqliteEngine(settings);
}

/** The door alone, for the thread that has nothing else. */
export async function openDoor({ dataDir }: StoreSettings, now: () => number): Promise<DoorPort> {
  return (await import('./sqlite/inbox/door.js')).openDoorPort(dataDir, now);
}
