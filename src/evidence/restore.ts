import { type Head, headOf, textOfHead } from './checkpoint.js';
import { factOf } from './port.js';
import { leafOf, SALT_BYTES, type Sealing } from './seal.js';
import { EMPTY, growTree } from './tree.js';

export interface Restored {
  /** What the log is called from now on. */
  readonly origin: string;
  /** The newest checkpoint that came back with it. */
  readonly held: Head | null;
  /** What the key has signed last. */
  readonly newest: Head | null;
  /** Leaves that were signed, and are not there. */
  readonly lost: number;
}

/** A log that was put back never goes on under the name by which more of it was signed; a leaf says so. Null where nothing was sealed. */
export async function beginOrigin(
  sealing: Pick<Sealing, 'port' | 'key' | 'lastSigned' | 'now' | 'randomBytes'>,
): Promise<Restored | null> {
  const { port, lastSigned, now } = sealing;
  const newest = lastSigned.read();
  const { size } = await port.ends();
  if (newest === null && size === 0) return null;
  const checkpoint = await port.checkpoint(size);
  const held = checkpoint === null ? null : headOf(checkpoint.note);
  const at = new Date(now()).toISOString();
  const origin = `${sealing.key().name}/${at}`;
  const lost = Math.max(0, (newest?.size ?? 0) - size);
  const fact = factOf('restore', { at, origin, lost, held: toldOf(held), newest: toldOf(newest) });
  await port.append([leafOf(sealing.randomBytes(SALT_BYTES), fact, size)]);
  const tree = growTree(EMPTY);
  for await (const each of port.commitments(0, size + 1)) tree.add(each);
  lastSigned.write({ origin, size: size + 1, root: tree.root() });
  return { origin, held, newest, lost };
}

/** The first lines of a checkpoint. */
function toldOf(head: Head | null): string | null {
  return head === null ? null : textOfHead(head);
}
