import {
  type Kind,
  POSTGRES as OF_POSTGRES,
  type Dialect as OfSchema,
  SQLITE as OF_SQLITE,
} from '../../migrations/schema.js';

export type Value = string | number | bigint | null | Uint8Array;
export type Kinds = Readonly<Record<string, Kind>>;
export type Rows = readonly (readonly Value[])[];

/** Rows that are given to a statement. */
export interface Table {
  readonly columns: Kinds;
  readonly rows: Rows;
}

/** A statement as an engine takes it. Where it has rows, it is done for each of them. */
export interface Bound {
  readonly text: string;
  readonly values: readonly Value[];
  readonly rows?: Rows;
}

/** What differs between the engines in the words of statements, beside what differs in their schema. */
export interface Dialect extends OfSchema {
  /** The nth value of a statement. */
  readonly place: (n: number) => string;
  /** A JSON text of arrays as a relation. */
  readonly rows: (json: string, name: string, columns: Kinds) => string;
  /** Ends a SELECT whose rows nobody changes, or even holds, until the transaction has ended. */
  readonly forShare: string;
  readonly forUpdate: string;
  /** The same of rows of one name, without those that somebody else holds. */
  readonly forUpdateOfFree: (name: string) => string;
  /** Until the transaction has ended nobody else does what has this name. */
  readonly alone: (name: string) => string;
  /** Wakes those who wait for work. */
  readonly tellOfWork: string;
  /** An instant that is given, or else what the database's own clock says. */
  readonly clock: (given: string) => string;
  readonly minute: (instant: string) => string;
  /**
   * The payload of two jobs in one. `resources` narrows what a job reads, so it stays only where both have it:
   * a retry of one resource that is merged with a delivery reads them all.
   */
  readonly mergedPayload: (left: string, right: string) => string;
  /** Rows as the JSON text that `rows` takes. */
  readonly json: (table: Table) => string;
  /** Puts whole rows into a table; `more` is what follows. */
  readonly insertion: (table: string, columns: Kinds, more: string) => string;
  readonly bindRows: (table: Table) => Omit<Bound, 'text'>;
  /** From now on what is removed leaves no bytes. */
  readonly erasing: string;
}

export const SQLITE: Dialect = {
  ...OF_SQLITE,
  place: () => '?',
  forShare: '',
  forUpdate: '',
  forUpdateOfFree: () => '',
  alone: () => 'SELECT 1',
  tellOfWork: 'SELECT 1',
  clock: given => given,
  minute: instant => `substr(${instant}, 1, 16)`,
  mergedPayload: (left, right) => {
    const both = `json_patch(${left}, ${right})`;
    const narrow = `json_type(${left}, '$.resources') + json_type(${right}, '$.resources') IS NOT NULL`;
    return `iif(${narrow}, ${both}, json_remove(${both}, '$.resources'))`;
  },
  rows: (json, name, columns) => {
    const cells = Object.keys(columns).map((column, index) => `value ->> ${index} AS ${column}`);
    return `(SELECT ${cells.join(', ')} FROM json_each(${json})) AS ${name}`;
  },
  json: ({ rows }) => JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  insertion: (table, columns, more) => {
    const names = Object.keys(columns);
    return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ${more}`;
  },
  bindRows: ({ rows }) => ({ values: [], rows }),
  erasing: 'PRAGMA secure_delete = ON',
};

/** The channel of those who wait for work, as the functions of the inbox name it too. */
export const WORK = 'carbon_mirror_jobs';

const typeOf = (kind: Kind) => OF_POSTGRES.types[kind].replace(' COLLATE "C"', '');

export const POSTGRES: Dialect = {
  ...OF_POSTGRES,
  place: n => `$${n}`,
  forShare: 'FOR SHARE',
  forUpdate: 'FOR UPDATE',
  forUpdateOfFree: name => `FOR UPDATE OF ${name} SKIP LOCKED`,
  alone: name => `SELECT pg_advisory_xact_lock(hashtextextended('${name}', 0))`,
  tellOfWork: `SELECT pg_notify('${WORK}', '')`,
  clock: given => `coalesce(${given}::timestamptz(3), date_trunc('milliseconds', now()))`,
  minute: instant => `to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI')`,
  mergedPayload: (left, right) => `inbox.merged_payload(${left}::jsonb, ${right}::jsonb)`,
  rows: (json, name, columns) =>
    `(SELECT ${cellsOf(columns)} FROM jsonb_array_elements(${json}::jsonb) AS e (v)) AS ${name}`,
  json: jsonOf,
  insertion: (table, columns, more) => `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
    SELECT ${cellsOf(columns)} FROM jsonb_array_elements($1::jsonb) AS e (v) WHERE true ${more}`,
  bindRows: table => ({ values: [jsonOf(table)] }),
  erasing: 'SELECT',
};

function cellsOf(columns: Kinds): string {
  const cells = Object.entries(columns).map(([name, kind], index) => {
    const cell = kind === 'bytes' ? `decode(v ->> ${index}, 'base64')` : `(v ->> ${index})::${typeOf(kind)}`;
    return `${cell} AS ${name}`;
  });
  return cells.join(', ');
}

function jsonOf({ columns, rows }: Table): string {
  const kinds = Object.values(columns);
  return JSON.stringify(rows.map(row => row.map((value, index) => cellOf(value, kinds[index]))));
}

function cellOf(value: Value, kind: Kind | undefined): string | number | null {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string' && kind === 'instant') return instantFor(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** An instant as PostgreSQL takes it: it knows no year 0, and calls the years before 1 by another name. */
export function instantFor(text: string): string {
  const year = Number(/^[+-]?\d+/.exec(text)?.[0]);
  if (year > 0) return text;
  return `${String(1 - year).padStart(4, '0')}${text.replace(/^-?\d+/, '')} BC`;
}
