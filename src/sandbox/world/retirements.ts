import type { AppRecord, OrganizationRecord, RetirementRecord, RetirementDetails } from '../store/records.js';
import type { CreditGenerator } from './credits.js';
import { pickCompanyName } from './organizations.js';
import { toInstant } from '../store/clock.js';
import { pickHistoryTime, pickAmountMicro, type WorldSize } from './world-size.js';
import { createRandom, type Random } from './random.js';
import { COMMENTS, COMPANY_TRADES, REASONS } from './name-lists.js';

/** Half of all retirements are the first organization's. */
const ORGANIZATION_PATTERN = [0, 1, 0, 2, 0, 1, 0, 3, 0, 2] as const;
const UNCLAIMED_EVERY = 29;
const BY_APP_EVERY = 6;
const MAX_TONNES = 400;

export type RetirementGenerator = ReturnType<typeof createRetirementGenerator>;

export function createRetirementGenerator(
  size: WorldSize,
  credits: CreditGenerator,
  organizations: readonly OrganizationRecord[],
  apps: readonly AppRecord[],
) {
  const { seed, retirements: count } = size;
  const { retirable } = credits;
  const positions = new Map(Array.from(retirable, (creditIndex, position) => [creditIndex, position]));

  function organizationOf(number: number): string {
    const pattern = organizations.length > 4 ? number : (ORGANIZATION_PATTERN[number % 10] ?? 0);
    return organizations[pattern % organizations.length]?.id ?? '';
  }

  /** Each is asked for twice: of its row, and of what its credit was issued in. */
  const amounts = Float64Array.from({ length: count }, (_, number) =>
    pickAmountMicro(seed, 'retirement', number, MAX_TONNES),
  );

  function at(number: number): RetirementRecord {
    const random = createRandom(seed, 'retirement', number);
    const credit = retirable[number % retirable.length] ?? 0;
    return {
      id: random.uuid(),
      organizationId: organizationOf(number),
      creditId: credits.idOf(credit),
      amountMicro: amounts[number] ?? 0,
      projectName: credits.projectNameOf(credit),
      createdAt: toInstant(pickHistoryTime(seed, 'retirement', number, count)),
      appId: isByApp(number) ? (apps[0]?.id ?? null) : null,
      details: isUnclaimed(number) ? null : wordsOf(seed, number, random),
    };
  }

  function* rows(): Iterable<RetirementRecord> {
    for (let number = 0; number < count; number++) yield at(number);
  }

  return {
    count,
    at,
    rows,
    /** What was retired of one credit, in millionths. */
    microOf(creditIndex: number): number {
      const position = positions.get(creditIndex) ?? count;
      let sum = 0;
      for (let number = position; number < count; number += retirable.length) sum += amounts[number] ?? 0;
      return sum;
    },
    /** The numbers of the last retirements that an app made, newest first. */
    lastByApps(limit: number): number[] {
      const numbers: number[] = [];
      for (let number = count - 1; number >= 0 && numbers.length < limit; number--) {
        if (isByApp(number)) numbers.push(number);
      }
      return numbers;
    },
  };
}

function wordsOf(seed: number, number: number, random: Random): RetirementDetails {
  return {
    beneficiary: pickCompanyName(seed, 'beneficiary', number, COMPANY_TRADES),
    reason: random.pick(REASONS),
    comment: random.below(3) === 0 ? null : random.pick(COMMENTS),
  };
}

function isUnclaimed(number: number): boolean {
  return number % UNCLAIMED_EVERY === UNCLAIMED_EVERY - 1;
}

function isByApp(number: number): boolean {
  return number % BY_APP_EVERY === 3 && !isUnclaimed(number);
}
