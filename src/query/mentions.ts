import type { Reader } from '../store/contract/reader.js';
import { ENTRIES } from '../resources/resources.js';
import { LISTS } from '../resources/lists.js';
import { readKnown } from './coverage.js';
import { columns, sql, table } from './sql.js';

/** Where the registry's own objects may hold a person's address, beside the members. */
const TABLES = ENTRIES.filter(entry => entry.hasDocument && entry !== LISTS.members).map(
  entry => entry.table,
);

export interface Mention {
  readonly table: string;
  readonly rows: number;
}

/** Rows, past ones included, whose registry's object names the address. They are found by reading every one. */
export async function readMentions(
  { stream }: Reader,
  isAbout: (document: string) => boolean,
): Promise<Mention[]> {
  const mentions: Mention[] = [];
  for (const name of TABLES) {
    let rows = 0;
    const documents = stream(sql<{ document: string }>`SELECT document FROM ${table(`${name}_history`)}`);
    for await (const { document } of documents) if (isAbout(document)) rows += 1;
    if (rows > 0) mentions.push({ table: name, rows });
  }
  return mentions;
}

/** The numbers that the coming and going of a person's rows of members have in `changes`. */
export async function readMemberNumbers(
  { all }: Reader,
  isTheirs: (member: { readonly email: string | null; readonly document: string }) => boolean,
): Promise<number[]> {
  const wanted = columns('members_history', ['version', 'closed_version', 'email', 'document']);
  const members = await all(sql`SELECT ${wanted} FROM mirror.members_history`);
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
