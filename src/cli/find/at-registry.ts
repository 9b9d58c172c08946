import type { RegistryClient } from '../../registry/clients.js';
import { RegistryError } from '../../registry/errors.js';
import { type Installation, isId } from '../../registry/model.js';
import { choose, type Named, type Sought } from './choose.js';

const advice = 'See "carbon-mirror api GET /app/installations --as jwt" for all of them.';
const ORGANIZATION: Sought = {
  what: 'organization',
  where: 'among those that installed the app at the registry',
  advice,
};
const INSTALLATION: Sought = { what: 'installation', where: 'of the app at the registry', advice };

export interface Installed {
  readonly organizationId: string;
  readonly installationId: string;
}

/** An organization and the app's installation on it. */
export async function findInstalled(client: RegistryClient, text: string): Promise<Installed> {
  const read = (id: string) => client.app.readInstallationOf(id);
  const [organizationId, { id }] = await find(client, text, ORGANIZATION, each => each.organizationId, read);
  return { organizationId, installationId: id };
}

export async function findInstallation(client: RegistryClient, text: string): Promise<Installation> {
  const read = (id: string) => client.app.readInstallation(id);
  const [, installation] = await find(client, text, INSTALLATION, each => each.id, read);
  return installation;
}

/** An id is asked for; for a name all of them are listed. */
async function find(
  client: RegistryClient,
  text: string,
  sought: Sought,
  idOf: (installation: Installation) => string | null,
  read: (id: string) => Promise<Installation>,
): Promise<readonly [id: string, Installation]> {
  const known = isId(text) ? await unlessUnknown(read(text)) : null;
  if (known !== null) return [text, known];
  const names: Named[] = [];
  for await (const { items } of client.app.listInstallations())
    for (const each of items) {
      const id = idOf(each);
      if (id !== null) names.push({ id, name: each.organization?.fullName ?? null });
    }
  const id = choose(text, names, sought);
  return [id, await read(id)];
}

async function unlessUnknown(asked: Promise<Installation>): Promise<Installation | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return null;
    throw error;
  }
}
