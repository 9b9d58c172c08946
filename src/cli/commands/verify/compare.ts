import { createHash } from 'node:crypto';
import { setImmediate as pause, setTimeout as sleep } from 'node:timers/promises';
import type { Reader } from '../../../store/contract/reader.js';
import { isForgotten } from '../../../mirror/forgotten-people.js';
import {
  readDocuments,
  readInstallations,
  readProjects,
  readReadable,
  readVersions,
  type Single,
} from '../../../query/at-registry.js';
import { readForgotten } from '../../../query/people.js';
import type { OrganizationClient, RegistryClient } from '../../../registry/clients.js';
import type { UnreadableRow } from '../../../registry/read-types.js';
import type { ResourceEntry } from '../../../resources/entry.js';
import { isListResource, type ListResource, LISTS } from '../../../resources/lists.js';
import { SOURCES } from '../../../sync/sources.js';
import type { Value } from '../../../store/contract/tables.js';
import { type Broken, firstOf, SHOWN } from '../../../store/contract/broken.js';
import { contradictedColumns, DERIVED_TABLES } from '../../../sync/derived.js';

/** The list and whose it is, the key of the row, and what is not the same. */
type Fault = Readonly<Record<'check' | 'where' | 'fault', string>>;

interface Comparing {
  readonly reader: Reader;
  readonly client: RegistryClient;
  /** Told what is asked for next. Throws where nobody waits any more. */
  readonly turn: (part: Part) => void;
}

type Kept = ReadonlyMap<string, string>;

/** A row at the registry: its key and a digest of its content, or why it could not be read. */
type Comparison = readonly [key: string, content: string | UnreadableRow];

/** A list of an organization, or one thing that is asked for by its id: as the mirror keeps it and as the registry has it. */
interface Part {
  readonly name: string;
  readonly organization_id: string;
  readonly resource: string;
  /** By key what tells one content from another. */
  readonly kept: () => Promise<Kept>;
  readonly asked: (kept: Kept) => AsyncIterable<Comparison>;
}

/** A webhook, its read and the pace of reads take less: what changed meanwhile is in the mirror by then. */
const QUIET_MS = 2000;

/**
 * A fresh read of everything that active installations let us read, held against the mirror row by row.
 * What differs is read once more, so that a change on its way to the mirror is not taken for a fault.
 */
export async function compareWithRegistry(comparing: Comparing) {
  const first = await compareAll(comparing, () => true);
  const { faults } = first;
  if (faults.length === 0) return first;
  await sleep(QUIET_MS);
  const again = await compareAll(comparing, part => faults.some(({ check }) => check === part.name));
  const before = new Set(faults.map(each => JSON.stringify(each)));
  return { ...first, faults: again.faults.filter(each => before.has(JSON.stringify(each))) };
}

async function compareAll(comparing: Comparing, isMeant: (part: Part) => boolean) {
  let rows = 0;
  /** Of which any list was read. */
  const organizations = new Set<string>();
  const faults: Fault[] = [];
  for await (const part of partsOf(comparing)) {
    if (!isMeant(part)) continue;
    comparing.turn(part);
    const kept = await part.kept();
    rows += kept.size;
    if (isListResource(part.resource)) organizations.add(part.organization_id);
    for await (const fault of compare(part, kept)) faults.push(fault);
  }
  return { rows, organizations: organizations.size, faults };
}

async function* compare(part: Part, kept: Kept): AsyncGenerator<Fault> {
  const { name: check } = part;
  const unseen = new Set(kept.keys());
  for await (const [where, now] of part.asked(kept)) {
    unseen.delete(where);
    const before = kept.get(where);
    if (typeof now !== 'string')
      yield { check, where, fault: `unreadable at the registry: ${now.error.message}` };
    else if (before !== now)
      yield { check, where, fault: before === undefined ? 'not in the mirror' : 'changed' };
  }
  for (const where of unseen) yield { check, where, fault: 'not at the registry' };
}

async function* partsOf({ reader, client }: Comparing): AsyncGenerator<Part> {
  const forgotten = await readForgotten(reader);
  for (const { resource, organization_id: id, installation_id: by } of await readReadable(reader))
    if (isListResource(resource)) yield listOf(resource, id, reader, client.organization(by, id), forgotten);
  for (const [resource, { read, ask }] of Object.entries(SINGLES))
    for (const single of await read(reader)) yield singleOf(resource, single, () => ask(client, single));
}

function listOf<Name extends ListResource>(
  resource: Name,
  id: string,
  reader: Reader,
  owner: OrganizationClient,
  forgotten: ReadonlySet<string>,
): Part {
  const entry = LISTS[resource];
  const email = entry.columns.find(({ name }) => name === 'email');
  return {
    name: `${resource} of ${id}`,
    organization_id: id,
    resource,
    kept: () => digestsOf(reader, entry, id),
    asked: async function* (kept) {
      const unreadable: UnreadableRow[] = [];
      const onUnreadable = (row: UnreadableRow) => void unreadable.push(row);
      const { readChunks, readUnreadableKey } = SOURCES[resource];
      for await (const { items } of readChunks(owner, { onUnreadable })) {
        for (const item of items) {
          const key = entry.key.map(({ getValue: of }) => String(of(item))).join('/');
          /** A person who asked to be forgotten is missing on purpose. */
          const isMissed = !kept.has(key) && isForgotten(forgotten, String(email?.getValue(item)));
          if (!isMissed) yield [key, digest(item.document)];
        }
      }
      for (const each of unreadable)
        yield [readUnreadableKey(each.object)?.join('/') ?? each.object.label, each];
    },
  };
}

async function digestsOf(reader: Reader, entry: ResourceEntry, id: string): Promise<Kept> {
  const kept = new Map<string, string>();
  for await (const row of readDocuments(reader, entry, id)) {
    const key = entry.key.map(({ name }) => String(row[name])).join('/');
    kept.set(key, digest(String(row['document'])));
  }
  return kept;
}

/** A few bytes instead of the row: a million of them fit into memory. */
function digest(document: string): string {
  return createHash('sha256').update(document).digest('base64').slice(0, 22);
}

function singleOf(
  resource: string,
  { organization_id: id, key, kept }: Single,
  ask: () => Promise<string>,
): Part {
  return {
    name: `${resource} of ${id}`,
    organization_id: id,
    resource,
    kept: async () => new Map(kept === null ? [] : [[key, kept]]),
    asked: async function* () {
      const now = await ask().catch(saying(['not_found', 'installation_gone'], null));
      if (now !== null) yield [key, now];
    },
  };
}

interface Kind {
  readonly read: (reader: Reader) => Promise<Single[]>;
  readonly ask: (client: RegistryClient, single: Single) => Promise<string>;
}

const SINGLES: Readonly<Record<string, Kind>> = {
  installations: {
    read: readInstallations,
    /** No answer shows a state: one that is refused a token is suspended. */
    ask: async ({ app }, { key }) => {
      const { document } = await app.readInstallation(key);
      const token = app.createInstallationToken(key);
      return `${await token.then(() => 'active', saying(['forbidden'], 'suspended'))} ${document}`;
    },
  },
  projects: {
    read: readProjects,
    ask: async (client, { key }) => (await client.token.readProject(key)).document,
  },
};

/** What an error of these codes says; any other is thrown. */
function saying<T>(codes: readonly string[], says: T): (error: unknown) => T {
  return error => {
    if (error instanceof Error && 'code' in error && codes.includes(String(error.code))) return says;
    throw error;
  };
}

const ROWS_AT_ONCE = 1_000;

/** Told how many rows were looked at, again and again. */
type Looked = (rows: number) => void;

/** Rows, past ones included, with a column that is not what their document says. */
export async function findContradictedRows(
  reader: Reader,
  looked: Looked = () => undefined,
): Promise<Broken[]> {
  const broken: Broken[] = [];
  for (const table of DERIVED_TABLES) broken.push(...(await findIn(reader, table, looked)));
  return broken;
}

async function findIn(reader: Reader, table: string, looked: Looked): Promise<Broken[]> {
  const found: string[] = [];
  let many = 0;
  for (let last: Value = 0; ; ) {
    const rows = await readVersions(reader, table, last, ROWS_AT_ONCE);
    looked(rows.length);
    for (const row of rows) {
      const columns = contradictedColumns(table, row);
      if (columns.length === 0) continue;
      many += 1;
      if (many <= SHOWN) found.push(`version ${String(row['version'])}: ${columns.join(', ')}`);
    }
    const end = rows.at(-1)?.['version'];
    if (end === undefined || rows.length < ROWS_AT_ONCE)
      return firstOf(`each column of ${table} is what its document says`, found, many);
    last = end;
    await pause();
  }
}
