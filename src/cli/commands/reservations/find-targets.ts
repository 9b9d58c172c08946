import { readRowsById } from '../../../query/lists/find-by-id.js';
import type { OrganizationClient, RegistryClient } from '../../../registry/client-types.js';
import { LISTS } from '../../../resources/lists.js';
import type { CommandContext } from '../../context.js';
import { createUsageError } from '../../command-error.js';
import { findInstallationOfOrganization, findRowsByName } from '../../find-rows.js';

/** The registry as the app may use it for one organization. */
export interface OrganizationAccess {
  readonly registry: RegistryClient;
  readonly organization: OrganizationClient;
  readonly organizationId: string;
  readonly installationId: string;
}

/** Finds an organization by name or id and creates registry clients for it. */
export async function connectToOrganization(
  context: CommandContext,
  nameOrId: string,
): Promise<OrganizationAccess> {
  const registry = await context.connectRegistry();
  const reader = await context.openReader();
  const { id: installationId, organizationId } = await findInstallationOfOrganization(reader, nameOrId);
  const organization = registry.organization(installationId, organizationId);
  return { registry, organization, organizationId, installationId };
}

/**
 * Returns the full id of the credit whose id begins with `text`, from the warehouse of the organization. Returns `text` unchanged if the
 * warehouse has no such credit. Throws if several credits match.
 */
export async function findCreditId(
  context: CommandContext,
  text: string,
  organizationId: string,
): Promise<string> {
  const reader = await context.openReader();
  const owner = { organizationId };
  const read = async (id: string) => await readRowsById(reader, LISTS.warehouse, id, owner);
  const [credit] = await findRowsByName(reader, LISTS.warehouse, text, read, owner);
  return String(credit?.['credit_id'] ?? text);
}

/** Completes a shortened reservation id and finds the organization of the reservation. */
export async function findReservation(
  context: CommandContext,
  text: string,
  organization: string | undefined,
) {
  const reader = await context.openReader();
  const read = async (id: string) => await readRowsById(reader, LISTS.reservations, id);
  const rows = await findRowsByName(reader, LISTS.reservations, text, read);
  const [row] = rows;
  const knownOwner = rows.length === 1 ? String(row?.['organization_id']) : null;
  const owner = organization ?? knownOwner;
  if (owner !== null) return { id: String(row?.['id'] ?? text), organization: owner };
  throw createUsageError(
    `The mirror ${rows.length === 0 ? 'does not know' : 'knows several organizations with'} "${text}".`,
    'Name its organization with --organization ID.',
  );
}
