import type { TreePeaks } from './tree.js';

/** The data that a leaf of the evidence log commits to: field names with their values. Hashed as canonical JSON. */
export type LeafRecord = Readonly<Record<string, string | number | bigint | null>>;

/**
 * Kinds of leaves whose records the mirror itself stores and numbers: changes of rows, syncs (reads of a list), and spans. A span
 * (`unchanged`) is a series of scheduled reads of one list that found nothing new. Each kind is sealed in the order of its numbers.
 */
export const NUMBERED_KINDS = ['change', 'sync', 'unchanged'] as const;
export type NumberedKind = (typeof NUMBERED_KINDS)[number];

/** All kinds of leaves. Leaves of the kinds after the `NUMBERED_KINDS` store their own records, because the mirror does not. */
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
type CountingColumns = {
  /** The id of the organization that the leaf concerns. */
  readonly subject: string | null;
  /** The resource that changed or was read, such as `retirements`. */
  readonly resource: string | null;
  /** The number of the row version that the change replaced or removed. */
  readonly ended: number | null;
  /** The month (YYYY-MM) in which the mirror observed the row version that the change created. */
  readonly observed: string | null;
  /** The month (YYYY-MM) in which the row was created, according to the registry. */
  readonly dated: string | null;
  /** The amount of the row in millionths of a tonne, as digits, because it may exceed what a number holds. */
  readonly micro: string | null;
  /** The start of a read; for a span of unchanged reads, the start of its last read. */
  readonly read_at: string | null;
  /** 1 if the read was complete, otherwise 0. */
  readonly is_complete: number | null;
};

/** The names of the `CountingColumns`. */
export const COUNTING_COLUMNS = [
  'subject',
  'resource',
  'ended',
  'observed',
  'dated',
  'micro',
  'read_at',
  'is_complete',
] as const;

/** The content of a future leaf: its record and columns, before it gets an index, a salt and a commitment. */
export interface LeafInput extends CountingColumns {
  readonly kind: LeafKind;
  /** The number of the change, sync or span; null for other kinds, whose leaves get their index as number. */
  readonly number: number | null;
  readonly record: LeafRecord;
  /** The registry's JSON of the row; null if the record is not a row version. */
  readonly document: string | null;
  /** The name of the stored PDF, if the record is a certificate; otherwise null. */
  readonly file: string | null;
}

/** A leaf input in which no optional column is set. */
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

/** Creates a leaf input of any kind but `change`. Adds the kind to the record. */
export function createLeafInput(
  kind: LeafKind,
  record: LeafRecord,
  columns: Partial<LeafInput> = {},
): LeafInput {
  return { ...EMPTY_COLUMNS, ...columns, kind, record: { ...record, kind } };
}

/** A stored leaf of the evidence log: one row of the table `evidence.leaves`. */
export type Leaf = CountingColumns & {
  /** The leaf index: 0 for the first leaf of the log. */
  readonly place: number;
  readonly kind: LeafKind;
  /** The number of the change, sync or span; for other kinds, the leaf index. */
  readonly number: number;
  /** The record as canonical JSON. Null for changes, syncs and spans, whose records are read from the mirror. */
  readonly record: string | null;
  /** 32 random bytes. Null after `forget` or `purge`, as are all columns that reveal what the leaf is about. */
  readonly salt: Uint8Array | null;
  /** SHA-256 of salt and record. The leaf hash of the Merkle tree is computed from it. */
  readonly commitment: Uint8Array;
  /** The authentication code of the columns that an erasure keeps; see authentication-codes.ts. */
  readonly code: string;
  /** The authentication code of all columns; null after an erasure. */
  readonly plain_code: string | null;
};

/**
 * Returns a stateful filter that keeps the leaves of row versions that are current. It must be called with the change leaves of one
 * resource and organization, newest first: the leaf that replaced or removed a version is newer than that version.
 */
export function createCurrentFilter(): (leaf: Leaf) => boolean {
  /** Numbers of versions that the leaves seen so far replaced or removed. */
  const ended = new Set<number | null>();
  return leaf => {
    ended.add(leaf.ended);
    return leaf.observed !== null && !ended.delete(leaf.number);
  };
}

/** Larger than every change number, leaf index and tree size. Stands for "no upper limit". */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Selects leaves of the log in one of six ways. */
export type LeafFilter =
  /** All leaves that concern an organization. */
  | { readonly organizationId: string }
  /** All change leaves of a resource. */
  | { readonly resource: string }
  /** The leaves of a kind with these numbers. */
  | { readonly kind: NumberedKind; readonly numbers: readonly number[] }
  /** The leaves with these leaf indexes. */
  | { readonly leafIndexes: readonly number[] }
  /** Log events (leaves about erasures, restores and new keys) with a lower leaf index. */
  | { readonly logEventsBefore: number }
  /** For each organization its newest leaf of a kind with a lower leaf index; of kind `complete`, the one newest leaf. */
  | { readonly newest: 'coverage' | 'organization' | 'complete'; readonly beforeIndex: number };

/** A stored checkpoint: the C2SP signed note (`note`), and the peaks of its tree, to which more leaves can be appended. */
export type Checkpoint = TreePeaks & {
  readonly note: string;
};

/** The newest complete read of one resource of an organization in the log, and the failed reads since. */
export interface SealedReadSummary {
  readonly resource: string;
  /** The leaf index of the newest complete read; null if the log has no complete read. */
  readonly place: number | null;
  /** When that read started; null with `place`. */
  readonly read_at: string | null;
  /** The number of later reads that were not complete. */
  readonly failed: number;
}

/** An organization that has reads in a range of the log. */
interface OrganizationReads {
  /** The id of the organization. */
  readonly subject: string;
  /** The number of its reads in the range that were not complete. */
  readonly failed: number;
}

/** A note that a checkpoint left this machine: it was printed by a command, or timestamped by an authority. */
export interface Attestation {
  /** The tree size of the checkpoint. */
  readonly size: number;
  readonly kind: 'printed' | 'timestamp';
  readonly requested_at: string;
  /** The instant that the timestamp authority signed; null if the checkpoint was printed. */
  readonly attested_at: string | null;
  /** The time-stamp token of the authority; null if the checkpoint was printed. */
  readonly token: Uint8Array | null;
}

/** The number of sealed leaves (`size`), and the highest sealed numbers of changes, syncs and spans. 0 if there is none. */
export type LogProgress = Readonly<Record<'size' | NumberedKind, number>>;

/** Reads and writes the evidence log, and reads the mirror whose data it seals. Leaves are returned in the order of the log. */
export interface EvidencePort {
  /** Acquires the writer lock of the log, or extends it, until `expiresAt`. Returns false while another holder has it. */
  readonly acquireLock: (holder: string, now: number, expiresAt: number) => Promise<boolean>;
  readonly readProgress: () => Promise<LogProgress>;
  /**
   * Returns the highest number of a kind that the mirror has after `after`, and that can be sealed. A sync can be sealed once it
   * and all syncs before it have ended. If there is none, the result is not above `after`.
   */
  readonly findNewestNumber: (kind: NumberedKind, after: number) => Promise<number>;
  /** Reads the mirror's records of a kind, with numbers above `after` and up to `to`, as leaf inputs, by number. */
  readonly listNumberedInputs: (
    kind: NumberedKind,
    after: number,
    to: number,
  ) => Promise<readonly LeafInput[]>;
  /** Reads the spans of unchanged reads that still continue, as leaf inputs. Reads those of all organizations for a null id. */
  readonly listOpenSpans: (organizationId: string | null) => Promise<readonly LeafInput[]>;
  /** Returns the instant before which the mirror may have deleted old syncs; null if it never deleted any. */
  readonly readSyncsKeptSince: () => Promise<string | null>;
  /** Reads the name and state of each installation and its organization, as leaf inputs of kind `coverage`. */
  readonly listCoverage: () => Promise<readonly LeafInput[]>;
  /** Reads the changes of a resource that have these numbers, as leaf inputs. Leaves out numbers that the mirror lacks. */
  readonly listChangesByNumber: (
    resource: string,
    numbers: readonly number[],
  ) => Promise<readonly LeafInput[]>;
  /**
   * Yields the change leaves of an organization, up to the change number `upTo`: resource by resource, newest first.
   * Omits leaves about people.
   */
  readonly iterateChangeLeaves: (organizationId: string, upTo: number) => AsyncIterable<readonly Leaf[]>;
  /** Yields those of `iterateChangeLeaves` whose row versions were current at the change number `upTo`. */
  readonly iterateCurrentLeaves: (organizationId: string, upTo: number) => AsyncIterable<readonly Leaf[]>;
  readonly listLeaves: (filter: LeafFilter) => Promise<readonly Leaf[]>;
  /** Yields the leaves with indexes from `from` up to but excluding `to`, in batches. */
  readonly iterateLeaves: (from: number, to: number) => AsyncIterable<readonly Leaf[]>;
  /** Yields the commitments of the leaves with indexes from `from` up to but excluding `to`, in batches. */
  readonly iterateCommitments: (
    from: number,
    to: number,
  ) => AsyncIterable<readonly Pick<Leaf, 'commitment'>[]>;
  /** Returns the organizations with sealed changes, other than of people, whose numbers are above `after` and up to `to`. */
  readonly listChangedOrganizations: (after: number, to: number) => Promise<readonly string[]>;
  /** Summarizes, by resource, the reads of an organization's lists in leaves with a lower index than `beforeIndex`. */
  readonly listSealedReads: (
    organizationId: string,
    beforeIndex: number,
  ) => Promise<readonly SealedReadSummary[]>;
  /** Returns the organizations that have reads in the leaves from index `from` up to but excluding `to`. */
  readonly listOrganizationsWithReads: (from: number, to: number) => Promise<readonly OrganizationReads[]>;
  /** Appends leaves in one transaction. Fails if a stored leaf already has one of their indexes. */
  readonly appendLeaves: (leaves: readonly Leaf[]) => Promise<void>;
  /** Returns the newest checkpoint whose tree has at most `maxSize` leaves; null if there is none. */
  readonly findCheckpoint: (maxSize: number) => Promise<Checkpoint | null>;
  /** Returns at most `limit` checkpoints whose tree size is above `afterSize` and up to `toSize`, by size. */
  readonly listCheckpoints: (
    afterSize: number,
    toSize: number,
    limit?: number,
  ) => Promise<readonly Checkpoint[]>;
  readonly storeCheckpoint: (checkpoint: Checkpoint) => Promise<void>;
  /** Stores an attestation, unless the checkpoint already has one of the same kind. */
  readonly storeAttestation: (attestation: Attestation) => Promise<void>;
  /** Returns the attestation of a kind that was requested last; of any kind if `kind` is null. */
  readonly findNewestAttestation: (kind: Attestation['kind'] | null) => Promise<Attestation | null>;
  /** Returns the timestamps of all checkpoints, by tree size. */
  readonly listTimestamps: () => Promise<readonly Attestation[]>;
  /** Returns the selected leaves that were not erased. */
  readonly listUnerasedLeaves: (filter: LeafFilter) => Promise<readonly Leaf[]>;
  /** Appends a leaf. In the same transaction, sets to null all columns of the selected leaves that reveal what they are about. */
  readonly eraseLeaves: (appended: Leaf, filter: LeafFilter) => Promise<void>;
  /** Yields the indexes of erased leaves in ascending order, in batches. */
  readonly iterateErasedIndexes: () => AsyncIterable<readonly number[]>;
  /** Replaces the authentication codes of the leaves with these indexes (`place`). */
  readonly replaceCodes: (codes: readonly Pick<Leaf, 'place' | 'code' | 'plain_code'>[]) => Promise<void>;
  /**
   * Deletes the leaves from an index on, and forged ones with a negative index. Callers must not delete leaves that a signed
   * checkpoint covers.
   */
  readonly removeLeavesFrom: (leafIndex: number) => Promise<void>;
  /** Closes the connections to both databases. */
  readonly close: () => Promise<void>;
}
