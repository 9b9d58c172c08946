import type { OrganizationClient, RegistryClient } from '../../../registry/clients.js';
import { connect } from '../../place/connect.js';
import { askToLook } from '../../place/inbox-writer.js';
import { type Io, say } from '../../io.js';
import { findInstalled } from '../../named/live.js';
import type { Place } from '../../place/place.js';

export interface Reached {
  readonly client: RegistryClient;
  readonly owner: OrganizationClient;
  readonly organization: string;
  readonly installationId: string;
}

/** The registry, as the app that is installed on an organization. */
export async function reachOrganization(io: Io, place: Place, named: string): Promise<Reached> {
  const client = await connect(place, io);
  const { installationId, organizationId: organization } = await findInstalled(client, named);
  const owner = client.organization(installationId, organization);
  return { client, owner, organization, installationId };
}

/**
 * Most of what an app does itself is followed by no webhook, so the mirror is told to look again.
 * The write has been done by now: whatever fails here must not make it look undone.
 */
export async function lookAgain(io: Io, place: Place, installationId: string): Promise<void> {
  if (place.engine.findMissing() !== null) return;
  try {
    await askToLook(place, installationId, io.now);
    say(io, 'The mirror follows as soon as a worker runs.');
  } catch (error) {
    say(io, `The mirror could not be told: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
