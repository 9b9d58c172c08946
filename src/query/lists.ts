import type { ExpressionBuilder } from 'kysely';
import { AT_ONCE, type Reader } from '../engines/contract/reader.js';
import type { Row } from '../engines/contract/tables.js';
import { type Entry, nameOf, ownerOf } from '../resources/entry.js';
import { byName, lowered, stoodAt, totalOrder, withOwner } from './by-name.js';

interface ListFilter {
  readonly organizationId: string | null;
  /** All of them must hold. */
  readonly where?: readonly Condition[];
  /** An instant in the form of the mirror's own: what was true then. Without it, what is true now. */
  readonly at?: string | undefined;
  /** Null for all of them. */
  readonly limit: number | null;
}

/** What a column of the list is, or what its text holds, or from what to what it is. */
export type Condition = { readonly column: string } & (
  | { readonly is: string }
  | { readonly holds: string }
  | { readonly from: string; readonly to: string }
);

/** What is shown of a table or view. */
export function readList(reader: Reader, entry: Entry, filter: ListFilter): AsyncIterable<Row> {
  const { columns, order } = entry.shown;
  const { organizationId, where = [], at, limit } = filter;
  const from = at === undefined ? entry.shown.from : `${entry.table}_history`;
  let asked = byName(reader)
    .selectFrom(from)
    .select(withOwner(from, columns, at ?? null));
  const owned = organizationId === null ? null : ofOrganization(reader, entry, organizationId);
  if (owned !== null) asked = asked.where(owned.column, 'in', owned.values);
  for (const condition of where) asked = asked.where(eb => holds(eb, condition));
  if (at !== undefined) {
    asked = asked.where(stoodAt(at));
  }
  for (const { column, direct } of totalOrder(entry, order)) asked = asked.orderBy(column, direct);
  if (limit !== null) asked = asked.limit(limit);
  return asked.stream(AT_ONCE);
}

export function holds(eb: ExpressionBuilder<Record<string, Row>, string>, condition: Condition) {
  const { column } = condition;
  if ('is' in condition) return eb(column, '=', condition.is);
  if ('from' in condition) {
    return eb.and([eb(column, '>=', condition.from), eb(column, '<=', condition.to)]);
  }
  const text = eb.fn<string>('lower', [column]);
  if (condition.holds === '') return eb(text, 'is not', null);
  const without = eb.fn<string>('replace', [text, eb.val(lowered(condition.holds)), eb.val('')]);
  return eb(without, '<>', text);
}

/** Where it is looked for: among all that is shown, where nothing is said. */
export interface Beginning {
  readonly from?: string;
  readonly organizationId?: string | null;
}

/** The whole names that begin so, two at most: one is meant, of two nobody knows which. Of what is gone, too, where that is asked for. */
export async function readBeginnings(
  reader: Reader,
  entry: Entry,
  text: string,
  { from = entry.shown.from, organizationId = null }: Beginning = {},
): Promise<string[]> {
  const name = nameOf(entry);
  let asked = byName(reader).selectFrom(from).select(name).distinct();
  asked = asked.where(name, '>=', text).where(name, '<', `${text}\u{10ffff}`);
  const owned =
    organizationId === null
      ? ofAnyOrganization(reader, entry)
      : ofOrganization(reader, entry, organizationId);
  if (owned !== null) asked = asked.where(owned.column, 'in', owned.values);
  const rows = await asked.orderBy(name).limit(2).execute();
  return rows.map(row => String(row[name]));
}

/** Every row of this name: a credit may stand in several organizations. */
export async function readByName(
  reader: Reader,
  entry: Entry,
  name: string,
  organizationId: string | null = null,
): Promise<Row[]> {
  let asked = byName(reader).selectFrom(entry.shown.from).selectAll().where(nameOf(entry), '=', name);
  const owned =
    organizationId === null
      ? ofAnyOrganization(reader, entry)
      : ofOrganization(reader, entry, organizationId);
  if (owned !== null) asked = asked.where(owned.column, 'in', owned.values);
  for (const { column, direct } of totalOrder(entry, [])) asked = asked.orderBy(column, direct);
  return await asked.execute();
}

/** Every version of the rows of this name, oldest first; `valid_to` is null for what is still true. */
export async function readHistory(reader: Reader, entry: Entry, name: string): Promise<Row[]> {
  let asked = byName(reader).selectFrom(`${entry.table}_history`).selectAll().where(nameOf(entry), '=', name);
  const owned = ofAnyOrganization(reader, entry);
  if (owned !== null) asked = asked.where(owned.column, 'in', owned.values);
  return await asked.orderBy('valid_from').orderBy('version').execute();
}

/** What belongs to nobody is of every organization that names it. */
function ofOrganization({ db }: Reader, entry: Entry, id: string) {
  const owner = ownerOf(entry);
  if (owner !== null) return { column: owner, values: [id] };
  const named = db.selectFrom('project_references').select('project_id').where('organization_id', '=', id);
  return { column: 'id', values: named };
}

/** Keys begin with the organization: without it, one row is searched for in all of them. Null where they do not. */
export function ofAnyOrganization({ db }: Reader, { scope }: Entry) {
  if (scope !== 'organization_id') return null;
  return { column: scope, values: db.selectFrom('resource_states').select('organization_id') };
}
