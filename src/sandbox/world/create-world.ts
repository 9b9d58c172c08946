import type { CreditRow, HoldingRow, ReservationRow } from '../store/rows.js';
import { type CreditPlan, planCredits } from './credits.js';
import { LAST_RETIREMENTS, planRequests, planReservations } from './movements.js';
import { planAddresses, planApps, planOrganizations, planUsers } from './organizations.js';
import { readSize, type WorldSpec } from './plan.js';
import { planProjects } from './projects.js';
import { planRetirements, type RetirementPlan } from './retirements.js';
import { planTransactions } from './transactions.js';

/**
 * A registry's contents: the same seed and size give the same rows, ids included.
 * Every credit was issued in the amount that its holdings, reservations and retirements add up to.
 */
export function createWorld(spec: WorldSpec) {
  const size = readSize(spec);
  const apps = planApps(size);
  const organizations = planOrganizations(size);
  const projects = planProjects(size, organizations);
  const credits = planCredits(size, projects, organizations);
  const retirements = planRetirements(size, credits, organizations, apps);
  const sources = { size, apps, organizations, credits, retirements };
  const reservations = planReservations(sources);
  const requests = planRequests(sources);
  const explained = retirements
    .lastByApps(LAST_RETIREMENTS)
    .map(number => retirements.at(number))
    .toReversed();

  return {
    apps,
    users: planUsers(size, organizations),
    organizations,
    addresses: planAddresses(size, organizations),
    projects: projects.map(({ row }) => row),
    credits: creditRows(credits, retirements, reservations),
    holdings: holdingRows(credits),
    reservations,
    requests,
    retirements: retirements.rows(),
    transactions: planTransactions(size.seed, explained, { reservations, requests }),
  };
}

function* creditRows(
  credits: CreditPlan,
  retirements: RetirementPlan,
  reservations: readonly ReservationRow[],
): Iterable<CreditRow> {
  const open = reservations.filter(({ state }) => state === 'outstanding');
  for (let index = 0; index < credits.count; index++) {
    const reserved = open.filter(({ creditId }) => creditId === credits.idOf(index));
    const parts = [...credits.holdings(index), ...reserved].map(({ amountMicro }) => amountMicro);
    const issued = parts.reduce((sum, part) => sum + part, retirements.microOf(index));
    yield credits.at(index, issued);
  }
}

function* holdingRows(credits: CreditPlan): Iterable<HoldingRow> {
  for (let index = 0; index < credits.count; index++) yield* credits.holdings(index);
}
