import {
  type Kind,
  POSTGRES as OF_POSTGRES,
  type Dialect as OfSchema,
  SQLITE as OF_SQLITE,
} from '../../migrations/schema.js';

export type Value = string | number | bigint | null | Uint8Array;
type Kinds = Readonly<Record<string, Kind>>;
type Rows = readonly (readonly Value[])[];

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
  /** A value of this kind, where nothing around it says so. */
  readonly as: (kind: Kind, value: string) => string;
  /** A JSON text of arrays as a relation. */
  readonly rows: (json: string, name: string, columns: Kinds) => string;
  /** Ends a SELECT whose rows nobody changes, or even holds, until the transaction has ended. */
  readonly forShare: string;
  readonly forUpdate: string;
  /** Whole rows into a table. */
  readonly insertion: (table: string, columns: Kinds, rows: Rows) => Bound;
}

export const SQLITE: Dialect = {
  ...OF_SQLITE,
  place: () => '?',
  as: (_, value) => value,
  forShare: '',
  forUpdate: '',
  rows: (json, name, columns) => {
    const cells = Object.keys(columns).map((column, index) => `value ->> ${index} AS ${column}`);
    return `(SELECT ${cells.join(', ')} FROM json_each(${json})) AS ${name}`;
  },
  insertion: (table, columns, rows) => {
    const names = Object.keys(columns);
    const places = names.map(() => '?').join(', ');
    return { text: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`, values: [], rows };
  },
};

const typeOf = (kind: Kind) => OF_POSTGRES.types[kind].replace(' COLLATE "C"', '');

export const POSTGRES: Dialect = {
  ...OF_POSTGRES,
  place: n => `$${n}`,
  as: (kind, value) => `${value}::${typeOf(kind)}`,
  forShare: 'FOR SHARE',
  forUpdate: 'FOR UPDATE',
  rows: (json, name, columns) => {
    const cells = Object.entries(columns).map(
      ([column, kind], index) => `(v ->> ${index})::${typeOf(kind)} AS ${column}`,
    );
    return `(SELECT ${cells.join(', ')} FROM jsonb_array_elements(${json}::jsonb) AS e (v)) AS ${name}`;
  },
  insertion: (table, columns, rows) => {
    const cells = Object.values(columns).map((kind, index) => `(v ->> ${index})::${typeOf(kind)}`);
    const text = `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
      SELECT ${cells.join(', ')} FROM jsonb_array_elements($1::jsonb) AS e (v)`;
    return { text, values: [JSON.stringify(rows)] };
  },
};
