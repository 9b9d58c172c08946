/** How a column is kept: `?` where it may be null; a list where its values are a closed set; `large` beyond 2^53 too. */
export type Kind =
  | 'text'
  | 'text?'
  | 'integer'
  | 'integer?'
  | 'large?'
  | 'real?'
  | 'bytes?'
  | readonly string[];
export type Columns = Readonly<Record<string, Kind>>;

/** What an engine answers of each kind, whatever its driver does. */
interface Values {
  readonly text: string;
  readonly integer: number;
  readonly large: number | bigint;
  readonly real: number;
  readonly bytes: Uint8Array;
}

type Cell<K> = K extends readonly (infer Word)[]
  ? Word
  : K extends `${infer Name extends keyof Values}?`
    ? Values[Name] | null
    : K extends keyof Values
      ? Values[K]
      : never;

export type RowOf<C> = { readonly [Name in keyof C]: Cell<C[Name]> };

const NUMBERED = { version: 'integer' } as const;
const BEGUN = { valid_from: 'text' } as const;
const WRITTEN = { sync_run_id: 'integer' } as const;
const DOCUMENT = { document: 'text' } as const;
const ENDED = {
  to: { valid_to: 'text' },
  by: { closed_by: 'integer' },
  at: { closed_version: 'integer' },
} as const;
const MAY_END = {
  to: { valid_to: 'text?' },
  by: { closed_by: 'integer?' },
  at: { closed_version: 'integer?' },
} as const;

/** The rows that are true now, those that were, and the view of both. */
export function versioned<const C extends Columns>(columns: C) {
  const begun = { ...NUMBERED, ...columns, ...BEGUN };
  return {
    now: { ...begun, ...WRITTEN, ...DOCUMENT },
    past: { ...begun, ...ENDED.to, ...WRITTEN, ...ENDED.by, ...DOCUMENT, ...ENDED.at },
    history: { ...begun, ...MAY_END.to, ...WRITTEN, ...MAY_END.by, ...DOCUMENT, ...MAY_END.at },
  };
}
