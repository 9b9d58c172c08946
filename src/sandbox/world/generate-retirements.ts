import type { AppRecord, OrganizationRecord, RetirementRecord, RetirementDetails } from '../store/records.js';
import type { CreditGenerator } from './generate-credits.js';
import { pickCompanyName } from './generate-organizations.js';
import { toInstant } from '../store/clock.js';
import { pickHistoryTime, pickAmountMicro, type CompleteWorldSpec } from './world-size.js';
import { createRandom, type Random } from './seeded-random.js';
import { COMMENTS, COMPANY_TRADES, REASONS } from './name-lists.js';

/**
 * The index of the organization that makes each retirement, by its number. Half of all retirements are the first
 * organization's.
 */
const ORGANIZATION_PATTERN = [0, 1, 0, 2, 0, 1, 0, 3, 0, 2] as const;
/** One retirement in this many is unclaimed. */
const UNCLAIMED_EVERY = 29;
/** One retirement in this many was made by an app. */
const BY_APP_EVERY = 6;
const MAX_TONNES = 400;

export type RetirementGenerator = ReturnType<typeof createRetirementGenerator>;

/** Creates the generator of retirements. Any retirement can be generated from its number alone, which saves memory. */
export function createRetirementGenerator(
  spec: CompleteWorldSpec,
  credits: CreditGenerator,
  organizations: readonly OrganizationRecord[],
  apps: readonly AppRecord[],
) {
  const { seed, retirements: count } = spec;
  const { retirable } = credits;
  /** Where each credit is in `retirable`. Retirements take these credits in turn. */
  const positions = new Map(Array.from(retirable, (creditIndex, position) => [creditIndex, position]));

  /** Chooses which organization made the retirement with this number. Returns the organization's id. */
  function chooseOrganizationId(retirementNumber: number): string {
    const position =
      organizations.length > 4 ? retirementNumber : (ORGANIZATION_PATTERN[retirementNumber % 10] ?? 0);
    return organizations[position % organizations.length]?.id ?? '';
  }

  /** Computed once, because each amount is needed for the retirement and for the issued amount of its credit. */
  const amounts = Float64Array.from({ length: count }, (_, number) =>
    pickAmountMicro(seed, 'retirement', number, MAX_TONNES),
  );

  /** Generates the retirement with this number. */
  function generateRetirement(retirementNumber: number): RetirementRecord {
    const random = createRandom(seed, 'retirement', retirementNumber);
    const credit = retirable[retirementNumber % retirable.length] ?? 0;
    return {
      id: random.uuid(),
      organizationId: chooseOrganizationId(retirementNumber),
      creditId: credits.getCreditId(credit),
      amountMicro: amounts[retirementNumber] ?? 0,
      projectName: credits.getProjectName(credit),
      createdAt: toInstant(pickHistoryTime(seed, 'retirement', retirementNumber, count)),
      appId: isByApp(retirementNumber) ? (apps[0]?.id ?? null) : null,
      details: isUnclaimed(retirementNumber) ? null : pickRetirementDetails(seed, retirementNumber, random),
    };
  }

  /** Yields all retirements, oldest first. */
  function* generateAllRetirements(): Iterable<RetirementRecord> {
    for (let number = 0; number < count; number++) yield generateRetirement(number);
  }

  return {
    count,
    generateRetirement,
    generateAllRetirements,
    /** Returns how much of a credit was retired, in millionths of a tonne. */
    sumRetiredMicro(creditIndex: number): number {
      const position = positions.get(creditIndex) ?? count;
      let sum = 0;
      for (let number = position; number < count; number += retirable.length) sum += amounts[number] ?? 0;
      return sum;
    },
    /** Returns the numbers of the latest retirements by apps, newest first. A number identifies a retirement. */
    listAppRetirementNumbers(limit: number): number[] {
      const numbers: number[] = [];
      for (let number = count - 1; number >= 0 && numbers.length < limit; number--) {
        if (isByApp(number)) numbers.push(number);
      }
      return numbers;
    },
  };
}

/** Picks a random beneficiary, reason and comment for a retirement. */
function pickRetirementDetails(seed: number, retirementNumber: number, random: Random): RetirementDetails {
  return {
    beneficiary: pickCompanyName(seed, 'beneficiary', retirementNumber, COMPANY_TRADES),
    reason: random.pick(REASONS),
    comment: random.below(3) === 0 ? null : random.pick(COMMENTS),
  };
}

/** Returns whether the retirement with this number has no beneficiary. */
function isUnclaimed(retirementNumber: number): boolean {
  return retirementNumber % UNCLAIMED_EVERY === UNCLAIMED_EVERY - 1;
}

/** Returns whether an app made the retirement with this number. */
function isByApp(retirementNumber: number): boolean {
  return retirementNumber % BY_APP_EVERY === 3 && !isUnclaimed(retirementNumber);
}
