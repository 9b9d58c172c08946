import type { CreditRecord, HoldingRecord, OrganizationRecord, HoldingPlace } from '../store/records.js';
import { toInstant } from '../store/clock.js';
import { pickAmountMicro, type WorldSize } from './world-size.js';
import type { WorldProject } from './projects.js';
import { createRandom, flattenString } from './random.js';

/** The vintages that each project issues, in this order. */
const VINTAGES = [2021, 2022, 2020, 2019, 2027, 2018, 2017, 2028, 2016, 2015, 2029, 2030] as const;
/** Credits from this vintage on are exAnte: not yet verified. */
const FIRST_FORWARD_VINTAGE = 2027;
const DAY_MS = 86_400_000;

export type CreditGenerator = ReturnType<typeof createCreditGenerator>;

/** Generates credits and their holdings one by one, by index, so that a large world needs little memory. */
export function createCreditGenerator(
  size: WorldSize,
  projects: readonly WorldProject[],
  organizations: readonly OrganizationRecord[],
) {
  const { seed, credits: count } = size;
  /** Ids that were made already, so that all rows of a credit share one string. */
  const ids: string[] = [];

  /** Returns the id of a credit: its type, token id and token address. */
  function idOf(index: number): string {
    ids[index] ??= flattenString(`${typeOf(vintageOf(index))}-${index + 1}-${projectOf(index).contract}`);
    return ids[index];
  }

  function vintageOf(index: number): number {
    return VINTAGES[Math.floor(index / projects.length)] ?? VINTAGES[0];
  }

  /** Returns the project that issued a credit. */
  function projectOf(index: number): WorldProject {
    const project = projects[index % projects.length];
    if (project === undefined) throw new RangeError('a world with credits needs projects');
    return project;
  }

  /** Returns the credit with this index and the given issued amount. */
  function generateCredit(index: number, issuedMicro: number): CreditRecord {
    const { row, country, kind, contract } = projectOf(index);
    const vintage = vintageOf(index);
    const type = typeOf(vintage);
    const tokenId = String(index + 1);
    const issuedOn =
      Date.UTC(Math.min(vintage + 1, 2023), 0, 10) + createRandom(seed, 'issue', index).below(150) * DAY_MS;
    return {
      id: idOf(index),
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

  /** Returns the holdings of a credit in warehouses and inventories, without reservations. */
  function generateHoldings(index: number): HoldingRecord[] {
    return chooseHolders(index, organizations.length).map(({ organization, place }, position) => ({
      organizationId: organizations[organization]?.id ?? '',
      place,
      creditId: idOf(index),
      amountMicro: pickAmountMicro(seed, `holding ${position}`, index, 20_000),
    }));
  }

  const retirable = Array.from({ length: count }, (_, index) => index).filter(
    index => vintageOf(index) < FIRST_FORWARD_VINTAGE,
  );
  return {
    count,
    /** The indexes of the credits that can be retired, shuffled. */
    retirable: shuffle(seed, Uint32Array.from(retirable)),
    generateCredit,
    idOf,
    projectNameOf: (index: number) => projectOf(index).row.fullName,
    generateHoldings,
  };
}

function typeOf(vintage: number): CreditRecord['type'] {
  return vintage < FIRST_FORWARD_VINTAGE ? 'exPost' : 'exAnte';
}

/** Chooses which organizations hold a credit, and where. Most credits are in the first organization's warehouse. */
function chooseHolders(index: number, organizationCount: number) {
  const owner = index % 3 === 2 ? (1 + (index % 7)) % organizationCount : 0;
  const secondHolder = (owner + 1) % organizationCount;
  const holder = (place: HoldingPlace, organization = owner) => ({ organization, place });
  switch (index % 5) {
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

/** Shuffles in place (Fisher-Yates). */
function shuffle(seed: number, items: Uint32Array): Uint32Array {
  const random = createRandom(seed, 'shuffle');
  for (let index = items.length - 1; index > 0; index--) {
    const swapIndex = random.below(index + 1);
    const swapped = items[index] ?? 0;
    items[index] = items[swapIndex] ?? 0;
    items[swapIndex] = swapped;
  }
  return items;
}
