/**
 * The generated world: organizations, projects, credits and their history for the demo and for tests. Every row is
 * computed from the seed and its index, so the same seed and size always give the same world. Nothing here may use the
 * clock or real randomness.
 */
import type { CreditRecord, HoldingRecord, ReservationRecord } from '../store/records.js';
import { type CreditGenerator, createCreditGenerator } from './generate-credits.js';
import {
  EXPLAINED_RETIREMENTS,
  generateInventoryRequests,
  generateReservations,
} from './generate-reservations.js';
import {
  generateAddresses,
  generateApps,
  generateOrganizations,
  generateUsers,
} from './generate-organizations.js';
import { completeWorldSpec, type WorldSpec } from './world-size.js';
import { generateProjects } from './generate-projects.js';
import { createRetirementGenerator, type RetirementGenerator } from './generate-retirements.js';
import { generateTransactions } from './generate-transactions.js';

/** Generates all rows of a registry. The same seed and size always give the same rows. */
export function generateWorld(spec: WorldSpec) {
  // Large lists are generators, so that a million rows are not in memory twice.
  const fullSpec = completeWorldSpec(spec);
  const apps = generateApps(fullSpec);
  const organizations = generateOrganizations(fullSpec);
  const projects = generateProjects(fullSpec, organizations);
  const credits = createCreditGenerator(fullSpec, projects, organizations);
  const retirements = createRetirementGenerator(fullSpec, credits, organizations, apps);
  const parts = { spec: fullSpec, apps, organizations, credits, retirements };
  const reservations = generateReservations(parts);
  const requests = generateInventoryRequests(parts);
  const explainedRetirements = retirements
    .listAppRetirementNumbers(EXPLAINED_RETIREMENTS)
    .map(number => retirements.generateRetirement(number))
    .toReversed();

  return {
    apps,
    users: generateUsers(fullSpec, organizations),
    organizations,
    addresses: generateAddresses(fullSpec, organizations),
    projects: projects.map(({ row }) => row),
    credits: generateCredits(credits, retirements, reservations),
    holdings: generateHoldings(credits),
    reservations,
    requests,
    retirements: retirements.generateAllRetirements(),
    transactions: generateTransactions(fullSpec.seed, explainedRetirements, { reservations, requests }),
  };
}

/** Yields all credits. A credit's issued amount is the sum of its holdings, outstanding reservations and retirements. */
function* generateCredits(
  credits: CreditGenerator,
  retirements: RetirementGenerator,
  reservations: readonly ReservationRecord[],
): Iterable<CreditRecord> {
  const outstanding = reservations.filter(({ state }) => state === 'outstanding');
  for (let index = 0; index < credits.count; index++) {
    const reserved = outstanding.filter(({ creditId }) => creditId === credits.getCreditId(index));
    const amounts = [...credits.generateHoldings(index), ...reserved].map(({ amountMicro }) => amountMicro);
    const issuedMicro = amounts.reduce((sum, amount) => sum + amount, retirements.sumRetiredMicro(index));
    yield credits.generateCredit(index, issuedMicro);
  }
}

/** Yields the holdings of all credits. */
function* generateHoldings(credits: CreditGenerator): Iterable<HoldingRecord> {
  for (let index = 0; index < credits.count; index++) yield* credits.generateHoldings(index);
}
