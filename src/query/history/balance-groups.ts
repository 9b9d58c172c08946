/** Reads the rows of both balance views: rows that balance are added up, and each other row is a group of its own. */
import { sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { queryBuilder } from '../../store/sql/builder.js';
import type { BalanceReason, Micro } from './balance-reason.js';
import { buildOrganizationCondition } from '../read-one.js';

/** The amounts of a group, which are added up in sums. */
export const AMOUNTS = [
  'opening_micro',
  'risen_micro',
  'fallen_micro',
  'found_micro',
  'expected_micro',
  'difference_micro',
] as const;

export interface BalanceGroup extends Record<(typeof AMOUNTS)[number], Micro> {
  identity: 'retirements' | 'credits';
  /** The name of the sum that includes the group, such as `by month`. */
  sum: string;
  organization_id: string | null;
  /** The name of a row that does not balance, such as `month 2026-01`. Null for rows that balance. */
  what: string | null;
  /** The type of the credits: exPost or exAnte, which are never added together. */
  type: string | null;
  rows: number;
  /** When the list was first read completely, if the check has an opening amount. */
  opening_at: string | null;
  balanced: boolean;
  /** Null for rows that balance. */
  why: BalanceReason | null;
}

/** Selects the sum of an amount in two columns: whole tonnes and the remaining millionths, so that neither overflows. */
function selectSum<const Name extends string>(name: Name, amount = sql.ref<number | null>(name)) {
  return [
    sql<Micro>`sum(${amount} / 1000000)`.as(`${name}_tonnes`),
    sql<Micro>`sum(${amount} % 1000000)`.as(`${name}_rest`),
  ] as const;
}

/** Joins a sum of whole tonnes and a sum of the remaining millionths into one amount. Null if either is null. */
function joinParts(whole: Micro, rest: Micro): Micro {
  if (whole === null || rest === null) return null;
  const micro = BigInt(whole) * 1_000_000n + BigInt(rest);
  return Number.isSafeInteger(Number(micro)) ? Number(micro) : micro;
}

/**
 * Returns SQL for the value of a column in a row that does not balance, and NULL in others. Grouping by it gives each unbalanced
 * row a group of its own.
 */
function valueIfUnbalanced(column: string) {
  return sql<string | null>`CASE WHEN balanced = 0 THEN ${sql.ref(column)} END`;
}

/**
 * Streams the results of a check that computes each sum of retirements in two ways. There is a sum for each month, each beneficiary and
 * each state of certificates. Where both ways give the same result, the months (or beneficiaries, or states) of an organization are joined
 * to one group. A month, beneficiary or state with two different results is a group of its own. Sorted by organization and `sum`.
 */
export async function* readRetirementGroups(
  { stream }: Reader,
  organizationId: string | null,
): AsyncGenerator<BalanceGroup> {
  const groups = queryBuilder
    .selectFrom('mirror.balance_retirements')
    .select(['organization_id', 'reckoning', 'balanced', valueIfUnbalanced('value').as('unbalanced_value')])
    .select([sql<number>`sum(rows)`.as('rows'), sql<number>`sum(counted_rows)`.as('counted_rows')])
    .select([...selectSum('amount_micro'), ...selectSum('counted_micro'), ...selectSum('difference_micro')])
    .where(buildOrganizationCondition(organizationId))
    .groupBy(['organization_id', 'reckoning', 'balanced', valueIfUnbalanced('value')])
    .orderBy('organization_id')
    .orderBy('reckoning')
    .orderBy('unbalanced_value', order => order.asc().nullsFirst());
  for await (const group of stream(groups)) {
    const found = joinParts(group.amount_micro_tonnes, group.amount_micro_rest);
    const expected = joinParts(group.counted_micro_tonnes, group.counted_micro_rest);
    const balanced = group.balanced === 1;
    yield {
      identity: 'retirements',
      sum: `by ${group.reckoning}`,
      organization_id: group.organization_id,
      what: balanced ? null : `${group.reckoning} ${group.unbalanced_value || 'of none'}`,
      type: null,
      rows: group.rows,
      opening_at: null,
      opening_micro: null,
      risen_micro: null,
      fallen_micro: null,
      found_micro: found,
      expected_micro: expected,
      difference_micro: joinParts(group.difference_micro_tonnes, group.difference_micro_rest),
      balanced,
      why: balanced
        ? null
        : {
            code: 'counted_differently',
            listed_rows: group.rows,
            listed_micro: found,
            counted_rows: group.counted_rows,
            counted_micro: expected,
          },
    };
  }
}

/**
 * Streams sums of the credits whose listed amount equals their first amount plus increases minus decreases. Each credit with another amount
 * is a group of its own. Sorted by `place` (warehouse, inventory or reserved) and organization; ex-post credits come before ex-ante ones.
 */
export async function* readCreditGroups(
  { stream }: Reader,
  organizationId: string | null,
): AsyncGenerator<BalanceGroup> {
  /** The expected amount is the listed one without this. */
  const unexpected = sql<
    number | null
  >`CASE WHEN listed_micro IS NOT NULL THEN coalesce(difference_micro, 0) END`;
  const groups = queryBuilder
    .selectFrom('mirror.balance_credits')
    .select(['place', 'organization_id', 'type', 'balanced'])
    .select([
      valueIfUnbalanced('credit_id').as('unbalanced_id'),
      valueIfUnbalanced('part').as('unbalanced_part'),
    ])
    .select([sql<number>`count(*)`.as('rows'), sql<string>`min(opening_at)`.as('opening_at')])
    .select([...selectSum('opening_micro'), ...selectSum('risen_micro'), ...selectSum('fallen_micro')])
    .select([
      ...selectSum('listed_micro'),
      ...selectSum('difference_micro'),
      ...selectSum('unexpected', unexpected),
    ])
    .where(buildOrganizationCondition(organizationId))
    .groupBy(['place', 'organization_id', 'type', 'balanced'])
    .groupBy([valueIfUnbalanced('credit_id'), valueIfUnbalanced('part')])
    .orderBy('place')
    .orderBy('organization_id')
    .orderBy('type', order => order.desc().nullsLast())
    .orderBy('unbalanced_id', order => order.asc().nullsFirst())
    .orderBy('unbalanced_part', order => order.asc().nullsFirst());
  for await (const group of stream(groups)) {
    const opening = joinParts(group.opening_micro_tonnes, group.opening_micro_rest);
    const risen = joinParts(group.risen_micro_tonnes, group.risen_micro_rest);
    const fallen = joinParts(group.fallen_micro_tonnes, group.fallen_micro_rest);
    const found = joinParts(group.listed_micro_tonnes, group.listed_micro_rest);
    const balanced = group.balanced === 1;
    yield {
      identity: 'credits',
      sum: group.place,
      organization_id: group.organization_id,
      what: balanced ? null : `${group.place} ${group.unbalanced_id}`,
      type: group.type,
      rows: group.rows,
      opening_at: group.opening_at,
      opening_micro: opening,
      risen_micro: risen,
      fallen_micro: fallen,
      found_micro: found,
      expected_micro: subtractAmount(found, joinParts(group.unexpected_tonnes, group.unexpected_rest)),
      difference_micro: joinParts(group.difference_micro_tonnes, group.difference_micro_rest),
      balanced,
      why: balanced
        ? null
        : {
            code: 'moved_differently',
            opening_micro: opening,
            risen_micro: risen,
            fallen_micro: fallen,
            listed_micro: found,
          },
    };
  }
}

/** Subtracts an amount from another. Null on either side subtracts nothing. */
function subtractAmount(one: Micro, other: Micro): Micro {
  return one === null || other === null ? one : BigInt(one) - BigInt(other);
}
