import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RegistryClient } from '../../../registry/clients.js';
import type { Reader } from '../../../engines/contract/reader.js';
import { isForgotten } from '../../../mirror/people.js';
import { readDocuments, readForgotten, readNotReadable, readReadable } from '../../../query/documents.js';
import type { Entry } from '../../../resources/entry.js';
import { isListResource, type ListResource, LISTS } from '../../../resources/lists.js';
import { SOURCES } from '../../../sync/sources.js';

export interface Difference {
  readonly organization_id: string;
  readonly resource: string;
  readonly key: string;
  readonly difference: 'changed' | 'not in the mirror' | 'not at the registry';
}

export interface Compared {
  readonly rows: number;
  readonly differences: readonly Difference[];
}

interface ComparedLists extends Compared {
  /** Of how many organizations any was read. */
  readonly organizations: number;
}

export interface NotCompared {
  readonly organization_id: string | null;
  readonly installation_id: string;
  readonly name: string | null;
  readonly resource: string;
  readonly state: string;
}

interface Target {
  readonly organization_id: string;
  readonly installation_id: string;
  readonly resource: ListResource;
}

/** A webhook, its read and the pace of reads take less: what changed meanwhile is in the mirror by then. */
const QUIET_MS = 2000;

/**
 * A fresh read of everything that active installations let us read, held against the mirror row by row.
 * What differs is read once more, so that a change on its way to the mirror is not taken for a fault.
 */
export async function compareWithRegistry(
  reader: Reader,
  client: RegistryClient,
  progress: (target: Target) => void,
): Promise<ComparedLists> {
  let rows = 0;
  const differing: { readonly target: Target; readonly before: ReadonlySet<string> }[] = [];
  const all = await targets(reader);
  for (const target of all) {
    progress(target);
    const first = await compare(reader, client, target);
    rows += first.rows;
    if (first.differences.length > 0)
      differing.push({ target, before: new Set(first.differences.map(name)) });
  }
  if (differing.length > 0) await sleep(QUIET_MS);
  const differences: Difference[] = [];
  for (const { target, before } of differing) {
    const again = await compare(reader, client, target);
    differences.push(...again.differences.filter(difference => before.has(name(difference))));
  }
  const organizations = new Set(all.map(({ organization_id: id }) => id)).size;
  return { rows, organizations, differences };
}

function name({ key, difference }: Difference): string {
  return `${difference}: ${key}`;
}

/** The lists that were left out, and why. */
export async function findNotCompared(reader: Reader): Promise<NotCompared[]> {
  const left = await readNotReadable(reader);
  return left.filter(({ resource }) => isListResource(resource) || resource === '*');
}

async function targets(reader: Reader): Promise<Target[]> {
  const readable = await readReadable(reader);
  return readable.flatMap(({ resource, ...whose }) =>
    isListResource(resource) ? [{ ...whose, resource }] : [],
  );
}

function compare(reader: Reader, client: RegistryClient, target: Target): Promise<Compared> {
  return compareList(reader, client, target.resource, target);
}

async function compareList<Name extends ListResource>(
  reader: Reader,
  client: RegistryClient,
  resource: Name,
  { organization_id: organizationId, installation_id: installationId }: Target,
): Promise<Compared> {
  const entry = LISTS[resource];
  const known = await readKnown(reader, entry, organizationId);
  const rows = known.size;
  const isMissed = await forgottenIn(reader);
  const differences: Difference[] = [];
  const add = (key: string, difference: Difference['difference']) =>
    differences.push({ organization_id: organizationId, resource, key, difference });
  const owner = client.organization(installationId, organizationId);
  for await (const { items } of SOURCES[resource].parts(owner, {})) {
    for (const item of items) {
      const key = entry.key.map(({ of }) => String(of(item))).join('/');
      const document = known.get(key);
      known.delete(key);
      if (document === undefined) {
        if (!isMissed(item.document)) add(key, 'not in the mirror');
      } else if (document !== digest(item.document)) add(key, 'changed');
    }
  }
  for (const key of known.keys()) add(key, 'not at the registry');
  return { rows, differences };
}

async function readKnown(reader: Reader, entry: Entry, id: string): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  for await (const row of readDocuments(reader, entry, id)) {
    const key = entry.key.map(({ name: column }) => String(row[column])).join('/');
    known.set(key, digest(String(row['document'])));
  }
  return known;
}

/** A few bytes instead of the row: a million of them fit into memory. */
function digest(document: string): string {
  return createHash('sha256').update(document).digest('base64').slice(0, 22);
}

/** A person who asked to be forgotten is missing on purpose. */
async function forgottenIn(reader: Reader): Promise<(document: string) => boolean> {
  const forgotten = await readForgotten(reader);
  return document => {
    if (forgotten.size === 0) return false;
    const person: unknown = JSON.parse(document);
    if (typeof person !== 'object' || person === null || !('email' in person)) return false;
    return isForgotten(forgotten, String(person.email));
  };
}
