import { readByName } from '../../../query/lists.js';
import type { Entry } from '../../../resources/entry.js';
import { wholeName } from '../../named/beginning.js';
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

/** A credit by its id, or by a beginning that is unique in the organization's list as the mirror knows it; else as it was named. */
export async function findCredit(
  place: Place,
  list: Entry,
  text: string,
  organizationId: string,
): Promise<string> {
  if (place.engine.findMissing() !== null) return text;
  return await reading(place, async reader => {
    const exact = await readByName(reader, list, text, organizationId);
    return exact.length > 0 ? text : ((await wholeName(reader, list, text, { organizationId })) ?? text);
  });
}

async function findOwners(place: Place, list: Entry, id: string): Promise<string[]> {
  const rows = await reading(place, async reader => await readByName(reader, list, id));
  return rows.map(row => String(row['organization_id']));
}
