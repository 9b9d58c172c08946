import { type Access, createAccess } from '../http/access.js';
import { type Apps, createApps } from './apps.js';
import { type Calls, createCalls } from '../http/calls.js';
import { createCredits, type Credits } from './credits.js';
import { createDeliveries, type Deliveries } from '../webhooks/deliveries.js';
import { createFaults, type Faults } from '../trouble/faults.js';
import { createHoldings, type Holdings } from './holdings.js';
import { createInstallations, type Installations } from './installations.js';
import { createInventoryRequests, type InventoryRequests } from './inventory-requests.js';
import { createOrganizations, type Organizations } from './organizations.js';
import { createProjects, type Projects } from './projects.js';
import { createReservations, type Reservations } from './reservations.js';
import { createRetirements, type Retirements } from './retirements.js';
import type { Store } from '../store/store.js';
import { type ClockControl, createClockControl } from '../trouble/clock-control.js';
import { createTokens, type Tokens } from './tokens.js';
import { createTransactions, type Transactions } from './transactions.js';
import { createAnnouncer } from '../webhooks/announcer.js';

/** The whole registry as a value: what its routes, its control API and its direct users call. */
export interface Registry {
  readonly store: Store;
  readonly access: Access;
  readonly apps: Apps;
  readonly calls: Calls;
  readonly clock: ClockControl;
  readonly credits: Credits;
  readonly deliveries: Deliveries;
  readonly faults: Faults;
  readonly holdings: Holdings;
  readonly installations: Installations;
  readonly organizations: Organizations;
  readonly projects: Projects;
  readonly requests: InventoryRequests;
  readonly reservations: Reservations;
  readonly retirements: Retirements;
  readonly tokens: Tokens;
  readonly transactions: Transactions;
}

export interface RegistryOptions {
  readonly store: Store;
  readonly prefix: string;
  readonly wall: () => number;
}

export function createRegistry({ store, prefix, wall }: RegistryOptions): Registry {
  const deliveries = createDeliveries({ store, prefix, wall });
  const announcer = createAnnouncer(store, deliveries.send);
  const tokens = createTokens(store);
  const calls = createCalls(store, prefix);
  const retirements = createRetirements(store);
  const transactions = createTransactions(store, retirements);
  const installations = createInstallations(store, announcer);
  return {
    store,
    access: createAccess({ store, tokens, attribute: calls.attribute }),
    apps: createApps(store),
    calls,
    clock: createClockControl(store),
    credits: createCredits(store, retirements),
    deliveries,
    faults: createFaults(store),
    holdings: createHoldings(store),
    installations,
    organizations: createOrganizations(store, installations),
    projects: createProjects(store),
    requests: createInventoryRequests(store, transactions, announcer),
    reservations: createReservations(store, transactions, announcer),
    retirements,
    tokens,
    transactions,
  };
}
