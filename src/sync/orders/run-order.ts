import { createInstallationJob } from '../../inbox/job.js';
import type { Order, OrderEnd } from '../../inbox/order.js';
import type { SyncContext } from '../sync-context.js';
import { SyncError } from '../outcome.js';
import type { RunningJob } from '../worker/execute-job.js';
import { describeFailedOrder } from './failed-order.js';
import { lookUpOrder } from './look-up-order.js';
import { sendOrder } from './send-order.js';

const NOT_ALLOWED =
  'The worker runs without CONSOLE_ACTIONS=on, so it carries out no orders. Nothing was done.';
const NOT_ACTIVE =
  'The app is not installed on this organization, or its installation is suspended. Nothing was done.';

/**
 * Carries out one order. The registry is called at most once for an order: an order that was started before is only looked up.
 * The signal of the job does not stop a call on its way, because its result would be lost.
 */
export async function runOrder(context: SyncContext, { job }: RunningJob): Promise<string> {
  const { inbox } = context;
  const order = await inbox.readOrder(String(job.payload['order']));
  // Somebody purged the organization.
  if (order === null) return 'the order was removed';
  const end =
    order.state === 'waiting' ? await beginOrder(context, order) : await endBegunOrder(context, order);
  if (end !== null) {
    await inbox.finishOrder(order.key, end);
    await requestRead(context, order);
  }
  return `order ${order.id} ${end?.state ?? (await inbox.readOrder(order.key))?.state ?? ''}`;
}

/** Sends a waiting order. Returns null if it has ended already. */
async function beginOrder(context: SyncContext, order: Order): Promise<OrderEnd | null> {
  if (!context.runsOrders) return refuse(NOT_ALLOWED);
  const { inbox, client } = context;
  const installationId = await findInstallation(context, order);
  if (installationId === null) return refuse(NOT_ACTIVE);
  try {
    // A call before the order measures the registry's clock and checks that it answers.
    await client.app.readInstallation(installationId);
  } catch (error) {
    return refuse(describeFailedOrder(error).result);
  }
  const sentAt = new Date(client.http.localNow() + (client.http.clockSkewMs() ?? 0)).toISOString();
  const start = await inbox.startOrder(order.key, sentAt);
  if (start === 'busy')
    throw new SyncError('organization_busy', 'another order for the same credit is being sent');
  if (start === 'expired') return null;
  const begun = { ...order, sentAt };
  if (start === 'started before') return await endBegunOrder(context, begun);
  return await sendOrder(context, client.organization(installationId, order.organizationId), begun);
}

/** Looks up the result of an order whose process ended before the result was known. Returns null if it has ended. */
async function endBegunOrder(context: SyncContext, order: Order): Promise<OrderEnd | null> {
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

/** Returns the app's active installation on the organization of an order, or null. The order itself cannot name one. */
async function findInstallation({ mirror }: SyncContext, { organizationId }: Order): Promise<string | null> {
  const installations = await mirror.listInstallations();
  const active = installations.filter(
    each => each.organizationId === organizationId && each.state === 'active',
  );
  return active.at(-1)?.id ?? null;
}

/** Enqueues a read, so that the mirror shows the result soon. */
async function requestRead(context: SyncContext, order: Order): Promise<void> {
  const installationId = await findInstallation(context, order);
  if (installationId === null) return;
  await context.inbox.enqueue([createInstallationJob(installationId, order.organizationId, 'person')]);
}

function refuse(result: string): OrderEnd {
  return { state: 'refused', result };
}
