import { begin, type Sqlite } from '../open.js';
import type { Changes, Close, Counts, Insert } from '../../../mirror/port.js';
import { isListResource, type ListResource, LISTS } from '../../../resources/lists.js';
import { formatInstant } from '../../../resources/columns.js';
import type { SyncRows } from './sync-rows.js';
import { forEachList } from './list-rows.js';
import type { MirrorOperations } from './operations.js';
import type { Pages } from './pages.js';
import type { People } from './people.js';
import type { EnteredSync, Syncs } from './syncs.js';
import { createVanishing } from './vanished-retirements.js';
import { createVersions } from './versions.js';

export interface ListParts {
  readonly syncRows: SyncRows;
  readonly syncs: Syncs;
  readonly pages: Pages;
  readonly people: People;
}

/** What a sync writes to its list, and how it ends. A resource that is no list has nothing but the end. */
export function createCommit(db: Sqlite, parts: ListParts): MirrorOperations['commit'] {
  const { syncs } = parts;
  const listOf = forEachList(resource => createListWrites(db, resource, parts));
  return (sync, changes, ending) => {
    const from = performance.now();
    const transaction = begin(db);
    try {
      const entered = syncs.enter(sync);
      const { resource } = sync.request;
      const list = isListResource(resource) ? listOf(resource) : NO_LIST;
      const { versions, ...counts } = list.insert(changes.inserts, entered);
      const removed = list.close(changes.closes, entered);
      list.remember(changes, versions, entered);
      const done = syncs.leave(entered, { ...counts, removed }, ending);
      if (sync.request.full && ending !== null) list.recount(sync.request.organizationId);
      transaction.commit();
      return { ...done, versions, ms: performance.now() - from };
    } catch (error) {
      transaction.undo();
      throw error;
    }
  };
}

/** What a transaction writes to one list, in this order. */
interface ListWrites {
  /** Answers the version of each. */
  insert(
    inserts: readonly Insert[],
    entered: EnteredSync,
  ): { readonly versions: number[] } & Pick<Counts, 'added' | 'changed'>;
  /** Answers how many were still there. */
  close(closes: readonly Close[], entered: EnteredSync): number;
  /** What goes with the rows. */
  remember(changes: Changes, versions: readonly number[], entered: EnteredSync): void;
  /** What is kept of rows by counting each that comes and goes, counted anew. */
  recount(organizationId: string): void;
}

const NO_LIST: ListWrites = {
  insert: () => ({ versions: [], added: 0, changed: 0 }),
  close: () => 0,
  remember: () => undefined,
  recount: () => undefined,
};

function createListWrites(
  db: Sqlite,
  resource: ListResource,
  { syncRows, pages, people }: ListParts,
): ListWrites {
  const { table, scope } = LISTS[resource];
  const versions = createVersions(db, LISTS[resource]);
  const vanish = resource === 'retirements' ? createVanishing(db, syncRows) : null;
  const email = LISTS[resource].columns.findIndex(({ name }) => name === 'email');
  const note = db.prepare<[string, string]>(
    'INSERT INTO project_references VALUES (?, ?) ON CONFLICT DO NOTHING',
  );

  const recount = db.prepare<[string, string, string]>(
    `UPDATE resource_states SET rows = (SELECT count(*) FROM ${table} WHERE ${scope} = ?)
     WHERE organization_id = ? AND resource = ?`,
  );

  function isKeptBy(): (insert: Insert) => boolean {
    if (email < 0) return () => true;
    const keeps = people.keeps();
    return ({ cells }) => keeps(cells[email]);
  }

  /** An answer with a later instant than any row has needs no look at the row's own. */
  function date(insert: Insert, previous: number | null, { sync, dates }: EnteredSync): string {
    if (!insert.isRepeated && dates.isAfterAll(insert.observedAt)) return dates.give(insert.observedAt, null);
    const before =
      previous === null
        ? versions.lastEnd(sync.request.organizationId, ...insert.key)
        : versions.validFrom(previous);
    return dates.give(insert.observedAt, before);
  }

  return {
    insert: (inserts, entered) => {
      const { organizationId } = entered.sync.request;
      const numbers: number[] = [];
      let [added, changed] = [0, 0];
      let next = inserts.length === 0 ? 0 : syncRows.versions(inserts.length);
      const isKept = isKeptBy();
      for (const insert of inserts) {
        const previous = insert.follows ? (numbers.at(-1) ?? 0) : insert.replaces;
        if (previous === 0 || !isKept(insert)) {
          numbers.push(0);
          continue;
        }
        const at = date(insert, previous, entered);
        const closing = { at, syncId: entered.id, number: next, isRemoved: false };
        const wasThere = previous !== null && versions.close(previous, closing);
        const values = [organizationId, ...insert.key, ...insert.cells];
        versions.insert.run(next, ...values, at, entered.id, insert.document);
        numbers.push(next++);
        if (wasThere) changed += 1;
        else added += 1;
      }
      return { versions: numbers, added, changed };
    },
    close: (closes, { id, dates }) => {
      let removed = 0;
      let number = closes.length === 0 ? 0 : syncRows.versions(closes.length);
      for (const { version, observedAt } of closes) {
        const before = dates.isAfterAll(observedAt) ? null : versions.validFrom(version);
        const closing = { at: dates.give(observedAt, before), syncId: id, number: number++, isRemoved: true };
        vanish?.(version, closing);
        if (versions.close(version, closing)) removed += 1;
      }
      return removed;
    },
    remember: (changes, numbers, { sync: { request } }) => {
      const { organizationId, startedAt } = request;
      const list = { organizationId, resource };
      for (const { version, cells } of changes.mends) versions.mend(version, cells);
      for (const project of changes.projects) note.run(organizationId, project);
      for (const page of changes.pages) {
        const known = page.versions.map(version => (version < 0 ? (numbers[-version - 1] ?? 0) : version));
        pages.put(list, { ...page, versions: known });
      }
      if (changes.dropPagesFrom !== null) pages.dropFrom(list, changes.dropPagesFrom);
      if (changes.doubt !== undefined) {
        syncRows.doubt({
          organization_id: organizationId,
          resource,
          doubted_at: changes.doubt === null ? null : formatInstant(startedAt),
          doubted: changes.doubt,
        });
      }
    },
    recount: organizationId => void recount.run(organizationId, organizationId, resource),
  };
}
