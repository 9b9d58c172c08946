import type { CreditRecord, HoldingRecord, ReservationRecord } from '../store/records.js';
import { type CreditGenerator, createCreditGenerator } from './credits.js';
import {
  EXPLAINED_RETIREMENTS,
  generateRequests,
  generateReservations,
} from './reservations-and-requests.js';
import { generateAddresses, generateApps, generateOrganizations, generateUsers } from './organizations.js';
import { resolveWorldSize, type WorldSpec } from './world-size.js';
import { generateProjects } from './projects.js';
import { createRetirementGenerator, type RetirementGenerator } from './retirements.js';
import { generateTransactions } from './transactions.js';

/**
 * A registry's contents: the same seed and size give the same rows, ids included.
 * Every credit was issued in the amount that its holdings, reservations and retirements add up to.
 */
export function generateWorld(spec: WorldSpec) {
  const size = resolveWorldSize(spec);
  const apps = generateApps(size);
  const organizations = generateOrganizations(size);
  const projects = generateProjects(size, organizations);
  const credits = createCreditGenerator(size, projects, organizations);
  const retirements = createRetirementGenerator(size, credits, organizations, apps);
  const sources = { size, apps, organizations, credits, retirements };
  const reservations = generateReservations(sources);
  const requests = generateRequests(sources);
  const explained = retirements
    .lastByApps(EXPLAINED_RETIREMENTS)
    .map(number => retirements.at(number))
    .toReversed();

  return {
    apps,
    users: generateUsers(size, organizations),
    organizations,
    addresses: generateAddresses(size, organizations),
    projects: projects.map(({ row }) => row),
    credits: creditRows(credits, retirements, reservations),
    holdings: holdingRows(credits),
    reservations,
    requests,
    retirements: retirements.rows(),
    transactions: generateTransactions(size.seed, explained, { reservations, requests }),
  };
}

function* creditRows(
  credits: CreditGenerator,
  retirements: RetirementGenerator,
  reservations: readonly ReservationRecord[],
): Iterable<CreditRecord> {
  const open = reservations.filter(({ state }) => state === 'outstanding');
  for (let index = 0; index < credits.count; index++) {
    const reserved = open.filter(({ creditId }) => creditId === credits.idOf(index));
    const parts = [...credits.holdings(index), ...reserved].map(({ amountMicro }) => amountMicro);
    const issued = parts.reduce((sum, part) => sum + part, retirements.microOf(index));
    yield credits.at(index, issued);
  }
}

function* holdingRows(credits: CreditGenerator): Iterable<HoldingRecord> {
  for (let index = 0; index < credits.count; index++) yield* credits.holdings(index);
}
