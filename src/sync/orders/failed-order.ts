import type { Order, OrderEnd } from '../../inbox/order.js';
import type { OrganizationClient } from '../../registry/client-types.js';
import { RegistryError, type RegistryErrorCode } from '../../registry/errors.js';
import { toReadableText } from '../../resources/sql-values.js';
import { isObject } from '../../text/checks.js';

const UNREACHABLE: readonly RegistryErrorCode[] = ['unavailable', 'timeout', 'rate_limited', 'bad_answer'];

/** Returns how an order ended whose call failed. Throws an error that is not of the registry. */
export function describeFailedOrder(error: unknown): OrderEnd {
  if (!(error instanceof RegistryError)) throw error;
  if (error.mayHaveHappened || error.code === 'outcome_unknown')
    return { state: 'unknown', result: describeLostAnswer(error.candidates) };
  const answer = toReadableText(error.registryMessage ?? error.message) ?? error.code;
  const result = UNREACHABLE.includes(error.code)
    ? `The registry could not be reached (${answer}). Nothing was done. Order again later.`
    : `The registry refused: ${answer}. Nothing was done.`;
  return { state: 'refused', result };
}

/** Returns the sentence for an order whose answer was lost, with the ids of its possible results. */
export function describeLostAnswer(candidates: readonly unknown[]): string {
  const ids = candidates.flatMap(each => (isObject(each) ? String(each['id']) : []));
  const found = ids.length === 0 ? 'no result was found' : `possible results are ${ids.join(', ')}`;
  return `The answer was lost, and ${found}. Look at the registry. Nothing was sent again.`;
}

/** Returns a sentence with the amount that is left of a credit, or null if the registry does not say. */
export async function describeTooSmallCredit(
  organization: Pick<OrganizationClient, 'listWarehouse'>,
  { creditId, amount }: Pick<Order, 'creditId' | 'amount'>,
): Promise<string | null> {
  const available = await findAvailableAmount(organization, creditId);
  if (available === null) return null;
  return `Only ${available} t are available, and ${amount} t were ordered. Nothing was done.`;
}

/** Reads how many tonnes of a credit can be reserved: 0 if the warehouse does not list it. Null if it cannot be read. */
async function findAvailableAmount(
  { listWarehouse }: Pick<OrganizationClient, 'listWarehouse'>,
  creditId: string,
): Promise<string | null> {
  try {
    for await (const credit of listWarehouse()) if (credit.creditId === creditId) return credit.amount.exact;
    return '0';
  } catch (error) {
    if (error instanceof RegistryError) return null;
    throw error;
  }
}
