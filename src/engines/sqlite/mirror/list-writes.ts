import type { Sqlite } from '../open.js';
import type { Dates } from '../../../mirror/dates.js';
import type { Changes, Close, Counts, Insert, List } from '../../../mirror/port.js';
import { type ListResource, LISTS } from '../../../resources/lists.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Books } from './books.js';
import type { Companion } from './companions.js';
import type { Pages } from './pages.js';
import type { People } from './people.js';
import { createVersions, type Versions } from './versions.js';

export interface ListParts {
  readonly books: Books;
  readonly pages: Pages;
  readonly people: People;
  readonly companion: Companion;
}

export interface ListWritten {
  readonly versions: number[];
  readonly counts: Pick<Counts, 'added' | 'changed' | 'removed'>;
}

/** Inside a transaction: writes what changed of one list. */
export type WriteList = (
  list: List,
  changes: Changes,
  run: { readonly id: number; readonly startedAt: number; readonly dates: Dates },
) => ListWritten;

export function createListWrites(db: Sqlite, resource: ListResource, parts: ListParts): WriteList {
  const { books, pages, people, companion } = parts;
  const versions: Versions = createVersions(db, LISTS[resource]);
  const email = LISTS[resource].columns.findIndex(({ name }) => name === 'email');
  const note = db.prepare<[string, string]>(
    'INSERT INTO project_references VALUES (?, ?) ON CONFLICT DO NOTHING',
  );

  function admission(): (insert: Insert) => boolean {
    if (email < 0) return () => true;
    const admits = people.admits();
    return ({ cells }) => admits(cells[email]);
  }

  /** An answer with a later instant than any row has needs no look at the row's own. */
  function date(insert: Insert, organizationId: string, previous: number | null, dates: Dates): string {
    if (!insert.isRepeated && dates.isAfterAll(insert.told)) return dates.give(insert.told, null);
    const before =
      previous === null ? versions.lastEnd(organizationId, ...insert.key) : versions.validFrom(previous);
    return dates.give(insert.told, before);
  }

  function insertAll(
    { organizationId }: List,
    inserts: readonly Insert[],
    run: { readonly id: number; readonly dates: Dates },
  ) {
    const numbers: number[] = [];
    let [added, changed] = [0, 0];
    let next = inserts.length === 0 ? 0 : books.versions(inserts.length);
    const isAdmitted = admission();
    for (const insert of inserts) {
      const previous = insert.follows ? (numbers.at(-1) ?? 0) : insert.replaces;
      if (previous === 0 || !isAdmitted(insert)) {
        numbers.push(0);
        continue;
      }
      const at = date(insert, organizationId, previous, run.dates);
      if (previous !== null) companion.leave(previous);
      const closing = { at, runId: run.id, number: next };
      const wasThere = previous !== null && versions.close(previous, closing);
      companion.enter(insert.cells);
      versions.insert(next, [organizationId, ...insert.key, ...insert.cells], at, run.id, insert.document);
      numbers.push(next++);
      if (wasThere) changed += 1;
      else added += 1;
    }
    return { numbers, added, changed };
  }

  function closeAll(closes: readonly Close[], run: { readonly id: number; readonly dates: Dates }): number {
    let removed = 0;
    let number = closes.length === 0 ? 0 : books.versions(closes.length);
    for (const { version, told } of closes) {
      const before = run.dates.isAfterAll(told) ? null : versions.validFrom(version);
      const closing = { at: run.dates.give(told, before), runId: run.id, number: number++ };
      companion.leave(version);
      companion.vanish(version, closing);
      if (versions.close(version, closing)) removed += 1;
    }
    return removed;
  }

  return (list, changes, run) => {
    companion.begin();
    const { numbers, added, changed } = insertAll(list, changes.inserts, run);
    const removed = closeAll(changes.closes, run);
    companion.flush(list.organizationId);
    for (const project of changes.projects) note.run(list.organizationId, project);
    for (const page of changes.pages) {
      const known = page.versions.map(version => (version < 0 ? (numbers[-version - 1] ?? 0) : version));
      pages.put(list, { ...page, versions: known });
    }
    if (changes.dropPagesFrom !== null) pages.dropFrom(list, changes.dropPagesFrom);
    if (changes.doubt !== undefined) {
      books.doubt({
        organization_id: list.organizationId,
        resource,
        doubted_at: changes.doubt === null ? null : formatInstant(run.startedAt),
        doubted: changes.doubt,
      });
    }
    return { versions: numbers, counts: { added, changed, removed } };
  };
}
