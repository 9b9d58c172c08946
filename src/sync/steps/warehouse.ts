import type { Credit } from '../../registry/model.js';
import type { ReadOptions } from '../../registry/reading.js';
import { nextHoldEnd } from '../holds.js';
import { createOwnRows } from './own.js';
import { writePages } from './pages.js';
import { readList } from './recorded.js';
import type { StepContext } from './step.js';

export async function readWarehouse(context: StepContext): Promise<void> {
  await readCredits(context, 'warehouse', options => context.organization.readWarehouse(options));
}

export async function readInventory(context: StepContext): Promise<void> {
  await readCredits(context, 'inventory', options => context.organization.readInventory(options));
}

/** One long answer, written as it streams in. */
async function readCredits(
  context: StepContext,
  resource: 'warehouse' | 'inventory',
  batches: (options: ReadOptions) => AsyncIterable<readonly Credit[]>,
): Promise<void> {
  await readList(context, resource, async (read, options) => {
    const own = createOwnRows(context.organizationId, (credit: Credit) => credit.creditId);
    for await (const batch of batches(options)) {
      await read.writeBatch(own.of(batch), context.now());
      await context.turn();
    }
    return { total: null, flaw: own.flaw() };
  });
}

export async function readReservations(context: StepContext): Promise<void> {
  await readList(context, 'reservations', (read, options) =>
    writePages({
      context,
      resource: 'reservations',
      read,
      list: wish => context.organization.listReservations(wish),
      options,
      admit: items => {
        const end = nextHoldEnd(items, context.registryNow());
        if (end !== null) context.onHoldEnd(end);
        return items;
      },
    }),
  );
}

export async function readInventoryRequests(context: StepContext): Promise<void> {
  await readList(context, 'inventory_requests', (read, options) =>
    writePages({
      context,
      resource: 'inventory_requests',
      read,
      list: wish => context.organization.listInventoryRequests(wish),
      options,
    }),
  );
}
