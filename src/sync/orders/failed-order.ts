import type { Order, OrderEnd } from '../../inbox/order.js';
import type { OrganizationClient } from '../../registry/client-types.js';
import { RegistryError, type RegistryErrorCode } from '../../registry/errors.js';
import { findAvailableAmount } from '../../registry/writes/available-amount.js';
import { toReadableText } from '../../resources/sql-values.js';
import { isObject } from '../../text/checks.js';

const UNREACHABLE: readonly RegistryErrorCode[] = ['unavailable', 'timeout', 'rate_limited', 'bad_answer'];

/**
 * Converts an error of the registry to the result (`OrderEnd`) of the order whose request failed. The state is `unknown` if the
 * order may have been executed, otherwise `refused`. Rethrows any other error.
 */
export function toFailedOrderEnd(error: unknown): OrderEnd {
  if (!(error instanceof RegistryError)) throw error;
  if (error.mayHaveHappened || error.code === 'outcome_unknown')
    return { state: 'unknown', result: describeLostAnswer(error.candidates) };
  const answer = toReadableText(error.registryMessage ?? error.message) ?? error.code;
  const result = UNREACHABLE.includes(error.code)
    ? `The registry could not be reached (${answer}). Nothing was done. Order again later.`
    : `The registry refused: ${answer}. Nothing was done.`;
  return { state: 'refused', result };
}

/**
 * Explains to a person that the answer to an order was lost. Lists the ids of `candidates`, of which one may be the result of the
 * order.
 */
export function describeLostAnswer(candidates: readonly unknown[]): string {
  const ids = candidates.flatMap(each => (isObject(each) ? String(each['id']) : []));
  const found = ids.length === 0 ? 'no result was found' : `possible results are ${ids.join(', ')}`;
  return `The answer was lost, and ${found}. Look at the registry. Nothing was sent again.`;
}

/** Explains to a person how much of a credit is left for an order. Null if the registry does not say. */
export async function describeTooSmallCredit(
  organization: Pick<OrganizationClient, 'listWarehouse'>,
  { creditId, amount }: Pick<Order, 'creditId' | 'amount'>,
): Promise<string | null> {
  const available = await findAvailableAmount(organization, creditId);
  if (available === null) return null;
  if (available === '0') return 'The organization no longer offers this credit. Nothing was done.';
  return `Only ${available} t are available, and ${amount} t were ordered. Nothing was done.`;
}
