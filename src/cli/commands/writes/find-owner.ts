import { readByName } from '../../../query/lists.js';
import type { Entry } from '../../../resources/entry.js';
import { CommandFault, EXIT } from '../../exit.js';
import { reading, type Place } from '../../place/place.js';

/** The organization that something belongs to: as it was named, or by its id in the mirror. */
export async function findOwner(
  place: Place,
  list: Entry,
  id: string,
  named: string | undefined,
): Promise<string> {
  if (named !== undefined) return named;
  const known = place.engine.findMissing() === null ? await findOwners(place, list, id) : [];
  const [owner] = known;
  if (owner !== undefined && known.length === 1) return owner;
  throw new CommandFault(
    EXIT.usage,
    `The mirror ${known.length === 0 ? 'does not know' : 'knows more than one organization with'} "${id}".`,
    'Say whose it is with --organization ID.',
  );
}

async function findOwners(place: Place, list: Entry, id: string): Promise<string[]> {
  const rows = await reading(place, async reader => await readByName(reader, list, id));
  return rows.map(row => String(row['organization_id']));
}
