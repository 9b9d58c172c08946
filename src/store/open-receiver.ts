import type { ReceiverPort } from '../inbox/port.js';
import type { OnConnectionLost } from './engine.js';
import type { StoreSettings } from './settings.js';
import { getInboxClock, getPoolOptions } from './postgres/pool-settings.js';

/** Opens only the receiver's port, for the receiver thread. */
export async function openReceiver(
  { dataDir, database }: StoreSettings,
  now: () => number,
  lost: OnConnectionLost,
): Promise<ReceiverPort> {
  if (database === null)
    return (await import('./sqlite/inbox/receiver-port.js')).openReceiverPort(dataDir, now);
  return (await import('./postgres/inbox/receiver.js')).openReceiverPort(
    getPoolOptions(database, 'receive', lost),
    getInboxClock(database, now),
  );
}
