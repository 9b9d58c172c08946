import type { Reader } from '../store/contract/reader.js';
import { type ReadAt, readKnownAt } from '../query/history/as-of.js';
import { checkFault } from './exit.js';
import { type Io, say } from './io.js';

/** Those that were known at their instant. Where several were asked for, one that was not is named and left out. */
export async function knownAt<AsOf extends ReadAt>(
  io: Io,
  reader: Reader,
  wanted: readonly AsOf[],
  nameOf: (asOf: AsOf) => string,
): Promise<AsOf[]> {
  const lines: string[] = [];
  const known: AsOf[] = [];
  for (const asOf of wanted) {
    const { unknown } = await readKnownAt(reader, asOf);
    if (unknown === null) known.push(asOf);
    else lines.push(`${nameOf(asOf)}: ${unknown}`);
  }
  if (known.length === 0 && lines.length > 0) {
    throw checkFault(
      lines,
      'The mirror cannot tell what was there before its first complete read, nor what came after its last.',
    );
  }
  say(io, ...lines);
  return known;
}
