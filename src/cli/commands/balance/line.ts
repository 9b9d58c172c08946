/** One side by side of the balance, as programs take it. */
export interface Line {
  readonly identity: 'retirements' | 'credits' | 'projects' | 'serials';
  readonly organization_id: string | null;
  /** What is added up. */
  readonly what: string;
  /** Of credits: exPost or exAnte, which are never one sum. */
  readonly type: string | null;
  readonly rows: number;
  readonly opening_micro: bigint | null;
  /** When that stood there: when the period began, or the list had first been read completely. */
  readonly opening_at: string | null;
  /** What it was seen to rise and to fall by between reads. */
  readonly risen_micro: bigint | null;
  readonly fallen_micro: bigint | null;
  /** What is listed, and what it has to be: of projects at most that, as far as it is explained. */
  readonly found_micro: bigint | null;
  readonly expected_micro: bigint | null;
  /** What of it own reservations and requests explain, and what neither they nor a fall do. */
  readonly explained_micro: bigint | null;
  readonly unexplained_micro: bigint | null;
  /** 1 or 0; null where it cannot be told yet. */
  readonly ties: 0 | 1 | null;
  /** In words, where it does not tie. */
  readonly why: string | null;
}

export type NamedLine = Line & { readonly organization_name: string | null };

export const COLUMNS = [
  'identity',
  'organization_name',
  'organization_id',
  'what',
  'type',
  'rows',
  'opening_at',
  'opening_micro',
  'risen_micro',
  'fallen_micro',
  'found_micro',
  'expected_micro',
  'explained_micro',
  'unexplained_micro',
  'ties',
  'why',
] as const satisfies readonly (keyof NamedLine)[];

export const EMPTY = {
  organization_id: null,
  type: null,
  opening_at: null,
  opening_micro: null,
  risen_micro: null,
  fallen_micro: null,
  found_micro: null,
  expected_micro: null,
  explained_micro: null,
  unexplained_micro: null,
  why: null,
} as const;

/** What was added up, and each part of it that does not tie. */
export interface Part {
  readonly sums: readonly Line[];
  readonly loose: readonly Line[];
  /** Rows without an amount that can be added: they are in no sum. */
  readonly notSummed?: number;
}

export function flagOf(holds: boolean): 0 | 1 {
  return holds ? 1 : 0;
}

export function microOf(value: number | bigint | null): bigint {
  return BigInt(value ?? 0);
}
