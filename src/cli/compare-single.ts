import { createHash } from 'node:crypto';
import type { Client } from '../client.js';
import type { Sqlite } from '../engines/sqlite/open.js';
import type { Compared, Difference } from './compare-registry.js';

/** Something that stands at the registry by itself, and is asked for by its id. */
interface Single {
  readonly organization_id: string;
  readonly installation_id: string;
  readonly key: string;
  readonly kept: string;
}

interface Kind {
  readonly resource: string;
  /** Answers the columns of `Single`. */
  readonly sql: string;
  readonly ask: (client: Client, single: Single) => Promise<string>;
}

const ACTIVE = "SELECT organization_id, max(id) AS id FROM installations WHERE state = 'active' GROUP BY 1";

const INSTALLATIONS: Kind = {
  resource: 'installations',
  sql: `SELECT organization_id, id AS installation_id, id AS "key", document AS kept FROM installations
    WHERE state = 'active' ORDER BY id`,
  ask: async (client, { key }) => (await client.app.readInstallation(key)).document,
};

const PROJECTS: Kind = {
  resource: 'projects',
  sql: `SELECT min(r.organization_id) AS organization_id, i.id AS installation_id, p.id AS "key", p.document AS kept
    FROM projects AS p JOIN project_states AS s ON s.project_id = p.id AND s.state = 'readable'
    JOIN project_references AS r ON r.project_id = p.id JOIN (${ACTIVE}) AS i ON i.organization_id = r.organization_id
    GROUP BY p.id ORDER BY p.id`,
  ask: async (client, { key }) => (await client.token.readProject(key)).document,
};

const CERTIFICATES: Kind = {
  resource: 'certificates',
  sql: `SELECT c.organization_id, i.id AS installation_id, c.retirement_id AS "key", c.sha256 AS kept
    FROM certificates AS c JOIN (${ACTIVE}) AS i ON i.organization_id = c.organization_id
    WHERE c.state = 'stored' ORDER BY c.organization_id, c.retirement_id`,
  ask: async (client, { installation_id: id, organization_id: organizationId, key }) => {
    const { body } = await client.organization(id, organizationId).downloadCertificate(key);
    const hash = createHash('sha256');
    for await (const chunk of body) hash.update(chunk);
    return hash.digest('hex');
  },
};

export interface SinglesRequest {
  readonly db: Sqlite;
  readonly client: Client;
  /** Every stored certificate is fetched again. */
  readonly certificates: boolean;
  /** Throws where nobody waits any more. */
  readonly turn: () => void;
}

/** Installations and projects against the registry, document by document, and certificates byte by byte. */
export async function compareSingles(request: SinglesRequest): Promise<Compared> {
  const kinds = [INSTALLATIONS, PROJECTS, ...(request.certificates ? [CERTIFICATES] : [])];
  let rows = 0;
  const differences: Difference[] = [];
  for (const kind of kinds) {
    const singles = request.db.prepare<[], Single>(kind.sql).all();
    rows += singles.length;
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
  { db, client }: SinglesRequest,
  { sql, ask }: Kind,
  single: Single,
): Promise<Difference['difference'] | null> {
  const now = await ask(client, single).catch(goneOf);
  if (now === single.kept) return null;
  const again = db
    .prepare<[], Single>(sql)
    .all()
    .find(({ key }) => key === single.key);
  if (again === undefined || again.kept === now) return null;
  return now === null ? 'not at the registry' : 'changed';
}

function goneOf(error: unknown): null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'not_found' || code === 'installation_gone') return null;
  throw error;
}
