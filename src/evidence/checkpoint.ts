import { refuse } from './errors.js';

/** A tree by its name: whose log it is, how many leaves it has, and its root in base64. */
export interface Head {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
}

/** The first lines of a checkpoint, as C2SP's tlog-checkpoint says. */
export function textOfHead({ origin, size, root }: Head): string {
  return `${origin}\n${size}\n${root}\n`;
}

const HEAD = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n/;

export function headOf(text: string): Head {
  const [, origin, size, root] = HEAD.exec(text) ?? [];
  if (origin !== undefined && root !== undefined) return { origin, size: Number(size), root };
  return refuse(`expected origin, size and root of a tree, got "${text.slice(0, 80)}"`);
}

export function signedAt(note: string): string {
  return note.split('\n')[3] ?? '';
}
