import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reader } from '../../../store/contract/reader.js';
import { isForgotten } from '../../../mirror/forgotten-people.js';
import {
  readDocuments,
  readInstallations,
  readProjects,
  readComparableLists,
  type ComparedObject,
} from '../../../query/at-registry.js';
import { readForgotten } from '../../../query/people.js';
import type { OrganizationClient, RegistryClient } from '../../../registry/client-types.js';
import type { UnreadableRow } from '../../../registry/read-types.js';
import type { ResourceEntry } from '../../../resources/entry.js';
import { isListResource, type ListResource, LISTS } from '../../../resources/lists.js';
import { SOURCES } from '../../../sync/list-sources.js';

/** A row that differs: its list, its key, and how it differs. */
type RegistryDifference = Readonly<Record<'check' | 'where' | 'fault', string>>;

/** The two sides of the comparison, and a listener for its progress. */
interface ComparisonOptions {
  readonly reader: Reader;
  readonly client: RegistryClient;
  /** The organization whose rows are compared. Null compares those of all organizations. */
  readonly organizationId: string | null;
  /** Called before each comparison. It may throw to end the whole comparison. */
  readonly onNext: (comparison: Comparison) => void;
}

/** Contents by key. A content is a digest, or a text short enough to compare. */
type MirrorContents = ReadonlyMap<string, string>;

/** A row at the registry: its key and its content, or why it could not be read. */
type RegistryContent = readonly [key: string, content: string | UnreadableRow];

/** A list of one organization, or a single object, that is compared between the mirror and the registry. */
interface Comparison {
  readonly name: string;
  readonly organization_id: string;
  readonly resource: string;
  readonly readMirror: () => Promise<MirrorContents>;
  readonly readRegistry: (mirror: MirrorContents) => AsyncIterable<RegistryContent>;
}

/** The wait before a second comparison. By then a change that a webhook announced is in the mirror. */
const RECHECK_DELAY_MS = 2000;

/** Compares the mirror with the registry twice, and returns the differences that both comparisons found. */
export async function compareWithRegistry(options: ComparisonOptions) {
  const first = await runComparisons(options, () => true);
  const { faults } = first;
  if (faults.length === 0) return first;
  /** A change may have been on its way to the mirror during the first comparison. */
  await sleep(RECHECK_DELAY_MS);
  const second = await runComparisons(options, ({ name }) => faults.some(({ check }) => check === name));
  const firstFaults = new Set(faults.map(fault => JSON.stringify(fault)));
  return { ...first, faults: second.faults.filter(fault => firstFaults.has(JSON.stringify(fault))) };
}

/** Runs each comparison that `isSelected` accepts. Returns the differences and the numbers of compared rows and organizations. */
async function runComparisons(options: ComparisonOptions, isSelected: (comparison: Comparison) => boolean) {
  let rows = 0;
  /** The organizations of which at least one list was compared. */
  const organizations = new Set<string>();
  const faults: RegistryDifference[] = [];
  for await (const comparison of createComparisons(options)) {
    if (!isSelected(comparison)) continue;
    options.onNext(comparison);
    const mirror = await comparison.readMirror();
    rows += mirror.size;
    if (isListResource(comparison.resource)) organizations.add(comparison.organization_id);
    for await (const difference of findDifferences(comparison, mirror)) faults.push(difference);
  }
  return { rows, organizations: organizations.size, faults };
}

/** Yields the rows of a list or object that differ between mirror and registry. */
async function* findDifferences(
  comparison: Comparison,
  mirror: MirrorContents,
): AsyncGenerator<RegistryDifference> {
  const { name: check } = comparison;
  const missingKeys = new Set(mirror.keys());
  for await (const [key, content] of comparison.readRegistry(mirror)) {
    missingKeys.delete(key);
    const mirrored = mirror.get(key);
    if (typeof content !== 'string')
      yield { check, where: key, fault: `unreadable at the registry: ${content.error.message}` };
    else if (mirrored !== content)
      yield { check, where: key, fault: mirrored === undefined ? 'not in the mirror' : 'changed' };
  }
  for (const key of missingKeys) yield { check, where: key, fault: 'not at the registry' };
}

/** Yields a comparison for each list that the app may read, each installation and each project of the chosen organizations. */
async function* createComparisons({
  reader,
  client,
  organizationId,
}: ComparisonOptions): AsyncGenerator<Comparison> {
  const forgottenEmailHashes = await readForgotten(reader);
  for (const { resource, organization_id, installation_id } of await readComparableLists(
    reader,
    organizationId,
  )) {
    if (!isListResource(resource)) continue;
    const organization = client.organization(installation_id, organization_id);
    yield createListComparison(resource, {
      organizationId: organization_id,
      reader,
      organization,
      forgottenEmailHashes,
    });
  }
  for (const [resource, source] of Object.entries(OBJECT_SOURCES))
    for (const mirrored of await source.readMirror(reader, organizationId))
      yield createSingleObjectComparison(resource, mirrored, () => source.readRegistry(client, mirrored.key));
}

/** Where to read one list in the mirror and at the registry. */
interface ListComparisonInput {
  readonly organizationId: string;
  readonly reader: Reader;
  readonly organization: OrganizationClient;
  /** Hashed e-mail addresses of people who were removed from the mirror. */
  readonly forgottenEmailHashes: ReadonlySet<string>;
}

/** Creates the comparison of one mirrored list with the registry. */
function createListComparison<Name extends ListResource>(
  resource: Name,
  { organizationId, reader, organization, forgottenEmailHashes }: ListComparisonInput,
): Comparison {
  const entry = LISTS[resource];
  const emailColumn = entry.columns.find(({ name }) => name === 'email');
  return {
    name: `${resource} of ${organizationId}`,
    organization_id: organizationId,
    resource,
    readMirror: () => readDigests(reader, entry, organizationId),
    readRegistry: async function* (mirror) {
      const unreadable: UnreadableRow[] = [];
      const onUnreadable = (row: UnreadableRow) => void unreadable.push(row);
      const { readChunks, readUnreadableKey } = SOURCES[resource];
      for await (const { items } of readChunks(organization, { onUnreadable })) {
        for (const item of items) {
          const key = entry.key.map(({ getValue }) => String(getValue(item))).join('/');
          /** People who were forgotten are missing from the mirror on purpose. */
          const isLeftOut =
            !mirror.has(key) && isForgotten(forgottenEmailHashes, String(emailColumn?.getValue(item)));
          if (!isLeftOut) yield [key, createDigest(item.document)];
        }
      }
      for (const row of unreadable) yield [readUnreadableKey(row.object)?.join('/') ?? row.object.label, row];
    },
  };
}

/** Reads the mirrored documents of a list. Returns a digest of each document by row key. */
async function readDigests(
  reader: Reader,
  entry: ResourceEntry,
  organizationId: string,
): Promise<MirrorContents> {
  const digests = new Map<string, string>();
  for await (const row of readDocuments(reader, entry, organizationId)) {
    const key = entry.key.map(({ name }) => String(row[name])).join('/');
    digests.set(key, createDigest(String(row['document'])));
  }
  return digests;
}

/** Returns a SHA-256 digest of a document, shortened to save memory. */
function createDigest(document: string): string {
  return createHash('sha256').update(document).digest('base64').slice(0, 22);
}

/** Creates the comparison of one mirrored installation or project with the registry. */
function createSingleObjectComparison(
  resource: string,
  { organization_id: organizationId, key, kept: mirroredContent }: ComparedObject,
  readRegistry: () => Promise<string>,
): Comparison {
  return {
    name: `${resource} of ${organizationId}`,
    organization_id: organizationId,
    resource,
    readMirror: async () => new Map(mirroredContent === null ? [] : [[key, mirroredContent]]),
    readRegistry: async function* () {
      const content = await readRegistry().catch(returnForCodes(['not_found', 'installation_gone'], null));
      if (content !== null) yield [key, content];
    },
  };
}

/** How to read all objects of a kind from the mirror, and one of them from the registry. */
interface ObjectSource {
  readonly readMirror: (reader: Reader, organizationId: string | null) => Promise<ComparedObject[]>;
  readonly readRegistry: (client: RegistryClient, key: string) => Promise<string>;
}

const OBJECT_SOURCES: Readonly<Record<string, ObjectSource>> = {
  installations: {
    readMirror: readInstallations,
    /** The registry's answer has no state: an installation is suspended if it is refused a token. */
    readRegistry: async ({ app }, id) => {
      const { document } = await app.readInstallation(id);
      const token = app.createInstallationToken(id);
      const state = await token.then(() => 'active', returnForCodes(['forbidden'], 'suspended'));
      return `${state} ${document}`;
    },
  },
  projects: {
    readMirror: readProjects,
    readRegistry: async ({ token }, id) => (await token.readProject(id)).document,
  },
};

/** Creates an error handler: returns `value` for errors with one of these codes, and rethrows others. */
function returnForCodes<T>(codes: readonly string[], value: T): (error: unknown) => T {
  return error => {
    if (error instanceof Error && 'code' in error && codes.includes(String(error.code))) return value;
    throw error;
  };
}
