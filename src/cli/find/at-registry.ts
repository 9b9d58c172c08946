import type { RegistryClient } from '../../registry/clients.js';
import { RegistryError } from '../../registry/errors.js';
import { type Installation, isId } from '../../registry/model.js';
import { choose, type Sought } from './choose.js';

const ORGANIZATION: Sought = {
  what: 'organization',
  where: 'among those that installed the app at the registry',
  advice: 'See "carbon-mirror api GET /app/installations --as jwt" for all of them.',
};

const INSTALLATION: Sought = {
  what: 'installation',
  where: 'of the app at the registry',
  advice: 'See "carbon-mirror api GET /app/installations --as jwt" for all of them.',
};

export interface Installed {
  readonly organizationId: string;
  readonly installationId: string;
}

/** An organization and the app's installation on it. An id is asked for; for a name all of them are listed. */
export async function findInstalled(client: RegistryClient, text: string): Promise<Installed> {
  const known = isId(text) ? await unlessUnknown(client.app.readInstallationOf(text)) : null;
  if (known !== null) return { organizationId: text, installationId: known.id };
  const installations = await listInstallations(client);
  const owners = installations.flatMap(({ organizationId, organization }) =>
    organizationId === null ? [] : [{ id: organizationId, name: organization?.fullName ?? null }],
  );
  const organizationId = choose(text, owners, ORGANIZATION);
  const { id: installationId } = await client.app.readInstallationOf(organizationId);
  return { organizationId, installationId };
}

export async function findInstallation(client: RegistryClient, text: string): Promise<Installation> {
  const known = isId(text) ? await unlessUnknown(client.app.readInstallation(text)) : null;
  if (known !== null) return known;
  const installations = await listInstallations(client);
  const names = installations.map(({ id, organization }) => ({ id, name: organization?.fullName ?? null }));
  return await client.app.readInstallation(choose(text, names, INSTALLATION));
}

async function listInstallations(client: RegistryClient): Promise<Installation[]> {
  const all: Installation[] = [];
  for await (const { items } of client.app.listInstallations()) all.push(...items);
  return all;
}

async function unlessUnknown(asked: Promise<Installation>): Promise<Installation | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return null;
    throw error;
  }
}
