import { createInstallationJob } from '../../inbox/job.js';
import type { Order, OrderEnd } from '../../inbox/order.js';
import type { SyncContext } from '../sync-context.js';
import { SyncError } from '../outcome.js';
import type { RunningJob } from '../worker/execute-job.js';
import { toFailedOrderEnd } from './failed-order.js';
import { lookUpOrder } from './look-up-order.js';
import { sendOrder } from './send-order.js';

const NOT_ALLOWED =
  'The worker runs without CONSOLE_ACTIONS=on, so it carries out no orders. Nothing was done.';
const NOT_ACTIVE =
  'The app is not installed on this organization, or its installation is suspended. Nothing was done.';

/** Sends an order of the console to the registry. If an earlier job has begun to send the order, only looks up its result. */
export async function runOrder(context: SyncContext, { job }: RunningJob): Promise<string> {
  // The signal of the job must not abort the call, because the result of the order would be lost.
  const { inbox } = context;
  const order = await inbox.readOrder(String(job.payload['order']));
  // Somebody purged the organization.
  if (order === null) return 'the order was removed';
  const end =
    order.state === 'waiting'
      ? await sendWaitingOrder(context, order)
      : await lookUpInterruptedOrder(context, order);
  if (end !== null) {
    await inbox.finishOrder(order.key, end);
    await enqueueRead(context, order);
  }
  return `order ${order.id} ${end?.state ?? (await inbox.readOrder(order.key))?.state ?? ''}`;
}

/**
 * Sends a waiting order to the registry and returns how the order ended. Returns null if the order has expired or its result
 * is already recorded.
 */
async function sendWaitingOrder(context: SyncContext, order: Order): Promise<OrderEnd | null> {
  if (!context.runsOrders) return refuse(NOT_ALLOWED);
  const { inbox, client } = context;
  const installationId = await findInstallation(context, order);
  if (installationId === null) return refuse(NOT_ACTIVE);
  try {
    // A call before the order measures the registry's clock and checks that it answers.
    await client.app.readInstallation(installationId);
  } catch (error) {
    return refuse(toFailedOrderEnd(error).result);
  }
  const sentAt = new Date(client.http.localNow() + (client.http.clockSkewMs() ?? 0)).toISOString();
  const start = await inbox.startOrder(order.key, sentAt);
  if (start === 'busy')
    throw new SyncError('organization_busy', 'another order for the same credit is being sent');
  if (start === 'expired') return null;
  const begun = { ...order, sentAt };
  if (start === 'started before') return await lookUpInterruptedOrder(context, begun);
  return await sendOrder(context, client.organization(installationId, order.organizationId), begun);
}

/**
 * Looks up the result of an order that was interrupted, because the process of the worker ended during the request. Returns null if
 * the result is recorded already.
 */
async function lookUpInterruptedOrder(context: SyncContext, order: Order): Promise<OrderEnd | null> {
  const current = await context.inbox.readOrder(order.key);
  if (current?.state !== 'sending') return null;
  const installationId = await findInstallation(context, current);
  if (installationId === null) return lookUpOrder(context, null, current);
  return await lookUpOrder(
    context,
    context.client.organization(installationId, current.organizationId),
    current,
  );
}

/** Returns the id of the app's active installation on the organization of an order. Null if there is none. */
async function findInstallation({ mirror }: SyncContext, { organizationId }: Order): Promise<string | null> {
  const installations = await mirror.listInstallations();
  const active = installations.filter(
    each => each.organizationId === organizationId && each.state === 'active',
  );
  return active.at(-1)?.id ?? null;
}

/** Enqueues a read of the organization, so that the mirror soon shows the result of the order. */
async function enqueueRead(context: SyncContext, order: Order): Promise<void> {
  const installationId = await findInstallation(context, order);
  if (installationId === null) return;
  await context.inbox.enqueue([createInstallationJob(installationId, order.organizationId, 'person')]);
}

function refuse(result: string): OrderEnd {
  return { state: 'refused', result };
}
