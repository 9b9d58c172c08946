import type { CreditRecord, HoldingRecord, OrganizationRecord, HoldingPlace } from '../store/records.js';
import { toInstant } from '../store/clock.js';
import { pickAmountMicro, type WorldSize } from './world-size.js';
import type { WorldProject } from './projects.js';
import { createRandom, flattenString } from './random.js';

/** The order in which projects issue: past vintages, and now and then a coming one. */
const SLOTS = [2021, 2022, 2020, 2019, 2027, 2018, 2017, 2028, 2016, 2015, 2029, 2030] as const;
const FIRST_FORWARD_VINTAGE = 2027;
const DAY_MS = 86_400_000;

export type CreditGenerator = ReturnType<typeof createCreditGenerator>;

export function createCreditGenerator(
  size: WorldSize,
  projects: readonly WorldProject[],
  organizations: readonly OrganizationRecord[],
) {
  const { seed, credits: count } = size;
  /** Each is one text, however many rows name it. */
  const ids: string[] = [];

  function idOf(index: number): string {
    ids[index] ??= flattenString(`${typeOf(slotOf(index))}-${index + 1}-${projectOf(index).contract}`);
    return ids[index];
  }

  function slotOf(index: number): number {
    return SLOTS[Math.floor(index / projects.length)] ?? SLOTS[0];
  }

  function projectOf(index: number): WorldProject {
    const project = projects[index % projects.length];
    if (project === undefined) throw new RangeError('a world with credits needs projects');
    return project;
  }

  function at(index: number, issuedMicro: number): CreditRecord {
    const { row, country, kind, contract } = projectOf(index);
    const vintage = slotOf(index);
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

  /** What stands in warehouses and inventories, without reservations. */
  function holdings(index: number): HoldingRecord[] {
    return placesOf(index, organizations.length).map(({ organization, place }, position) => ({
      organizationId: organizations[organization]?.id ?? '',
      place,
      creditId: idOf(index),
      amountMicro: pickAmountMicro(seed, `holding ${position}`, index, 20_000),
    }));
  }

  const retirable = Array.from({ length: count }, (_, index) => index).filter(
    index => slotOf(index) < FIRST_FORWARD_VINTAGE,
  );
  return {
    count,
    /** The indexes of the credits that can be retired, shuffled. */
    retirable: shuffle(seed, Uint32Array.from(retirable)),
    at,
    idOf,
    projectNameOf: (index: number) => projectOf(index).row.fullName,
    holdings,
  };
}

function typeOf(vintage: number): CreditRecord['type'] {
  return vintage < FIRST_FORWARD_VINTAGE ? 'exPost' : 'exAnte';
}

/** Four of five credits lie in a warehouse, most of all in the first organization's. */
function placesOf(index: number, organizations: number) {
  const owner = index % 3 === 2 ? (1 + (index % 7)) % organizations : 0;
  const other = (owner + 1) % organizations;
  const stands = (place: HoldingPlace, organization = owner) => ({ organization, place });
  switch (index % 5) {
    case 0:
      return [stands('warehouse'), stands('inventory')];
    case 1:
      return [stands('warehouse'), stands('inventory', other)];
    case 3:
      return [stands('inventory')];
    default:
      return [stands('warehouse')];
  }
}

function shuffle(seed: number, items: Uint32Array): Uint32Array {
  const random = createRandom(seed, 'shuffle');
  for (let index = items.length - 1; index > 0; index--) {
    const other = random.below(index + 1);
    const moved = items[index] ?? 0;
    items[index] = items[other] ?? 0;
    items[other] = moved;
  }
  return items;
}
