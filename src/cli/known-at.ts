import type { Reader } from '../engines/contract/reader.js';
import { type AsOf, readKnownSince, readKnownUntil } from '../query/past/as-of.js';
import { countDatedBy } from '../query/past/explain.js';
import { CommandFault, EXIT } from './exit.js';
import { type Io, say } from './io.js';

/** Those that were known at their instant. Where several were asked for, one that was not is named and left out. */
export async function knownAt(
  io: Io,
  reader: Reader,
  wanted: readonly AsOf[],
  nameOf: (asOf: AsOf) => string,
): Promise<AsOf[]> {
  const unknown: string[] = [];
  const known: AsOf[] = [];
  for (const asOf of wanted) {
    const since = await readKnownSince(reader, asOf);
    const until = await readKnownUntil(reader, asOf);
    if (since === null) unknown.push(`${nameOf(asOf)}: never read completely`);
    else if (since > asOf.at)
      unknown.push(`${nameOf(asOf)}: not known before ${since}${await stillKnown(reader, asOf)}`);
    else if (until !== null && until < asOf.at) unknown.push(`${nameOf(asOf)}: not known after ${until}`);
    else known.push(asOf);
  }
  if (known.length === 0 && unknown.length > 0) {
    throw new CommandFault(
      EXIT.checkFailed,
      unknown,
      'The mirror cannot tell what was there before its first complete read, nor what came after its last.',
    );
  }
  for (const line of unknown) say(io, line);
  return known;
}

/** The registry dates retirements itself. */
async function stillKnown(reader: Reader, { resource, organizationId, at }: AsOf): Promise<string> {
  if (resource !== 'retirements') return '';
  const dated = await countDatedBy(reader, organizationId, at);
  return dated === 0 ? '' : `; ${dated} retirements of today's list carry an earlier date`;
}
