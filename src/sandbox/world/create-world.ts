import type { CreditRow, HoldingRow, OrganizationRow, ReservationRow, WorldTables } from '../store/schema.js';
import { type CreditPlan, planCredits } from './credits.js';
import { LAST_RETIREMENTS, planRequests, planReservations } from './movements.js';
import {
  type OrganizationCore,
  planAddresses,
  planApps,
  planMembers,
  planOrganizations,
  planUsers,
} from './organizations.js';
import { readSize, type WorldSpec } from './plan.js';
import { planProjects } from './projects.js';
import { planRetirements, type RetirementPlan } from './retirements.js';
import { planTransactions } from './transactions.js';

/**
 * A registry's contents: the same seed and size give the same rows, ids included.
 * Every credit was issued in the amount that its holdings, holds and retirements add up to.
 */
export function createWorld(spec: WorldSpec): WorldTables {
  const size = readSize(spec);
  const apps = planApps(size);
  const organizations = planOrganizations(size);
  const users = planUsers(size, organizations);
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
    users,
    organizations: organizations.map(core => withCounts(core, retirements, reservations, requests)),
    members: planMembers(organizations, users),
    addresses: planAddresses(size, organizations),
    projects: projects.map(({ row }) => row),
    credits: creditRows(credits, retirements, reservations),
    holdings: holdingRows(credits),
    reservations,
    inventory_requests: requests,
    retirements: retirements.rows(),
    transactions: planTransactions(size.seed, explained, { reservations, requests }),
  };
}

interface Owned {
  organization_id: string;
}

function withCounts(
  core: OrganizationCore,
  retirements: RetirementPlan,
  reservations: readonly Owned[],
  requests: readonly Owned[],
): OrganizationRow {
  const isItsOwn = ({ organization_id }: Owned) => organization_id === core.id;
  return {
    ...core,
    reservation_count: reservations.filter(isItsOwn).length,
    request_count: requests.filter(isItsOwn).length,
    retirement_count: retirements.countOf(core.id),
  };
}

function* creditRows(
  credits: CreditPlan,
  retirements: RetirementPlan,
  reservations: readonly ReservationRow[],
): Iterable<CreditRow> {
  const holds = reservations.filter(({ state }) => state === 'outstanding');
  for (let index = 0; index < credits.count; index++) {
    const { projectName: _, ...row } = credits.at(index);
    const held = holds.filter(({ credit_id }) => credit_id === row.id);
    const parts = [...credits.holdings(index), ...held].map(({ amount_micro }) => amount_micro);
    const issued = parts.reduce((sum, part) => sum + part, retirements.microOf(index));
    yield { ...row, issued_micro: issued };
  }
}

function* holdingRows(credits: CreditPlan): Iterable<HoldingRow> {
  for (let index = 0; index < credits.count; index++) yield* credits.holdings(index);
}
