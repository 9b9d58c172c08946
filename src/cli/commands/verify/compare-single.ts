import { createHash } from 'node:crypto';
import type { RegistryClient } from '../../../registry/clients.js';
import type { Reader } from '../../../engines/contract/reader.js';
import { readCertificates, readInstallations, readProjects, type Single } from '../../../query/singles.js';
import type { Compared, Difference } from './compare-registry.js';

interface Kind {
  readonly resource: string;
  readonly read: (reader: Reader) => Promise<Single[]>;
  readonly ask: (client: RegistryClient, single: Single) => Promise<string>;
}

const INSTALLATIONS: Kind = {
  resource: 'installations',
  read: readInstallations,
  ask: async (client, { key }) => {
    const { document } = await client.app.readInstallation(key);
    return `${await stateOf(client, key)} ${document}`;
  },
};

/** No answer shows a state: one that is refused a token is suspended. */
async function stateOf(client: RegistryClient, id: string): Promise<'active' | 'suspended'> {
  try {
    await client.app.createInstallationToken(id);
    return 'active';
  } catch (error) {
    if (codeOf(error) === 'forbidden') return 'suspended';
    throw error;
  }
}

const PROJECTS: Kind = {
  resource: 'projects',
  read: readProjects,
  ask: async (client, { key }) => (await client.token.readProject(key)).document,
};

const CERTIFICATES: Kind = {
  resource: 'certificates',
  read: readCertificates,
  ask: async (client, { installation_id: id, organization_id: organizationId, key }) => {
    const { body } = await client.organization(id, organizationId).downloadCertificate(key);
    const hash = createHash('sha256');
    for await (const chunk of body) hash.update(chunk);
    return hash.digest('hex');
  },
};

export interface SinglesRequest {
  readonly reader: Reader;
  readonly client: RegistryClient;
  /** Every certificate is asked for again. */
  readonly certificates: boolean;
  /** Throws where nobody waits any more. */
  readonly turn: () => void;
}

/** Installations, with their states, and projects against the registry, document by document, and certificates byte by byte. */
export async function compareSingles(request: SinglesRequest): Promise<Compared> {
  const kinds = [INSTALLATIONS, PROJECTS, ...(request.certificates ? [CERTIFICATES] : [])];
  let rows = 0;
  const differences: Difference[] = [];
  for (const kind of kinds) {
    const singles = await kind.read(request.reader);
    rows += singles.filter(({ kept }) => kept !== null).length;
    for (const single of singles) {
      request.turn();
      const difference = await compare(request, kind, single);
      if (difference !== null) {
        const { organization_id: organizationId, key } = single;
        differences.push({ organization_id: organizationId, resource: kind.resource, key, difference });
      }
    }
  }
  return { rows, differences };
}

/** What differs is looked up again: it may just have been written. */
async function compare(
  { reader, client }: SinglesRequest,
  { read, ask }: Kind,
  single: Single,
): Promise<Difference['difference'] | null> {
  const now = await ask(client, single).catch(goneOf);
  if (now === single.kept) return null;
  const again = (await read(reader)).find(({ key }) => key === single.key);
  if (again === undefined || again.kept === now) return null;
  if (now === null) return 'not at the registry';
  return single.kept === null ? 'not in the mirror' : 'changed';
}

function goneOf(error: unknown): null {
  const code = codeOf(error);
  if (code === 'not_found' || code === 'installation_gone') return null;
  throw error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null;
}
