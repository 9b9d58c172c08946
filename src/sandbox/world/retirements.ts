import type { AppRow, OrganizationRow, RetirementRow, RetirementWords } from '../store/rows.js';
import type { CreditPlan } from './credits.js';
import { companyName } from './organizations.js';
import { toInstant } from '../store/clock.js';
import { historyAt, someMicro, type WorldSize } from './plan.js';
import { createRandom, type Random } from './random.js';
import { COMMENTS, COMPANY_TRADES, REASONS } from './words.js';

/** Half of all retirements are the first organization's. */
const ORGANIZATION_PATTERN = [0, 1, 0, 2, 0, 1, 0, 3, 0, 2] as const;
const UNCLAIMED_EVERY = 29;
const BY_APP_EVERY = 6;
const MAX_TONNES = 400;

export type RetirementPlan = ReturnType<typeof planRetirements>;

export function planRetirements(
  size: WorldSize,
  credits: CreditPlan,
  organizations: readonly OrganizationRow[],
  apps: readonly AppRow[],
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
    someMicro(seed, 'retirement', number, MAX_TONNES),
  );

  function at(number: number): RetirementRow {
    const random = createRandom(seed, 'retirement', number);
    const credit = retirable[number % retirable.length] ?? 0;
    return {
      id: random.uuid(),
      organizationId: organizationOf(number),
      creditId: credits.idOf(credit),
      amountMicro: amounts[number] ?? 0,
      projectName: credits.projectNameOf(credit),
      createdAt: toInstant(historyAt(seed, 'retirement', number, count)),
      appId: isByApp(number) ? (apps[0]?.id ?? null) : null,
      words: isUnclaimed(number) ? null : wordsOf(seed, number, random),
    };
  }

  function* rows(): Iterable<RetirementRow> {
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

function wordsOf(seed: number, number: number, random: Random): RetirementWords {
  return {
    beneficiary: companyName(seed, 'beneficiary', number, COMPANY_TRADES),
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
