import { MAX_LIMIT } from '../http/pages.js';
import { createAccess } from '../http/access.js';
import { createApps } from './apps.js';
import { createCalls } from '../http/calls.js';
import { createCredits } from './credits.js';
import { createDeliveries, type DeliveryOptions } from '../webhooks/deliveries.js';
import { createFaults } from '../trouble/faults.js';
import { createHoldings } from './holdings.js';
import { createInstallations } from './installations.js';
import { createInventoryRequests } from './inventory-requests.js';
import { createOrganizations } from './organizations.js';
import { createProjects } from './projects.js';
import { createReservations } from './reservations.js';
import { createRetirements } from './retirements.js';
import { createClockControl } from '../trouble/clock-control.js';
import { createTokens } from './tokens.js';
import { createTransactions } from './transactions.js';
import { createAnnouncer } from '../webhooks/announcer.js';

/** The whole registry as a value: what its routes, its control API and its direct users call. */
export type Registry = ReturnType<typeof createRegistry>;

export interface RegistryOptions extends DeliveryOptions {
  readonly strict: boolean;
  readonly asDocumented: boolean;
}

export function createRegistry({ store, prefix, strict, asDocumented }: RegistryOptions) {
  const deliveries = createDeliveries({ store, prefix });
  const announcer = createAnnouncer(store, deliveries.send);
  const tokens = createTokens(store);
  const calls = createCalls(store, prefix);
  const faults = createFaults(store);
  const retirements = createRetirements(store, asDocumented);
  const transactions = createTransactions({
    store,
    retirements,
    announcer,
    fateOf: faults.fateOf,
    asDocumented,
  });
  const installations = createInstallations(store, announcer);
  return {
    store,
    headerPrefix: prefix,
    profile: asDocumented ? 'as-documented' : null,
    /** The most rows of a page. */
    mostRows: asDocumented ? 50 : MAX_LIMIT,
    access: createAccess({ store, tokens, strict, attribute: calls.attribute }),
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
