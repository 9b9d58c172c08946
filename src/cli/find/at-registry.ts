import type { RegistryClient } from '../../registry/clients.js';
import { RegistryError } from '../../registry/errors.js';
import { type Installation, isId } from '../../registry/model.js';
import { choose, type Named, type Sought } from './choose.js';

const ORGANIZATION: Sought = {
  what: 'organization',
  where: 'among those that installed the app at the registry',
  advice: 'See "carbon-mirror organizations list"; "carbon-mirror sync" looks for new installations.',
};

export interface Installed {
  readonly organizationId: string;
  readonly installationId: string;
}

/** An organization and the app's installation on it. An id is asked for; for a name all of them are listed. */
export async function findInstalled({ app }: RegistryClient, text: string): Promise<Installed> {
  const known = isId(text) ? await unlessUnknown(app.readInstallationOf(text)) : null;
  if (known !== null) return { organizationId: text, installationId: known.id };
  const names: Named[] = [];
  for await (const { items } of app.listInstallations())
    for (const { organizationId: id, organization } of items)
      if (id !== null) names.push({ id, name: organization?.fullName ?? null });
  const organizationId = choose(text, names, ORGANIZATION);
  return { organizationId, installationId: (await app.readInstallationOf(organizationId)).id };
}

async function unlessUnknown(asked: Promise<Installation>): Promise<Installation | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return null;
    throw error;
  }
}
