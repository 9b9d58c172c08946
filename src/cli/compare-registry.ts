import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../client.js';
import type { Sqlite } from '../engines/sqlite/open.js';
import { isForgotten } from '../mirror/people.js';
import type { ListEntry } from '../resources/entry.js';
import { isListResource, type ListResource, LISTS } from '../resources/lists.js';
import { SOURCES } from '../sync/sources.js';

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

interface Target {
  readonly organization_id: string;
  readonly installation_id: string;
  readonly resource: ListResource;
}

/** A webhook, its read and the pace of reads take less: what changed meanwhile is in the mirror by then. */
const SETTLE_MS = 2000;

/**
 * A fresh read of everything that active installations let us read, held against the mirror row by row.
 * What differs is read once more, so that a change on its way to the mirror is not taken for a fault.
 */
export async function compareWithRegistry(
  db: Sqlite,
  client: Client,
  progress: (target: Target) => void,
): Promise<Compared> {
  let rows = 0;
  const differing: { readonly target: Target; readonly before: ReadonlySet<string> }[] = [];
  for (const target of targets(db)) {
    progress(target);
    const first = await compare(db, client, target);
    rows += first.rows;
    if (first.differences.length > 0)
      differing.push({ target, before: new Set(first.differences.map(name)) });
  }
  if (differing.length > 0) await sleep(SETTLE_MS);
  const differences: Difference[] = [];
  for (const { target, before } of differing) {
    const again = await compare(db, client, target);
    differences.push(...again.differences.filter(difference => before.has(name(difference))));
  }
  return { rows, differences };
}

function name({ key, difference }: Difference): string {
  return `${difference}: ${key}`;
}

function targets(db: Sqlite): Target[] {
  return db
    .prepare<[], Target>(
      `SELECT f.organization_id, max(i.id) AS installation_id, f.resource
      FROM freshness AS f JOIN installations AS i ON i.organization_id = f.organization_id AND i.state = 'active'
      WHERE f.complete_at IS NOT NULL AND f.state NOT IN ('forbidden', 'suspended', 'uninstalled')
      GROUP BY f.organization_id, f.resource ORDER BY f.organization_id, f.resource`,
    )
    .all()
    .filter(target => isListResource(target.resource));
}

function compare(db: Sqlite, client: Client, target: Target): Promise<Compared> {
  return compareList(db, client, target.resource, target);
}

async function compareList<Name extends ListResource>(
  db: Sqlite,
  client: Client,
  resource: Name,
  { organization_id: organizationId, installation_id: installationId }: Target,
): Promise<Compared> {
  const entry = LISTS[resource];
  const known = readKnown(db, entry, organizationId);
  const rows = known.size;
  const isMissed = forgottenIn(db);
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

function readKnown<Item>(
  db: Sqlite,
  { table, scope, key }: ListEntry<Item>,
  id: string,
): Map<string, string> {
  const text = key.map(column => column.name).join(` || '/' || `) || `''`;
  const rows = db.prepare<[string], { key: string; document: string }>(
    `SELECT ${text} AS key, document FROM ${table} WHERE ${scope} = ?`,
  );
  const known = new Map<string, string>();
  for (const row of rows.iterate(id)) known.set(row.key, digest(row.document));
  return known;
}

/** A few bytes instead of the row: a million of them fit into memory. */
function digest(document: string): string {
  return createHash('sha256').update(document).digest('base64').slice(0, 22);
}

/** A person who asked to be forgotten is missing on purpose. */
function forgottenIn(db: Sqlite): (document: string) => boolean {
  const hashes = db.prepare<[], string>('SELECT email_sha256 FROM forgotten_people').pluck().all();
  const forgotten = new Set(hashes);
  return document => {
    if (forgotten.size === 0) return false;
    const person: unknown = JSON.parse(document);
    if (typeof person !== 'object' || person === null || !('email' in person)) return false;
    return isForgotten(forgotten, String(person.email));
  };
}
