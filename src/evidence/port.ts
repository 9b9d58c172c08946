import type { Peaks } from './tree.js';

/** A row as people read it, by its columns. */
export type Cells = Readonly<Record<string, string | number | bigint | null>>;

/** What the mirror numbers, and is sealed in the order of its numbers. */
export const NUMBERED = ['change', 'sync', 'unchanged'] as const;
export type Numbered = (typeof NUMBERED)[number];

/** Of what a leaf speaks: what the mirror numbers, or what no row of it says, so that the leaf keeps its text. */
type Kind = Numbered | 'coverage' | 'organization' | 'complete' | 'forget' | 'purge' | 'restore' | 'key';

/** What is needed to count changed rows without reading them; of anything else all of it is null. */
type Counted = {
  /** The organization that it speaks of; null where it is nobody. */
  readonly subject: string | null;
  readonly resource: string | null;
  /** The number of the version that it ended. */
  readonly ended: number | null;
  /** In which month the mirror observed it; null where nothing stands by it, and of people. */
  readonly observed: string | null;
  /** In which month the registry says it was created. */
  readonly dated: string | null;
  /** Millionths of a tonne, in digits: they may be more than a number holds. */
  readonly micro: string | null;
};

export const COUNTED = ['subject', 'resource', 'ended', 'observed', 'dated', 'micro'] as const;

/** Something that the mirror observed. */
export interface Observation extends Counted {
  readonly kind: Kind;
  /** Null where its leaf is known by its place. */
  readonly number: number | null;
  readonly record: Cells;
  /** What the registry sent. */
  readonly document: string | null;
  /** Of a certificate: by which name it is kept. */
  readonly file: string | null;
}

const NOTHING = {
  number: null,
  subject: null,
  resource: null,
  ended: null,
  observed: null,
  dated: null,
  micro: null,
  document: null,
  file: null,
};

/** What is no change. */
export function createObservation(kind: Kind, record: Cells, more: Partial<Observation> = {}): Observation {
  return { ...NOTHING, ...more, kind, record: { ...record, kind } };
}

export type Leaf = Counted & {
  readonly place: number;
  readonly kind: Kind;
  readonly number: number;
  /** Canonical JSON; null of what the mirror numbers. */
  readonly record: string | null;
  /** Null once it was forgotten or purged, and with it all that the leaf could tell. */
  readonly salt: Uint8Array | null;
  readonly commitment: Uint8Array;
};

/** Above every number and place. */
export const ALL = Number.MAX_SAFE_INTEGER;

/** All of an organization or a list; those that have such numbers; what was erased and put back before a place; or of each of whom it speaks the newest before one. */
export type LeafFilter =
  | { readonly organizationId: string }
  | { readonly resource: string }
  | { readonly kind: Numbered; readonly numbers: readonly number[] }
  | { readonly told: number }
  | { readonly newest: 'coverage' | 'organization' | 'complete'; readonly before: number };

export type Checkpoint = Peaks & {
  readonly note: string;
};

/** How far the log goes: its leaves, and the newest of what has a number; 0 before the first. */
export type Ends = Readonly<Record<'size' | Numbered, number>>;

/** The log, and the mirror that it is a log of. */
export interface EvidencePort {
  /** True for one who asks at a time, until then. */
  readonly claim: (holder: string, now: number, until: number) => Promise<boolean>;
  readonly ends: () => Promise<Ends>;
  /** How far the mirror goes beyond a number: a sync counts once it has ended, and so have all before it. */
  readonly newest: (kind: Numbered, after: number) => Promise<number>;
  /** Those above one number, up to another, in their order. */
  readonly facts: (kind: Numbered, after: number, to: number) => Promise<readonly Observation[]>;
  /** Syncs that ended before this instant may have been removed because they were old; null where none was. */
  readonly syncsKeptSince: () => Promise<string | null>;
  readonly coverage: () => Promise<readonly Observation[]>;
  /** Of one resource, those that have these numbers. */
  readonly versions: (resource: string, numbers: readonly number[]) => Promise<readonly Observation[]>;
  /** Of what an organization had up to a number, but for people: each list by itself, the newest first, some at a time. */
  readonly standing: (organizationId: string, upTo: number) => AsyncIterable<readonly Leaf[]>;
  /** In their order. */
  readonly leaves: (which: LeafFilter) => Promise<readonly Leaf[]>;
  /** From one place to before another, some at a time. */
  readonly walk: (from: number, to: number) => AsyncIterable<readonly Leaf[]>;
  /** The same, with no more than a tree takes. */
  readonly commitments: (from: number, to: number) => AsyncIterable<readonly Pick<Leaf, 'commitment'>[]>;
  /** Of whom sealed changes above one number, up to another, speak, but for people. */
  readonly touched: (after: number, to: number) => Promise<readonly string[]>;
  /** At the end, which must be there still. */
  readonly append: (leaves: readonly Leaf[]) => Promise<void>;
  /** The newest that covers at most so many leaves. */
  readonly checkpoint: (atMost: number) => Promise<Checkpoint | null>;
  /** Those that cover more than one number of leaves, up to another, in their order. */
  readonly checkpoints: (after: number, to: number, atMost?: number) => Promise<readonly Checkpoint[]>;
  readonly keep: (checkpoint: Checkpoint) => Promise<void>;
  /** Of how many leaves the salt is there still. */
  readonly salted: (which: LeafFilter) => Promise<number>;
  readonly unsalt: (which: LeafFilter) => Promise<void>;
  readonly close: () => Promise<void>;
}
