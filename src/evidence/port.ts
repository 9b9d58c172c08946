import type { TreePeaks } from './tree.js';

/** A record: the columns of a row by their names. */
export type Cells = Readonly<Record<string, string | number | bigint | null>>;

/** Kinds of records that the mirror numbers. They are sealed in the order of their numbers. */
export const NUMBERED_KINDS = ['change', 'sync', 'unchanged'] as const;
export type NumberedKind = (typeof NUMBERED_KINDS)[number];

/** The kinds of leaves. A leaf of a kind without numbers stores its own text, because no row of the mirror has it. */
export const LEAF_KINDS = [
  ...NUMBERED_KINDS,
  'open_span',
  'coverage',
  'organization',
  'complete',
  'forget',
  'purge',
  'restore',
  'key',
] as const;
export type LeafKind = (typeof LEAF_KINDS)[number];

/** Columns of a leaf that let the sealer count rows and reads without reading the mirror. Null where they do not apply. */
type PlainColumns = {
  /** The organization that the leaf concerns. */
  readonly subject: string | null;
  /** The resource that changed or was read. */
  readonly resource: string | null;
  /** The number of the version that the change ended. */
  readonly ended: number | null;
  /** The month in which the mirror observed the new version. */
  readonly observed: string | null;
  /** The month in which the row was created, according to the registry. */
  readonly dated: string | null;
  /** Millionths of a tonne as digits, because they may exceed what a number holds. */
  readonly micro: string | null;
  /** The start of a read; for a span, of its last read. */
  readonly read_at: string | null;
  /** Whether a read was complete: 1 or 0. */
  readonly is_complete: number | null;
};

export const PLAIN_COLUMNS = [
  'subject',
  'resource',
  'ended',
  'observed',
  'dated',
  'micro',
  'read_at',
  'is_complete',
] as const;

/** Content of a leaf before it is sealed. */
export interface Observation extends PlainColumns {
  readonly kind: LeafKind;
  /** Null for a kind without numbers, whose leaves are identified by their place. */
  readonly number: number | null;
  readonly record: Cells;
  /** The registry's JSON of the row. */
  readonly document: string | null;
  /** The name of the stored file of a certificate. */
  readonly file: string | null;
}

const EMPTY_COLUMNS = {
  number: null,
  subject: null,
  resource: null,
  ended: null,
  observed: null,
  dated: null,
  micro: null,
  read_at: null,
  is_complete: null,
  document: null,
  file: null,
};

/** Creates an observation of any kind but `change`. */
export function createObservation(
  kind: LeafKind,
  record: Cells,
  columns: Partial<Observation> = {},
): Observation {
  return { ...EMPTY_COLUMNS, ...columns, kind, record: { ...record, kind } };
}

/** An entry of the log. */
export type Leaf = PlainColumns & {
  readonly place: number;
  readonly kind: LeafKind;
  readonly number: number;
  /** Canonical JSON; null for numbered kinds. */
  readonly record: string | null;
  /** Null after `forget` or `purge`, as are all columns that reveal what the leaf is about. */
  readonly salt: Uint8Array | null;
  readonly commitment: Uint8Array;
  /** Authentication codes, see authentication-codes.ts. */
  readonly code: string;
  readonly plain_code: string | null;
};

/** Returns a filter that keeps the current versions of rows, given the leaves of changes from the newest to the oldest. */
export function createCurrentFilter(): (leaf: Leaf) => boolean {
  /** A leaf that ended a version is newer than that version, so the filter sees it first. */
  const ended = new Set<number | null>();
  return leaf => {
    ended.add(leaf.ended);
    return leaf.observed !== null && !ended.delete(leaf.number);
  };
}

/** A limit above every number and place. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Selects leaves: all of an organization; all changes of a resource; those with certain numbers or places; those about
 * erasures, restores and new keys before a place (`aboutLogBefore`); or the newest of a kind for each subject before a place.
 */
export type LeafFilter =
  | { readonly organizationId: string }
  | { readonly resource: string }
  | { readonly kind: NumberedKind; readonly numbers: readonly number[] }
  | { readonly places: readonly number[] }
  | { readonly aboutLogBefore: number }
  | { readonly newest: 'coverage' | 'organization' | 'complete'; readonly before: number };

/** A signed note about the log at one size, with the peaks of its tree. */
export type Checkpoint = TreePeaks & {
  readonly note: string;
};

/** The newest complete read of a resource, as far as reads are sealed, and how many reads failed after it. */
export interface SealedReads {
  readonly resource: string;
  /** The leaf of the newest complete read, and the start of that read; null if no complete read is sealed. */
  readonly place: number | null;
  readonly read_at: string | null;
  /** Number of later reads that were not complete. */
  readonly failed: number;
}

/** An organization with reads in a part of the log. */
interface ReadSubject {
  readonly subject: string;
  /** Number of these reads that were not complete. */
  readonly failed: number;
}

/** A checkpoint that left this machine. */
export interface Attestation {
  /** How many leaves the checkpoint covers. */
  readonly size: number;
  readonly kind: 'printed' | 'timestamp';
  readonly requested_at: string;
  /** The instant that a timestamp authority signed, and its token; null if the checkpoint was printed. */
  readonly attested_at: string | null;
  readonly token: Uint8Array | null;
}

/** How far the log goes: its number of leaves, and the newest number of each numbered kind; 0 if there is none. */
export type LogProgress = Readonly<Record<'size' | NumberedKind, number>>;

/** Access to the log, and to the mirror whose rows it seals. */
export interface EvidencePort {
  /** Acquires or extends the lock for writing the log until an instant. Returns false while another holder has it. */
  readonly acquireLock: (holder: string, now: number, until: number) => Promise<boolean>;
  /** Returns how far the log goes. */
  readonly readProgress: () => Promise<LogProgress>;
  /** Returns the newest number of a kind in the mirror. A sync counts once it and all before it have ended. */
  readonly findNewestNumber: (kind: NumberedKind, after: number) => Promise<number>;
  /** Returns the observations of a kind in the mirror after one number up to another, in order. */
  readonly listObservations: (
    kind: NumberedKind,
    after: number,
    to: number,
  ) => Promise<readonly Observation[]>;
  /** Returns the open spans of unchanged reads of an organization, or of all if `organizationId` is null. */
  readonly listOpenSpans: (organizationId: string | null) => Promise<readonly Observation[]>;
  /** Returns the instant before which retention may have deleted syncs; null if it deleted none. */
  readonly readSyncsKeptSince: () => Promise<string | null>;
  /** Returns the current coverage: one observation for each installation. */
  readonly listCoverage: () => Promise<readonly Observation[]>;
  /** Returns the changes of a resource that have these numbers. */
  readonly listVersions: (resource: string, numbers: readonly number[]) => Promise<readonly Observation[]>;
  /** Yields the leaves of all changes of an organization's rows up to a number, by resource, newest first. Leaves out people. */
  readonly iterateChangeLeaves: (organizationId: string, upTo: number) => AsyncIterable<readonly Leaf[]>;
  /** Yields the leaves of an organization's rows that were current at a number, by resource, newest first. Leaves out people. */
  readonly iterateCurrentLeaves: (organizationId: string, upTo: number) => AsyncIterable<readonly Leaf[]>;
  /** Returns the selected leaves in order. */
  readonly listLeaves: (filter: LeafFilter) => Promise<readonly Leaf[]>;
  /** Yields the leaves from one place to before another, in batches. */
  readonly iterateLeaves: (from: number, to: number) => AsyncIterable<readonly Leaf[]>;
  /** Yields the commitments of the leaves from one place to before another, in batches. */
  readonly iterateCommitments: (
    from: number,
    to: number,
  ) => AsyncIterable<readonly Pick<Leaf, 'commitment'>[]>;
  /** Returns the organizations whose rows, without people, have sealed changes between two numbers, the second included. */
  readonly listChangedOrganizations: (after: number, to: number) => Promise<readonly string[]>;
  /** Returns the sealed reads of each resource of an organization before a place. */
  readonly listSealedReads: (organizationId: string, before: number) => Promise<readonly SealedReads[]>;
  /** Returns the organizations with sealed reads from one place to before another. */
  readonly listReadSubjects: (from: number, to: number) => Promise<readonly ReadSubject[]>;
  /** Appends leaves. Fails if another leaf has one of their places. */
  readonly appendLeaves: (leaves: readonly Leaf[]) => Promise<void>;
  /** Returns the newest checkpoint that covers at most so many leaves. */
  readonly findCheckpoint: (atMost: number) => Promise<Checkpoint | null>;
  /** Returns the checkpoints that cover more leaves than `after` and at most `to`, in order. */
  readonly listCheckpoints: (after: number, to: number, atMost?: number) => Promise<readonly Checkpoint[]>;
  /** Stores a signed checkpoint. */
  readonly storeCheckpoint: (checkpoint: Checkpoint) => Promise<void>;
  /** Stores an attestation, unless there is one of the same kind for the checkpoint. */
  readonly storeAttestation: (attestation: Attestation) => Promise<void>;
  /** Returns the newest attestation of a kind, or of any kind if `kind` is null. */
  readonly findNewestAttestation: (kind: Attestation['kind'] | null) => Promise<Attestation | null>;
  /** Returns the timestamps of all checkpoints, in order. */
  readonly listTimestamps: () => Promise<readonly Attestation[]>;
  /** Returns the selected leaves that still have a salt, in order. */
  readonly listUnerasedLeaves: (filter: LeafFilter) => Promise<readonly Leaf[]>;
  /** Appends a leaf, and in the same transaction empties all columns of the selected leaves that reveal what they are about. */
  readonly eraseLeaves: (appended: Leaf, filter: LeafFilter) => Promise<void>;
  /** Yields the places of erased leaves in order, in batches. */
  readonly iterateErasedPlaces: () => AsyncIterable<readonly number[]>;
  /** Replaces the authentication codes of leaves. */
  readonly replaceCodes: (codes: readonly Pick<Leaf, 'place' | 'code' | 'plain_code'>[]) => Promise<void>;
  /** Removes the leaves from a place on, and those at negative places. Signed leaves must not be removed. */
  readonly removeLeavesFrom: (place: number) => Promise<void>;
  readonly close: () => Promise<void>;
}
