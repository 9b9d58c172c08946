import type { OrganizationClient } from '../client-types.js';
import { RegistryError } from '../errors.js';

/** Reads how many tonnes of a credit can be reserved: 0 if the warehouse does not list it. Null if it cannot be read. */
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
