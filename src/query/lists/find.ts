import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { type Entry, nameOf, ownerOf } from '../../resources/entry.js';
import { byName } from '../sql.js';

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
  const rows = await ofOne(reader, entry, from, organizationId)
    .select(name)
    .distinct()
    .where(name, '>=', text)
    .where(name, '<', `${text}\u{10ffff}`)
    .orderBy(name)
    .limit(2)
    .execute();
  return rows.map(row => String(row[name]));
}

/** Every row of this name: a credit may stand in several organizations. */
export async function readByName(
  reader: Reader,
  entry: Entry,
  name: string,
  organizationId: string | null = null,
): Promise<Row[]> {
  const asked = ofOne(reader, entry, entry.shown.from, organizationId).selectAll();
  return await asked.where(nameOf(entry), '=', name).orderBy('version').execute();
}

/** Every version of the rows of this name, oldest first; `valid_to` is null for what is still true. */
export async function readHistory(reader: Reader, entry: Entry, name: string): Promise<Row[]> {
  const asked = ofOne(reader, entry, `${entry.table}_history`, null).selectAll();
  return await asked.where(nameOf(entry), '=', name).orderBy('valid_from').orderBy('version').execute();
}

function ofOne(reader: Reader, entry: Entry, from: string, organizationId: string | null) {
  const asked = byName(reader).selectFrom(from);
  const owned =
    organizationId === null
      ? ofAnyOrganization(reader, entry)
      : ofOrganization(reader, entry, organizationId);
  return owned === null ? asked : asked.where(owned.column, 'in', owned.values);
}

function ofOrganization(reader: Reader, entry: Entry, id: string) {
  const owner = ownerOf(entry);
  return owner === null ? { column: 'id', values: thatNames(reader, id) } : { column: owner, values: [id] };
}

/** The projects that an organization names: what belongs to nobody is of every one of these. */
export function thatNames({ db }: Reader, organizationId: string) {
  return db
    .selectFrom('project_references')
    .select('project_id')
    .where('organization_id', '=', organizationId);
}

/** Keys begin with the organization: without it, one row is searched for in all of them. Null where they do not. */
export function ofAnyOrganization({ db }: Reader, { scope }: Entry) {
  if (scope !== 'organization_id') return null;
  return { column: scope, values: db.selectFrom('resource_states').select('organization_id') };
}
