import type { Cells } from './commitment.js';
import type { Peaks } from './tree.js';

/** What the mirror numbers, and is sealed in the order of its numbers. */
export const NUMBERED = ['change', 'sync'] as const;
export type Numbered = (typeof NUMBERED)[number];

/** Of which a leaf keeps the text: no row of the mirror says it. */
const KEPT = ['complete', 'forget', 'purge', 'restore'] as const;
type Kept = (typeof KEPT)[number];

export function isKept(kind: Kind): kind is Kept {
  return KEPT.some(each => each === kind);
}

/** Of what a leaf speaks. */
type Kind = Numbered | 'coverage' | 'organization' | Kept;

/** Something that the mirror observed. */
export interface Fact {
  readonly kind: Kind;
  /** Null where its leaf is known by its place. */
  readonly number: number | null;
  /** The organization that it speaks of; null where it is nobody. */
  readonly subject: string | null;
  readonly record: Cells;
}

export interface Leaf {
  readonly place: number;
  readonly kind: Kind;
  readonly number: number;
  readonly subject: string | null;
  /** Of a change: what changed. */
  readonly resource: string | null;
  /** Canonical JSON, where no row of the mirror says it. */
  readonly record: string | null;
  /** Null once it was forgotten or purged. */
  readonly salt: Uint8Array | null;
  readonly commitment: Uint8Array;
}

/** Those that stand between two places; those that have such numbers; or of each of whom it speaks the newest before a place. */
export type Which =
  | { readonly from: number; readonly to: number }
  | { readonly kind: Numbered; readonly numbers: readonly number[] }
  | { readonly newest: 'coverage' | 'organization' | 'complete'; readonly before: number };

/** A row as it was written, with what belongs to it. */
export interface Version extends Fact {
  readonly document: string | null;
  /** Of a certificate: by which name it is kept. */
  readonly file: string | null;
}

/** A row that stood at some moment. */
export interface Standing {
  readonly resource: string;
  readonly number: number;
  readonly observedAt: string;
  /** When the registry says it was created, where it says so. */
  readonly createdAt: string | null;
  readonly micro: bigint | null;
}

export interface Checkpoint extends Peaks {
  readonly note: string;
}

/** What nobody is to know any more. */
export type Unsalted =
  | { readonly organizationId: string }
  | { readonly resource: string }
  | { readonly numbers: readonly number[] };

/** How far the log goes: its leaves, and the newest of what has a number; 0 before the first. */
type Ends = Readonly<Record<'size' | Numbered, number>>;

/** The log, and the mirror that it is a log of. */
export interface EvidencePort {
  /** True for one who asks at a time, until then. */
  readonly claim: (holder: string, now: number, until: number) => Promise<boolean>;
  readonly ends: () => Promise<Ends>;
  /** How far the mirror goes beyond a number: a sync counts once it has ended, and so have all before it. */
  readonly newest: (kind: Numbered, after: number) => Promise<number>;
  /** Those above one number, up to another, in their order. */
  readonly facts: (kind: Numbered, after: number, to: number) => Promise<readonly Fact[]>;
  readonly coverage: () => Promise<readonly Fact[]>;
  /** Of one resource, those that have these numbers. */
  readonly versions: (resource: string, numbers: readonly number[]) => Promise<readonly Version[]>;
  /** What an organization had up to a number, but for people, each list in the order of the numbers, some at a time. */
  readonly standing: (organizationId: string, upTo: number) => AsyncIterable<readonly Standing[]>;
  /** In their order. */
  readonly leaves: (which: Which) => Promise<readonly Leaf[]>;
  readonly commitments: (from: number, to: number) => AsyncIterable<Uint8Array>;
  /** Of whom sealed changes above one number, up to another, speak, but for people. */
  readonly touched: (after: number, to: number) => Promise<readonly string[]>;
  /** At the end, which must be there still. */
  readonly append: (leaves: readonly Leaf[]) => Promise<void>;
  /** The newest that covers at most so many leaves. */
  readonly checkpoint: (atMost: number) => Promise<Checkpoint | null>;
  /** All that cover more than one number of leaves, up to another, in their order. */
  readonly checkpoints: (after: number, to: number) => Promise<readonly Checkpoint[]>;
  /** Of how many leaves the salt is there still. */
  readonly salted: (what: Unsalted) => Promise<number>;
  readonly unsalt: (what: Unsalted) => Promise<void>;
  readonly keep: (checkpoint: Checkpoint) => Promise<void>;
  readonly close: () => Promise<void>;
}
