import type { Cells } from './commitment.js';
import type { Peaks } from './tree.js';

/** Of what a leaf speaks. */
type Kind = 'change' | 'sync' | 'coverage' | 'organization' | 'complete' | 'forget' | 'purge' | 'restore';

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

/** A leaf where it stands in the log. */
export interface Sealed extends Leaf {
  readonly place: number;
}

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

/** How far the log goes. */
interface Ends {
  readonly size: number;
  /** The newest change and sync in it; 0 before the first. */
  readonly change: number;
  readonly sync: number;
}

/** The log, and the mirror that it is a log of. */
export interface EvidencePort {
  /** True for one who asks at a time, until then. */
  readonly claim: (holder: string, now: number, until: number) => Promise<boolean>;
  readonly ends: () => Promise<Ends>;
  /** The newest number of the counter. */
  readonly newestChange: () => Promise<number>;
  /** Those above one number, up to another, in their order. */
  readonly changes: (after: number, to: number) => Promise<readonly Fact[]>;
  /** Those that have ended, above an id, before any that still runs. */
  readonly syncs: (after: number, atMost: number) => Promise<readonly Fact[]>;
  readonly coverage: () => Promise<readonly Fact[]>;
  /** The organizations whose rows changed above one number, up to another. */
  readonly touched: (after: number, to: number) => Promise<readonly string[]>;
  /** Of one resource, those that have these numbers. */
  readonly versions: (resource: string, numbers: readonly number[]) => Promise<readonly Version[]>;
  /** What an organization had up to a number, but for people, each list in the order of the numbers. */
  readonly standing: (organizationId: string, upTo: number) => AsyncIterable<readonly Standing[]>;
  readonly newestOf: (subject: string) => Promise<Leaf | null>;
  /** At the end, which must be there still. */
  readonly append: (place: number, leaves: readonly Leaf[]) => Promise<void>;
  readonly commitments: (from: number, to: number) => Promise<readonly Uint8Array[]>;
  /** The newest that covers at most so many leaves. */
  readonly checkpoint: (atMost: number) => Promise<Checkpoint | null>;
  /** All that cover more than one number of leaves, up to another, in their order. */
  readonly checkpoints: (after: number, to: number) => Promise<readonly Checkpoint[]>;
  /** Of one kind, those that have these numbers, in their order. */
  readonly leavesOf: (kind: Kind, numbers: readonly number[]) => Promise<readonly Sealed[]>;
  /** The newest of each organization before a place, in the order of the log. */
  readonly organizations: (before: number) => Promise<readonly Sealed[]>;
  /** What says which those are: the newest before a place. */
  readonly newestComplete: (before: number) => Promise<Sealed | null>;
  /** Of one kind, above one number, up to another, in their order. */
  readonly leaves: (kind: Kind, after: number, to: number) => Promise<readonly Sealed[]>;
  /** Of how many leaves the salt is there still. */
  readonly salted: (what: Unsalted) => Promise<number>;
  readonly unsalt: (what: Unsalted) => Promise<void>;
  readonly keep: (checkpoint: Checkpoint) => Promise<void>;
  readonly close: () => Promise<void>;
}
