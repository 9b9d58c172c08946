import type { CreditRecord, HoldingRecord, OrganizationRecord, HoldingPlace } from '../store/records.js';
import { toInstant } from '../store/clock.js';
import { pickAmountMicro, type CompleteWorldSpec } from './world-size.js';
import type { WorldProject } from './generate-projects.js';
import { createRandom, flattenString } from './seeded-random.js';

/** The vintages that each project issues, in this order. */
const VINTAGES = [2021, 2022, 2020, 2019, 2027, 2018, 2017, 2028, 2016, 2015, 2029, 2030] as const;
/** Credits from this vintage on are exAnte: not yet verified. */
const FIRST_FORWARD_VINTAGE = 2027;
const DAY_MS = 86_400_000;

export type CreditGenerator = ReturnType<typeof createCreditGenerator>;

/** Creates the generator of credits and holdings. Any credit can be generated from its index alone. */
export function createCreditGenerator(
  spec: CompleteWorldSpec,
  projects: readonly WorldProject[],
  organizations: readonly OrganizationRecord[],
) {
  const { seed, credits: count } = spec;
  /** Ids that were made already, so that all rows of a credit share one string. */
  const ids: string[] = [];

  /** Returns the id of a credit, which consists of the credit's type, token id and token address. */
  function getCreditId(creditIndex: number): string {
    ids[creditIndex] ??= flattenString(
      `${getCreditType(getVintage(creditIndex))}-${creditIndex + 1}-${getProject(creditIndex).contract}`,
    );
    return ids[creditIndex];
  }

  /** Returns the vintage of a credit as a year. */
  function getVintage(creditIndex: number): number {
    return VINTAGES[Math.floor(creditIndex / projects.length)] ?? VINTAGES[0];
  }

  /** Returns the project that issued a credit. */
  function getProject(creditIndex: number): WorldProject {
    const project = projects[creditIndex % projects.length];
    if (project === undefined) throw new RangeError('a world with credits needs projects');
    return project;
  }

  /** Generates the credit with this index. `issuedMicro` is the issued amount in millionths of a tonne. */
  function generateCredit(creditIndex: number, issuedMicro: number): CreditRecord {
    const { row, country, kind, contract } = getProject(creditIndex);
    const vintage = getVintage(creditIndex);
    const type = getCreditType(vintage);
    const tokenId = String(creditIndex + 1);
    const issuedOn =
      Date.UTC(Math.min(vintage + 1, 2023), 0, 10) +
      createRandom(seed, 'issue', creditIndex).below(150) * DAY_MS;
    return {
      id: getCreditId(creditIndex),
      projectId: row.id,
      tokenId,
      tokenAddress: contract,
      serialization: flattenString(
        `ICR-${country.alpha3}-${country.callingCode}-${row.num}-${kind.sector}-${kind.removal ? 'R' : 'A'}-0-${vintage}`,
      ),
      vintage: String(vintage),
      type,
      issuedMicro,
      createdAt: toInstant(issuedOn),
    };
  }

  /** Chooses which warehouses and inventories hold a credit, and how much of the credit each one holds. */
  function generateHoldings(creditIndex: number): HoldingRecord[] {
    return chooseHolders(creditIndex, organizations.length).map(({ organization, place }, position) => ({
      organizationId: organizations[organization]?.id ?? '',
      place,
      creditId: getCreditId(creditIndex),
      amountMicro: pickAmountMicro(seed, `holding ${position}`, creditIndex, 20_000),
    }));
  }

  const retirable = Array.from({ length: count }, (_, index) => index).filter(
    index => getVintage(index) < FIRST_FORWARD_VINTAGE,
  );
  return {
    count,
    /** The indexes of the credits that can be retired, shuffled. */
    retirable: shuffleInPlace(seed, Uint32Array.from(retirable)),
    generateCredit,
    getCreditId,
    getProjectName: (index: number) => getProject(index).row.fullName,
    generateHoldings,
  };
}

/** Returns whether credits of a vintage are exPost (verified) or exAnte (expected). */
function getCreditType(vintage: number): CreditRecord['type'] {
  return vintage < FIRST_FORWARD_VINTAGE ? 'exPost' : 'exAnte';
}

/** Chooses the warehouses and inventories that hold a credit. */
function chooseHolders(creditIndex: number, organizationCount: number) {
  // Most credits are in the first organization's warehouse.
  const owner = creditIndex % 3 === 2 ? (1 + (creditIndex % 7)) % organizationCount : 0;
  const secondHolder = (owner + 1) % organizationCount;
  const holder = (place: HoldingPlace, organization = owner) => ({ organization, place });
  switch (creditIndex % 5) {
    case 0:
      return [holder('warehouse'), holder('inventory')];
    case 1:
      return [holder('warehouse'), holder('inventory', secondHolder)];
    case 3:
      return [holder('inventory')];
    default:
      return [holder('warehouse')];
  }
}

/** Shuffles an array in place (Fisher-Yates). The same seed always gives the same order. */
function shuffleInPlace(seed: number, items: Uint32Array): Uint32Array {
  const random = createRandom(seed, 'shuffle');
  for (let index = items.length - 1; index > 0; index--) {
    const swapIndex = random.below(index + 1);
    const swapped = items[index] ?? 0;
    items[index] = items[swapIndex] ?? 0;
    items[swapIndex] = swapped;
  }
  return items;
}
