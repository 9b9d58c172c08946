import { MAX_PAGE_SIZE } from '../http/paging.js';
import { createAuthorizer } from '../http/authorize.js';
import { createAppService } from './apps.js';
import { createCallLog } from '../http/call-log.js';
import { createCreditService } from './credits.js';
import { createDeliveryService, type DeliveryServiceOptions } from '../webhooks/deliveries.js';
import { createFaultService } from '../faults/fault-service.js';
import { createHoldingService } from './holdings.js';
import { createInstallationService } from './installations.js';
import { createInventoryRequestService } from './inventory-requests.js';
import { createOrganizationService } from './organizations.js';
import { createProjectService } from './projects.js';
import { createReservationService } from './reservations.js';
import { createRetirementService } from './retirements.js';
import { createClockControl } from '../control/clock-control.js';
import { createTokenService } from './tokens.js';
import { createTransactionService } from './transactions.js';
import { createWebhookPublisher } from '../webhooks/publisher.js';

export type SandboxRegistry = ReturnType<typeof createSandboxRegistry>;

export interface SandboxRegistryOptions extends DeliveryServiceOptions {
  readonly strict: boolean;
  /** Whether the profile `as-documented` is on. */
  readonly asDocumented: boolean;
}

/** Creates all services of the sandbox registry. */
export function createSandboxRegistry({ store, headerPrefix, strict, asDocumented }: SandboxRegistryOptions) {
  // Each service validates its input, changes the tables by operations of the store, and returns JSON.
  const deliveries = createDeliveryService({ store, headerPrefix });
  const publisher = createWebhookPublisher(store, deliveries.enqueue);
  const tokens = createTokenService(store);
  const calls = createCallLog(store, headerPrefix);
  const faults = createFaultService(store);
  const retirements = createRetirementService(store, asDocumented);
  const transactions = createTransactionService({
    store,
    retirements,
    publisher,
    chooseStatus: faults.chooseTransactionStatus,
    asDocumented,
  });
  const installations = createInstallationService(store, publisher);
  return {
    store,
    headerPrefix,
    profile: asDocumented ? 'as-documented' : null,
    maxPageSize: asDocumented ? 50 : MAX_PAGE_SIZE,
    access: createAuthorizer({ store, tokens, strict, setCaller: calls.setCaller }),
    apps: createAppService(store),
    calls,
    clock: createClockControl(store),
    credits: createCreditService(store, retirements),
    deliveries,
    faults,
    holdings: createHoldingService(store, asDocumented),
    installations,
    organizations: createOrganizationService(store, installations, asDocumented),
    projects: createProjectService(store),
    requests: createInventoryRequestService(store, transactions),
    reservations: createReservationService(store, transactions, asDocumented),
    retirements,
    tokens,
    transactions,
  };
}
