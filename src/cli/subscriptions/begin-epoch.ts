import { readLastNumber } from '../../query/history/changes.js';
import { randomBytes } from 'node:crypto';
import { createEpochName } from '../../events/epoch-name.js';
import type { EpochReason } from '../../events/port.js';
import type { Engine } from '../../store/engine.js';
import { useAndClose } from '../mirror-location.js';

interface EpochRequest {
  readonly engine: Engine;
  readonly now: () => number;
  readonly reason: EpochReason;
}

/**
 * Begins a new epoch: the ids of all later events begin with another random text. Returns this text. Returns null and does nothing if there
 * are no subscriptions.
 */
export async function beginNewEpoch({ engine, now, reason }: EpochRequest): Promise<string | null> {
  const port = await engine.openEvents(now);
  if (port === null) return null;
  return await useAndClose(port, async () => {
    if ((await port.list()).length === 0) return null;
    const newestChange = await useAndClose(engine.openReader(), readLastNumber);
    const epoch = createEpochName(randomBytes);
    await port.beginEpoch({ epoch, at: new Date(now()).toISOString(), reason, newestChange });
    return epoch;
  });
}
