import type { OrganizationClient } from '../client-types.js';
import { RegistryError } from '../errors.js';

/**
 * Reads how many tonnes of a credit the warehouse holds, as a decimal text. Returns null if the warehouse or the amount is
 * unreadable.
 */
export async function findAvailableAmount(
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
