import { AT_ONCE, type Reader } from '../store/contract/reader.js';
import { ENTRIES } from '../resources/resources.js';
import { LISTS } from '../resources/lists.js';
import { byName } from './sql.js';
import { readKnown } from './coverage.js';

/** Where the registry's own objects may hold a person's address, beside the members. */
const TABLES = ENTRIES.filter(entry => entry.hasDocument && entry !== LISTS.members).map(
  ({ table }) => table,
);

export interface Mention {
  readonly table: string;
  readonly rows: number;
}

/** Rows, past ones included, whose registry's object names the address. They are found by reading every one. */
export async function readMentions(
  reader: Reader,
  isAbout: (document: string) => boolean,
): Promise<Mention[]> {
  const mentions: Mention[] = [];
  for (const table of TABLES) {
    let rows = 0;
    const documents = byName(reader).selectFrom(`${table}_history`).select('document').stream(AT_ONCE);
    for await (const { document } of documents) if (isAbout(String(document))) rows += 1;
    if (rows > 0) mentions.push({ table, rows });
  }
  return mentions;
}

/** The numbers that the coming and going of a person's rows of members have in `changes`. */
export async function readMemberNumbers(
  { db }: Reader,
  isTheirs: (member: { readonly email: string | null; readonly document: string }) => boolean,
): Promise<number[]> {
  const members = await db
    .selectFrom('members_history')
    .select(['version', 'closed_version', 'email', 'document'])
    .execute();
  return members.filter(isTheirs).flatMap(each => [each.version, each.closed_version ?? []].flat());
}

export interface Purgeable {
  readonly organizationId: string;
  /** The name that a person has to repeat; the id where no name is known. */
  readonly name: string;
  readonly state: string;
}

export async function readPurgeable(reader: Reader, organizationId: string): Promise<Purgeable> {
  const [known] = await readKnown(reader, organizationId);
  const { name = null, state = 'uninstalled' } = known ?? {};
  return { organizationId, name: name ?? organizationId, state };
}
