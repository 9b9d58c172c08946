import { readByName } from '../../../query/lists/find.js';
import type { OrganizationClient, RegistryClient } from '../../../registry/clients.js';
import { LISTS } from '../../../resources/lists.js';
import type { CommandContext } from '../../context.js';
import { createUsageError } from '../../exit.js';
import { findRowsByName, findInstallationOfOrganization } from '../../find/find-rows.js';

export interface Reached {
  readonly client: RegistryClient;
  readonly owner: OrganizationClient;
  readonly organizationId: string;
  readonly installationId: string;
}

/** The registry, as the app that is installed on an organization. */
export async function reach(context: CommandContext, named: string): Promise<Reached> {
  const client = await context.connectRegistry();
  const { id: installationId, organizationId } = await findInstallationOfOrganization(
    await context.openReader(),
    named,
  );
  const owner = client.organization(installationId, organizationId);
  return { client, owner, organizationId, installationId };
}

/** A credit by its id, or by a beginning that is unique in the organization's warehouse; else as it was named. */
export async function findCredit(
  context: CommandContext,
  named: string,
  organizationId: string,
): Promise<string> {
  const [reader, of] = [await context.openReader(), { organizationId }];
  const read = async (name: string) => await readByName(reader, LISTS.warehouse, name, of);
  const [found] = await findRowsByName(reader, LISTS.warehouse, named, read, of);
  return String(found?.['credit_id'] ?? named);
}

/** A reservation by its id, or by a beginning that the mirror knows; and whose it is, where that is not said. */
export async function findReservation(
  context: CommandContext,
  named: string,
  organization: string | undefined,
) {
  const reader = await context.openReader();
  const read = async (name: string) => await readByName(reader, LISTS.reservations, name);
  const known = await findRowsByName(reader, LISTS.reservations, named, read);
  const [row] = known;
  const owner = known.length === 1 ? String(row?.['organization_id']) : null;
  const whose = organization ?? owner;
  if (whose !== null) return { id: String(row?.['id'] ?? named), whose };
  throw createUsageError(
    `The mirror ${known.length === 0 ? 'does not know' : 'knows several organizations with'} "${named}".`,
    'Name its organization with --organization ID.',
  );
}
