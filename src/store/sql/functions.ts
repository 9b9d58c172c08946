import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Columns as ColumnList, Kind } from '../../../migrations/schema.js';
import type { CellTypes } from '../contract/tables.js';
import { type Kinds, POSTGRES, SQLITE, WORK_CHANNEL } from '../dialect.js';

/** The type of a row in a relation of JSON rows. */
export type RelationRow<Columns extends Kinds> = {
  readonly [Name in keyof Columns & string]: CellTypes[Columns[Name]];
};

/** SQL that differs between the engines. */
export interface SqlFunctions {
  /** A subquery that converts a JSON array of arrays to rows. */
  readonly jsonRows: <const Columns extends Kinds>(
    json: Expression<string>,
    columns: Columns,
  ) => RawBuilder<RelationRow<Columns>>;
  /**
   * Casts a value to a column type. Cast the parameter of a LIMIT: without a cast SQLite recompiles the statement at each run,
   * which takes longer than most queries.
   */
  readonly cast: <T>(kind: Kind, value: Expression<T>) => RawBuilder<T>;
  /** The given instant; if it is NULL, the time of the database at the start of the transaction. */
  readonly clock: (now: Expression<string | null>) => RawBuilder<string>;
  /** An instant some milliseconds later. */
  readonly addMs: (instant: Expression<string | null>, ms: Expression<number>) => RawBuilder<string>;
  /** The minute of an instant as text, such as `2026-05-04T12:00`. */
  readonly minute: (instant: Expression<string>) => RawBuilder<string>;
  /** An instant as text in UTC. */
  readonly asText: (instant: Expression<string>) => RawBuilder<string>;
  /** The columns of a row as the JSON object that `past.cells` stores. */
  readonly cells: (alias: string, columns: ColumnList) => RawBuilder<unknown>;
  readonly least: <T>(...values: Expression<T>[]) => RawBuilder<T>;
  readonly greatest: <T>(...values: Expression<T>[]) => RawBuilder<T>;
  /** A text that sorts by its bytes, independent of the collation of the database. */
  readonly bytewise: (text: Expression<string>) => RawBuilder<string>;
  /** A column of a past version as text. The index of certificate files in `past` is on this expression. */
  readonly pastCell: (cells: Expression<unknown>, column: string) => RawBuilder<string | null>;
  /** A column of a past version with the same type as in a current row. No index is on this expression. */
  readonly typedPastCell: (
    alias: string,
    column: string,
    kind: Kind,
  ) => RawBuilder<string | number | bigint | null>;
  /** The highest id that a sync ever had, even if the sync was deleted; NULL if the database role may not read it. */
  readonly newestSync: RawBuilder<number | null>;
  /**
   * The merged payload of two jobs. A job with `resources` reads only these, so the merged job has it only if both jobs do.
   * A retry of one resource that merges with a delivery therefore reads all resources.
   */
  readonly mergePayloads: (left: Expression<string>, right: Expression<string>) => RawBuilder<string>;
  /** A statement that notifies processes waiting for work. SQLite needs none, because they poll. */
  readonly notifyWorkers: RawBuilder<never>;
  /** A statement that acquires the lock with this name until the transaction ends. SQLite needs none: it has one writer at a time. */
  readonly lockByName: (name: string) => RawBuilder<never>;
  /** A statement after which SQLite overwrites the bytes of deleted rows. Does nothing on PostgreSQL. */
  readonly overwriteDeleted: RawBuilder<never>;
  readonly forUpdate: RawBuilder<unknown>;
  readonly forShare: RawBuilder<unknown>;
  /** Locks the rows of one table of a SELECT and skips rows that are locked. */
  readonly forUpdateSkipLocked: (alias: string) => RawBuilder<unknown>;
}

const NOTHING = sql``;

export const SQLITE_FUNCTIONS: SqlFunctions = {
  jsonRows: (json, columns) => {
    const cells = Object.keys(columns).map((name, n) => sql`value ->> ${sql.lit(n)} AS ${sql.id(name)}`);
    return sql`(SELECT ${sql.join(cells)} FROM json_each(${json}))`;
  },
  cast: (kind, value) => sql`CAST(${value} AS ${sql.raw(SQLITE.dataTypes[kind])})`,
  clock: now => sql`${now}`,
  addMs: (instant, ms) =>
    sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${instant}, printf('%.3f seconds', (${ms}) / 1000.0))`,
  minute: instant => sql`substr(${instant}, 1, 16)`,
  asText: instant => sql`${instant}`,
  cells: (alias, columns) => sql.raw(SQLITE.cells(alias, columns)),
  least: (...values) => sql`min(${sql.join(values)})`,
  greatest: (...values) => sql`max(${sql.join(values)})`,
  bytewise: text => sql`${text}`,
  pastCell: (cells, column) => sql`json_extract(${cells}, ${sql.lit(`$.${column}`)})`,
  typedPastCell: (alias, column, kind) => sql.raw(SQLITE.cell(alias, column, kind)),
  newestSync: sql`coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'syncs'), 0)`,
  mergePayloads: (left, right) => {
    const isNarrow = sql`json_type(${left}, '$.resources') + json_type(${right}, '$.resources') IS NOT NULL`;
    const merged = sql`json_patch(${left}, ${right})`;
    return sql`iif(${isNarrow}, ${merged}, json_remove(${merged}, '$.resources'))`;
  },
  notifyWorkers: sql`SELECT 1`,
  lockByName: () => sql`SELECT 1`,
  overwriteDeleted: sql`PRAGMA secure_delete = ON`,
  forUpdate: NOTHING,
  forShare: NOTHING,
  forUpdateSkipLocked: () => NOTHING,
};

const typeOf = (kind: Kind) => sql.raw(POSTGRES.dataTypes[kind]);

/**
 * Lists the elements of the JSON array `v` as columns for SELECT, on PostgreSQL. Each element is cast to the type of its column
 * and gets its name.
 */
export function selectJsonCells(columns: Kinds): RawBuilder<unknown> {
  return sql.join(
    Object.entries(columns).map(([name, kind], n) => {
      const text = sql`v ->> ${sql.lit(n)}`;
      const cell = kind === 'bytes' ? sql`decode(${text}, 'base64')` : sql`(${text})::${typeOf(kind)}`;
      return sql`${cell} AS ${sql.id(name)}`;
    }),
  );
}

export const POSTGRES_FUNCTIONS: SqlFunctions = {
  jsonRows: (json, columns) =>
    sql`(SELECT ${selectJsonCells(columns)} FROM jsonb_array_elements(${json}::jsonb) AS e (v))`,
  cast: (kind, value) => sql`${value}::${typeOf(kind)}`,
  clock: now => sql`coalesce(${now}::timestamptz(3), date_trunc('milliseconds', now()))`,
  addMs: (instant, ms) => sql`${instant} + (${ms})::double precision * interval '1 millisecond'`,
  minute: instant => sql`to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI')`,
  asText: instant => sql`mirror.as_text(${instant})`,
  cells: (alias, columns) => sql.raw(POSTGRES.cells(alias, columns)),
  least: (...values) => sql`least(${sql.join(values)})`,
  greatest: (...values) => sql`greatest(${sql.join(values)})`,
  bytewise: text => sql`${text} COLLATE "C"`,
  pastCell: (cells, column) => sql`(${cells} ->> ${sql.lit(column)})`,
  typedPastCell: (alias, column, kind) => sql.raw(POSTGRES.cell(alias, column, kind)),
  newestSync: sql`(SELECT last_value FROM pg_sequences WHERE schemaname = 'mirror' AND sequencename = 'syncs_id_seq')`,
  mergePayloads: (left, right) => sql`inbox.merged_payload(${left}::jsonb, ${right}::jsonb)`,
  notifyWorkers: sql`SELECT pg_notify(${sql.lit(WORK_CHANNEL)}, '')`,
  lockByName: name => sql`SELECT pg_advisory_xact_lock(hashtextextended(${sql.lit(name)}, 0))`,
  overwriteDeleted: sql`SELECT`,
  forUpdate: sql`FOR UPDATE`,
  forShare: sql`FOR SHARE`,
  forUpdateSkipLocked: alias => sql`FOR UPDATE OF ${sql.id(alias)} SKIP LOCKED`,
};
