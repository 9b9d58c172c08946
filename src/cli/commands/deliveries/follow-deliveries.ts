import {
  type ArrivedDelivery,
  readDeliveriesAfter,
  readNewestDeliveryId,
} from '../../../query/inbox/deliveries.js';
import type { CommandContext } from '../../context.js';
import { followRows } from '../../follow.js';

/**
 * Yields deliveries until the command is interrupted: the stored ones with a number above `after`, then each new one. Without
 * `after`, yields new ones only.
 */
export async function* followDeliveries(
  { io, openReader, printNotice }: CommandContext,
  after: number | undefined,
): AsyncGenerator<ArrivedDelivery> {
  const reader = await openReader();
  const signal = io.createInterruptSignal();
  let lastId = after ?? (await readNewestDeliveryId(reader));
  printNotice(`Waiting for deliveries after number ${lastId}. Press Ctrl-C to stop.`);
  yield* followRows({
    signal,
    readNext: async () => {
      const rows = await readDeliveriesAfter(reader, lastId);
      lastId = rows.at(-1)?.id ?? lastId;
      return rows;
    },
  });
}
