import type { Reader } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';
import { ENTRIES } from '../resources/resources.js';
import { LISTS } from '../resources/lists.js';
import { columns, sql, table } from './sql.js';

/** Where the registry's own objects may hold a person's address, beside the members. */
const TABLES = ENTRIES.filter(entry => entry.hasDocument && entry !== LISTS.members).map(
  entry => entry.table,
);

/** Rows, past ones included, whose registry's object names the address. They are found by reading every one. */
export async function readMentions({ stream }: Reader, isAbout: (document: string) => boolean) {
  const mentions: { readonly table: string; readonly rows: number }[] = [];
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

/** Hashes of the addresses of those who are missing on purpose. */
export async function readForgotten({ all }: Reader): Promise<ReadonlySet<string>> {
  const rows = await all(sql<Tables['forgotten_people']>`SELECT * FROM mirror.forgotten_people`);
  return new Set(rows.map(row => row.email_sha256));
}
