import { type Head, headOf, textOfHead } from './checkpoint.js';
import { createObservation } from './port.js';
import type { Sealing } from './seal.js';
import { EMPTY, growTree } from './tree.js';
import { appendOne } from './write.js';

export type RestoredOrigin = NonNullable<Awaited<ReturnType<typeof beginOrigin>>>;

/** A log that was put back never goes on under the name by which more of it was signed; a leaf says so, and what is lost. Null where nothing was sealed. */
export async function beginOrigin(restoring: Omit<Sealing, 'holder' | 'signal'>) {
  const { port, key, lastSigned, now } = restoring;
  const newest = lastSigned.read();
  const { size } = await port.ends();
  if (newest === null && size === 0) return null;
  const checkpoint = await port.checkpoint(size);
  const held = checkpoint === null ? null : headOf(checkpoint.note);
  const at = new Date(now()).toISOString();
  const origin = `${key().name}/${at}`;
  const lost = Math.max(0, (newest?.size ?? 0) - size);
  const textOf = (head: Head | null) => (head === null ? null : textOfHead(head));
  await appendOne(
    restoring,
    createObservation('restore', { at, origin, lost, held: textOf(held), newest: textOf(newest) }),
  );
  const tree = growTree(EMPTY);
  await tree.grow(port.commitments(0, size + 1));
  lastSigned.write({ origin, size: size + 1, root: tree.root() });
  return { origin, held, newest, lost };
}
