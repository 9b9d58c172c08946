import type { CreditRow, HoldingRow, Place } from '../store/schema.js';
import type { OrganizationCore } from './organizations.js';
import { someMicro, toInstant, type WorldSize } from './plan.js';
import type { PlannedProject } from './projects.js';
import { createRandom } from './random.js';

/** The order in which projects issue: past vintages, and now and then a coming one. */
const SLOTS = [2021, 2022, 2020, 2019, 2027, 2018, 2017, 2028, 2016, 2015, 2029, 2030] as const;
const FIRST_FORWARD_VINTAGE = 2027;
const DAY_MS = 86_400_000;

interface PlannedCredit extends Omit<CreditRow, 'issued_micro'> {
  readonly projectName: string;
}

export interface CreditPlan {
  readonly count: number;
  /** The indexes of the credits that can be retired, shuffled. */
  readonly retirable: Uint32Array;
  at(index: number): PlannedCredit;
  /** What stands in warehouses and inventories, without holds. */
  holdings(index: number): HoldingRow[];
}

export function planCredits(
  size: WorldSize,
  projects: readonly PlannedProject[],
  organizations: readonly OrganizationCore[],
): CreditPlan {
  const { seed, credits: count } = size;

  function slotOf(index: number): number {
    return SLOTS[Math.floor(index / projects.length)] ?? SLOTS[0];
  }

  function at(index: number): PlannedCredit {
    const project = projects[index % projects.length];
    if (project === undefined) throw new RangeError('a world with credits needs projects');
    const { row, country, kind, contract } = project;
    const vintage = slotOf(index);
    const type = vintage < FIRST_FORWARD_VINTAGE ? 'exPost' : 'exAnte';
    const tokenId = String(index + 1);
    const issuedOn =
      Date.UTC(Math.min(vintage + 1, 2023), 0, 10) + createRandom(seed, 'issue', index).below(150) * DAY_MS;
    return {
      id: `${type}-${tokenId}-${contract}`,
      project_id: row.id,
      token_id: tokenId,
      token_address: contract,
      serialization: `ICR-${country.alpha3}-${country.callingCode}-${row.num}-${kind.sector}-${kind.removal ? 'R' : 'A'}-0-${vintage}`,
      vintage: String(vintage),
      type,
      created_at: toInstant(issuedOn),
      projectName: row.full_name,
    };
  }

  function holdings(index: number): HoldingRow[] {
    const creditId = at(index).id;
    return placesOf(index, organizations.length).map(({ organization, place }, position) => ({
      organization_id: organizations[organization]?.id ?? '',
      place,
      credit_id: creditId,
      amount_micro: someMicro(seed, `holding ${position}`, index, 20_000),
    }));
  }

  const retirable = Array.from({ length: count }, (_, index) => index).filter(
    index => slotOf(index) < FIRST_FORWARD_VINTAGE,
  );
  return { count, retirable: shuffle(seed, Uint32Array.from(retirable)), at, holdings };
}

/** Four of five credits lie in a warehouse, most of all in the first organization's. */
function placesOf(index: number, organizations: number): { organization: number; place: Place }[] {
  const owner = index % 3 === 2 ? (1 + (index % 7)) % organizations : 0;
  const other = (owner + 1) % organizations;
  switch (index % 5) {
    case 0:
      return [
        { organization: owner, place: 'warehouse' },
        { organization: owner, place: 'inventory' },
      ];
    case 1:
      return [
        { organization: owner, place: 'warehouse' },
        { organization: other, place: 'inventory' },
      ];
    case 3:
      return [{ organization: owner, place: 'inventory' }];
    default:
      return [{ organization: owner, place: 'warehouse' }];
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
