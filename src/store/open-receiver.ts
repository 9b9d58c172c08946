import type { ReceiverPort } from '../inbox/port.js';
import type { OnConnectionLost } from './engine.js';
import type { StoreSettings } from './settings.js';
import { getInboxClock, getPoolOptions } from './postgres/pool-settings.js';

/** Opens only the part of the inbox that the receiver thread needs to store webhooks. Returns it as a `ReceiverPort`. */
export async function openReceiver(
  { dataDir, database }: StoreSettings,
  now: () => number,
  onConnectionLost: OnConnectionLost,
): Promise<ReceiverPort> {
  if (database === null)
    return (await import('./sqlite/inbox/receiver-port.js')).openReceiverPort(dataDir, now);
  return (await import('./postgres/inbox/receiver-port.js')).openReceiverPort(
    getPoolOptions(database, 'receive', onConnectionLost),
    getInboxClock(database, now),
  );
}
