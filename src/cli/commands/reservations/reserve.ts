import { RegistryError } from '../../../registry/errors.js';
import type { Reservation } from '../../../registry/object-models.js';
import { findAvailableAmount } from '../../../registry/writes/available-amount.js';
import { parseTypedAmount } from '../../../text/tonnes.js';
import { createCheckError, createNotFoundError, createUsageError } from '../../command-error.js';
import type { OrganizationAccess } from './find-targets.js';

/** Parses the amount of `--amount`. Throws a usage error that says what to write instead. */
export function parseAmount(text: string): string {
  const typed = parseTypedAmount(text);
  if ('fault' in typed) throw createUsageError(`--amount: ${typed.fault}`);
  return typed.amount;
}

/** Reserves credits. If the registry refuses, the error says how much is left, or where the credits are listed. */
export async function reserveCredits(
  { organization, organizationId }: OrganizationAccess,
  request: { readonly creditId: string; readonly amount: string },
): Promise<Reservation> {
  const { creditId, amount } = request;
  const advice = `List what it offers with "carbon-mirror warehouse list --organization ${organizationId}".`;
  try {
    return await organization.reserve(request);
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    if (error.code === 'not_found')
      throw createNotFoundError(`The registry knows no credit "${creditId}".`, advice);
    const available = error.code === 'conflict' ? await findAvailableAmount(organization, creditId) : null;
    if (available === null) throw error;
    if (available === '0')
      throw createNotFoundError(`The organization does not offer the credit "${creditId}".`, advice);
    throw createCheckError(`Only ${available} t are available, and ${amount} t were asked for.`, advice);
  }
}
