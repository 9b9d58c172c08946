import { MAX_PAGE_SIZE } from '../http/paging.js';
import { createAccess } from '../http/access.js';
import { createApps } from './apps.js';
import { createCallLog } from '../http/call-log.js';
import { createCredits } from './credits.js';
import { createDeliveries, type DeliveryOptions } from '../webhooks/deliveries.js';
import { createFaults } from '../faults/faults.js';
import { createHoldings } from './holdings.js';
import { createInstallations } from './installations.js';
import { createInventoryRequests } from './inventory-requests.js';
import { createOrganizations } from './organizations.js';
import { createProjects } from './projects.js';
import { createReservations } from './reservations.js';
import { createRetirements } from './retirements.js';
import { createClockControl } from '../control/clock-control.js';
import { createTokens } from './tokens.js';
import { createTransactions } from './transactions.js';
import { createWebhookPublisher } from '../webhooks/publisher.js';

export type SandboxRegistry = ReturnType<typeof createRegistry>;

export interface RegistryOptions extends DeliveryOptions {
  readonly strict: boolean;
  /** Whether the profile as-documented is on. */
  readonly asDocumented: boolean;
}

/**
 * Assembles the registry: the parts that its routes, its control API and tests in the same process call.
 * A part reads and checks its input, changes the tables by operations of the store, and returns JSON.
 * Parts throw an `ApiError` for what the registry refuses.
 */
export function createRegistry({ store, prefix, strict, asDocumented }: RegistryOptions) {
  const deliveries = createDeliveries({ store, prefix });
  const publisher = createWebhookPublisher(store, deliveries.enqueue);
  const tokens = createTokens(store);
  const calls = createCallLog(store, prefix);
  const faults = createFaults(store);
  const retirements = createRetirements(store, asDocumented);
  const transactions = createTransactions({
    store,
    retirements,
    publisher,
    chooseStatus: faults.chooseTransactionStatus,
    asDocumented,
  });
  const installations = createInstallations(store, publisher);
  return {
    store,
    headerPrefix: prefix,
    profile: asDocumented ? 'as-documented' : null,
    maxPageSize: asDocumented ? 50 : MAX_PAGE_SIZE,
    access: createAccess({ store, tokens, strict, setCaller: calls.setCaller }),
    apps: createApps(store),
    calls,
    clock: createClockControl(store),
    credits: createCredits(store, retirements),
    deliveries,
    faults,
    holdings: createHoldings(store, asDocumented),
    installations,
    organizations: createOrganizations(store, installations, asDocumented),
    projects: createProjects(store),
    requests: createInventoryRequests(store, transactions),
    reservations: createReservations(store, transactions, asDocumented),
    retirements,
    tokens,
    transactions,
  };
}
