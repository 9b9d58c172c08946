import {
  type Kind,
  POSTGRES as POSTGRES_SCHEMA,
  type Dialect as SchemaDialect,
  SQLITE as SQLITE_SCHEMA,
} from '../../migrations/schema.js';

export type Value = string | number | bigint | null | Uint8Array;
export type Kinds = Readonly<Record<string, Kind>>;
export type Rows = readonly (readonly Value[])[];

/** Rows that are passed to a statement. */
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

/** How statements are bound to values on an engine, beside its schema. */
export interface Dialect extends SchemaDialect {
  /** Returns rows as the JSON text that `jsonRows` reads. */
  readonly toJson: (table: Table) => string;
  readonly bindRows: (table: Table) => Omit<StatementWithValues, 'text'>;
}

export const SQLITE: Dialect = {
  ...SQLITE_SCHEMA,
  toJson: ({ rows }) =>
    JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  bindRows: ({ rows }) => ({ values: [], rows }),
};

/** The channel on which processes are notified of new jobs. The functions of the inbox name it, too. */
export const WORK_CHANNEL = 'carbon_mirror_jobs';

export const POSTGRES: Dialect = {
  ...POSTGRES_SCHEMA,
  toJson: toPostgresJson,
  bindRows: table => ({ values: [toPostgresJson(table)] }),
};

function toPostgresJson({ columns, rows }: Table): string {
  const kinds = Object.values(columns);
  return JSON.stringify(rows.map(row => row.map((value, index) => toJsonCell(value, kinds[index]))));
}

function toJsonCell(value: Value, kind: Kind | undefined): string | number | null {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string' && kind === 'instant') return instantFor(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** Formats an instant for PostgreSQL, which has no year 0 and writes years before 1 with the suffix BC. */
export function instantFor(text: string): string {
  const year = Number(/^[+-]?\d+/.exec(text)?.[0]);
  if (year > 0) return text;
  return `${String(1 - year).padStart(4, '0')}${text.replace(/^-?\d+/, '')} BC`;
}
