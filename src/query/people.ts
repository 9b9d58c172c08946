import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';
import { ENTRIES } from '../resources/resources.js';
import { LISTS } from '../resources/lists.js';
import { relation, selectColumns } from './lists/relation.js';
import { sqlStatement } from '../store/sql/columns.js';

/** Tables besides the members whose registry documents may contain an email address. */
const TABLES = ENTRIES.filter(entry => entry.hasDocument && entry !== LISTS.members).map(
  entry => entry.table,
);

/** How many rows of a table mention a person. */
interface TableMentions {
  readonly table: string;
  readonly rows: number;
}

/**
 * Returns for each table, except that of the members, how many rows have a document that mentions a person. Counts older versions
 * of rows too, and omits tables without a mention. Reads every document.
 */
export async function countMentions(
  { stream }: Reader,
  mentionsPerson: (document: string) => boolean,
): Promise<TableMentions[]> {
  const mentions: TableMentions[] = [];
  for (const table of TABLES) {
    let rows = 0;
    const documents = stream(
      sqlStatement`SELECT ${selectColumns(['document'])} FROM ${relation(`${table}_history`)}`,
    );
    for await (const { document } of documents) if (mentionsPerson(String(document))) rows += 1;
    if (rows > 0) mentions.push({ table, rows });
  }
  return mentions;
}

/** Returns the numbers of all changes of a person's rows in the list of members. */
export async function readMemberChangeNumbers(
  { all }: Reader,
  isPerson: (member: { readonly email: string | null; readonly document: string }) => boolean,
): Promise<number[]> {
  const members = await all(
    queryBuilder
      .selectFrom('mirror.members_history')
      .select(['version', 'closed_version', 'email', 'document']),
  );
  return members
    .filter(isPerson)
    .flatMap(({ version, closed_version: closedVersion }) => [version, closedVersion ?? []].flat());
}

/** Reads the hashes of the email addresses of people whose data was erased with the command `forget`. */
export async function readForgotten({ all }: Reader): Promise<ReadonlySet<string>> {
  const rows = await all(queryBuilder.selectFrom('mirror.forgotten_people').select('email_sha256'));
  return new Set(rows.map(row => row.email_sha256));
}
