import { readByName } from '../../../query/lists/find.js';
import type { OrganizationClient, RegistryClient } from '../../../registry/clients.js';
import type { Entry } from '../../../resources/entry.js';
import { LISTS } from '../../../resources/lists.js';
import type { Context } from '../../context.js';
import { usageFault } from '../../exit.js';
import { findInstalled } from '../../find/at-registry.js';
import { wholeName } from '../../find/in-mirror.js';

export interface Reached {
  readonly client: RegistryClient;
  readonly owner: OrganizationClient;
  readonly organization: string;
  readonly installationId: string;
}

/** The registry, as the app that is installed on an organization. */
export async function reach(context: Context, named: string): Promise<Reached> {
  const client = await context.client();
  const { installationId, organizationId: organization } = await findInstalled(client, named);
  return { client, owner: client.organization(installationId, organization), organization, installationId };
}

/** A credit by its id, or by a beginning that is unique in the organization's list as the mirror knows it; else as it was named. */
export async function findCredit(
  context: Context,
  list: Entry,
  named: string,
  organizationId: string,
): Promise<string> {
  if (!hasMirror(context)) return named;
  const reader = await context.reader();
  const exact = await readByName(reader, list, named, { organizationId });
  return exact.length > 0 ? named : ((await wholeName(reader, list, named, { organizationId })) ?? named);
}

/** The reservation as it is now, so that a person is asked about what will really happen. */
export async function reachReservation(context: Context, id: string, organization: string | undefined) {
  const reached = await reach(context, organization ?? (await findOwner(context, id)));
  return { ...reached, reservation: await reached.owner.readReservation(id) };
}

/** The organization that a reservation belongs to, by its id in the mirror. */
async function findOwner(context: Context, id: string): Promise<string> {
  const known = hasMirror(context) ? await readByName(await context.reader(), LISTS.reservations, id) : [];
  const [owner] = known;
  if (owner !== undefined && known.length === 1) return String(owner['organization_id']);
  throw usageFault(
    `The mirror ${known.length === 0 ? 'does not know' : 'knows more than one organization with'} "${id}".`,
    'Say whose it is with --organization ID.',
  );
}

function hasMirror({ settings }: Context): boolean {
  return settings().engine.findMissing() === null;
}
