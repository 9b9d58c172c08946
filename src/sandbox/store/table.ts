/** Rows by their id, in the order in which they came. A row is replaced, never changed: who has read one keeps it as it was. */
export interface Table<Row> {
  get(id: string | number): Row | undefined;
  /** By the other word that one row alone goes by. */
  named(name: string): Row | undefined;
  /** Adds the row, or replaces the one with its id. */
  put(row: Row): void;
  /** The same, where nothing can be refused afterwards. */
  load(row: Row): void;
  rows(group?: string): Row[];
  count(group?: string): number;
  /** Those that came as number `from` to `to`, counted from 1, the last of them first. */
  page(from: number, to: number, group?: string): Row[];
  /** Those with which something is still to happen. */
  live(): Row[];
}

interface TableOptions<Row> {
  readonly id: (row: Row) => string | number;
  readonly group?: (row: Row) => string;
  readonly name?: (row: Row) => string;
  readonly isLive?: (row: Row) => boolean;
}

/** How to take a change back. */
export type Remember = (undo: () => void) => void;

const ALL = '';

export function createTable<Row>(remember: Remember, options: TableOptions<Row>): Table<Row> {
  const { id: idOf, group: groupOf, name: nameOf, isLive } = options;
  const rowById = new Map<string | number, Row>();
  const idByName = new Map<string, string | number>();
  const idsByGroup = new Map<string, (string | number)[]>([[ALL, []]]);
  const live = new Map<string | number, Row>();

  function groupsOf(row: Row): string[] {
    return groupOf === undefined ? [ALL] : [ALL, groupOf(row)];
  }

  function load(row: Row): void {
    const id = idOf(row);
    if (!rowById.has(id)) {
      for (const group of groupsOf(row)) {
        const ids = idsByGroup.get(group);
        if (ids === undefined) idsByGroup.set(group, [id]);
        else ids.push(id);
      }
      if (nameOf !== undefined) idByName.set(nameOf(row), id);
    }
    rowById.set(id, row);
    if (isLive?.(row)) live.set(id, row);
    else live.delete(id);
  }

  /** Only what came last is ever taken back. */
  function remove(row: Row): void {
    const id = idOf(row);
    for (const group of groupsOf(row)) idsByGroup.get(group)?.pop();
    if (nameOf !== undefined) idByName.delete(nameOf(row));
    rowById.delete(id);
    live.delete(id);
  }

  function rowsOf(ids: readonly (string | number)[]): Row[] {
    return ids.flatMap(id => rowById.get(id) ?? []);
  }

  return {
    get: id => rowById.get(id),
    named: name => rowById.get(idByName.get(name) ?? ALL),
    put(row) {
      const old = rowById.get(idOf(row));
      remember(() => (old === undefined ? remove(row) : load(old)));
      load(row);
    },
    load,
    rows: (group = ALL) => rowsOf(idsByGroup.get(group) ?? []),
    count: (group = ALL) => idsByGroup.get(group)?.length ?? 0,
    page: (from, to, group = ALL) =>
      rowsOf((idsByGroup.get(group) ?? []).slice(Math.max(0, from - 1), Math.max(0, to)).toReversed()),
    live: () => [...live.values()],
  };
}

interface Dated {
  readonly id: string;
  readonly created_at: string;
}

export function oldestFirst<Row extends Dated>(rows: readonly Row[]): Row[] {
  return rows.toSorted(
    (one, other) => compare(one.created_at, other.created_at) || compare(one.id, other.id),
  );
}

export function newestFirst<Row extends Dated>(rows: readonly Row[]): Row[] {
  return rows.toSorted(
    (one, other) => compare(other.created_at, one.created_at) || compare(one.id, other.id),
  );
}

export function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
