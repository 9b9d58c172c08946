import { throwEvidenceError } from './evidence-error.js';

/** The first three lines of a checkpoint: they identify a state of the log. */
export interface TreeHead {
  /** The name of the log. */
  readonly origin: string;
  /** The number of leaves. */
  readonly size: number;
  /** The root hash in base64. */
  readonly root: string;
}

/** A tree head that was signed. */
export interface SignedTreeHead extends TreeHead {
  /** The instant that was signed with it; empty if the checkpoint has none. */
  readonly signedAt: string;
}

/** Formats a tree head as the first three lines of a checkpoint, in the format of C2SP's tlog-checkpoint. */
export function formatTreeHead({ origin, size, root }: TreeHead): string {
  return `${origin}\n${size}\n${root}\n`;
}

const TREE_HEAD_PATTERN = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n/;

/** Parses the first three lines of a checkpoint. Throws an EvidenceError if they are malformed. Does not check a signature. */
export function parseTreeHead(text: string): TreeHead {
  const [, origin, size, root] = TREE_HEAD_PATTERN.exec(text) ?? [];
  if (origin !== undefined && root !== undefined) return { origin, size: Number(size), root };
  return throwEvidenceError(`expected origin, size and root of a tree, got "${text.slice(0, 80)}"`);
}

/** Parses the first four lines of a checkpoint, as `parseTreeHead` does. */
export function parseSignedTreeHead(text: string): SignedTreeHead {
  return { ...parseTreeHead(text), signedAt: getSignedAt(text) };
}

/** Returns the instant at which a checkpoint was signed: its fourth line; empty if there is none. */
export function getSignedAt(checkpoint: string): string {
  return checkpoint.split('\n')[3] ?? '';
}
