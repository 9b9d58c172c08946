import {
  type Kind,
  POSTGRES as POSTGRES_SCHEMA,
  type Dialect as SchemaDialect,
  SQLITE as SQLITE_SCHEMA,
} from '../../migrations/schema.js';
import type { Value } from './contract/tables.js';

/** The columns of a relation by name, each with the kind of its values. */
export type Kinds = Readonly<Record<string, Kind>>;
/** The cells of each row, in the order of the columns. */
export type Rows = readonly (readonly Value[])[];

/** Rows that are passed to a statement, and the kinds of their columns. */
export interface Table {
  readonly columns: Kinds;
  readonly rows: Rows;
}

/** The text and the values that a driver runs. A statement with `rows` is run once for each of them. */
export interface StatementWithValues {
  readonly text: string;
  readonly values: readonly Value[];
  readonly rows?: Rows;
}

/** The SQL dialect of an engine, and how values are bound to its statements. */
export interface Dialect extends SchemaDialect {
  /** Formats rows as the JSON text that `jsonRows` reads. */
  readonly toJson: (table: Table) => string;
  /** Binds the rows of an INSERT. SQLite runs the statement once for each row, PostgreSQL reads all rows from one JSON value. */
  readonly bindRows: (table: Table) => Omit<StatementWithValues, 'text'>;
}

export const SQLITE: Dialect = {
  ...SQLITE_SCHEMA,
  toJson: ({ rows }) =>
    JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  bindRows: ({ rows }) => ({ values: [], rows }),
};

/** The channel on which PostgreSQL notifies processes of new jobs. The functions in the migrations use the same name. */
export const WORK_CHANNEL = 'carbon_mirror_jobs';

export const POSTGRES: Dialect = {
  ...POSTGRES_SCHEMA,
  toJson: toPostgresJson,
  bindRows: table => ({ values: [toPostgresJson(table)] }),
};

/** Formats rows as JSON that a PostgreSQL statement reads as rows. */
function toPostgresJson({ columns, rows }: Table): string {
  const kinds = Object.values(columns);
  return JSON.stringify(rows.map(row => row.map((value, index) => toJsonCell(value, kinds[index]))));
}

/** Converts a cell to a JSON value that PostgreSQL can cast to the type of the column. */
function toJsonCell(value: Value, kind: Kind | undefined): string | number | null {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string' && kind === 'instant') return toPostgresInstant(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/**
 * Converts an ISO instant to the form that PostgreSQL reads. PostgreSQL has no year 0 and writes earlier years with the suffix
 * BC.
 */
export function toPostgresInstant(instant: string): string {
  const year = Number(/^[+-]?\d+/.exec(instant)?.[0]);
  if (year > 0) return instant;
  return `${String(1 - year).padStart(4, '0')}${instant.replace(/^-?\d+/, '')} BC`;
}
