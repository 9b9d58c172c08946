import { refuse } from './evidence-error.js';

/** A tree: the name of its log, its number of leaves, and its root in base64. */
export interface TreeHead {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
}

/** A tree with the instant that was signed with it; empty if it is unknown. */
export interface SignedHead extends TreeHead {
  readonly signedAt: string;
}

/** Returns the first lines of a checkpoint, in the format of C2SP's tlog-checkpoint. */
export function formatTreeHead({ origin, size, root }: TreeHead): string {
  return `${origin}\n${size}\n${root}\n`;
}

const TREE_HEAD = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n/;

export function parseTreeHead(text: string): TreeHead {
  const [, origin, size, root] = TREE_HEAD.exec(text) ?? [];
  if (origin !== undefined && root !== undefined) return { origin, size: Number(size), root };
  return refuse(`expected origin, size and root of a tree, got "${text.slice(0, 80)}"`);
}

export function parseSignedHead(text: string): SignedHead {
  return { ...parseTreeHead(text), signedAt: getSignedAt(text) };
}

/** Returns the instant in the fourth line of a checkpoint; empty if there is none. */
export function getSignedAt(note: string): string {
  return note.split('\n')[3] ?? '';
}
