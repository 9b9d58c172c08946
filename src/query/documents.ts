import { AT_ONCE, type Reader } from '../store/contract/reader.js';
import type { Row, Value } from '../store/contract/tables.js';
import { type Entry, keyOf } from '../resources/entry.js';
import { LIST_RESOURCES } from '../resources/lists.js';
import { byName, NULLS_FIRST } from './sql.js';
import { UNREADABLE } from './freshness.js';

/** So many versions after one, past ones too, whole. */
export async function readVersions(
  reader: Reader,
  table: string,
  after: Value,
  limit: number,
): Promise<Row[]> {
  const asked = byName(reader).selectFrom(`${table}_history`).selectAll().where('version', '>', after);
  return await asked.orderBy('version').limit(limit).execute();
}

/** The key and the registry's object of every row of an organization. */
export function readDocuments(reader: Reader, entry: Entry, organizationId: string): AsyncIterable<Row> {
  const columns = [...keyOf(entry), 'document'];
  const asked = byName(reader).selectFrom(entry.table).select(columns);
  return asked.where(entry.scope ?? 'id', '=', organizationId).stream(AT_ONCE);
}

/** Hashes of the addresses of those who are missing on purpose. */
export async function readForgotten({ db }: Reader): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('forgotten_people').select('email_sha256').execute();
  return new Set(rows.map(row => row.email_sha256));
}

/** Everything that was read completely and that an active installation lets us read again. */
export async function readReadable({ db }: Reader) {
  return await db
    .selectFrom('freshness as f')
    .innerJoin('installations as i', 'i.organization_id', 'f.organization_id')
    .where('i.state', '=', 'active')
    .where('f.as_of', 'is not', null)
    .where('f.state', 'not in', UNREADABLE)
    .groupBy(['f.organization_id', 'f.resource'])
    .select(eb => [
      eb.ref('f.organization_id').$notNull().as('organization_id'),
      eb.fn.max('i.id').as('installation_id'),
      'f.resource',
    ])
    .orderBy('f.organization_id')
    .orderBy('f.resource')
    .execute();
}

/** Lists that the mirror keeps or would keep, and that nobody can read again or has read completely. */
export async function readNotCompared({ db }: Reader) {
  return await db
    .selectFrom('coverage as c')
    .leftJoin('freshness as f', 'f.organization_id', 'c.organization_id')
    .where(eb => eb.or([eb('f.as_of', 'is', null), eb('f.state', 'in', UNREADABLE)]))
    .where(eb => eb.or([eb('f.resource', 'is', null), eb('f.resource', 'in', [...LIST_RESOURCES, '*'])]))
    .select(eb => [
      'c.organization_id',
      'c.installation_id',
      'c.organization_name as name',
      eb.fn.coalesce('f.resource', eb.val('*')).as('resource'),
      eb.fn.coalesce(eb.ref('f.state').$castTo<string>(), 'c.state').as('state'),
      'f.reason',
    ])
    .orderBy('c.organization_id', NULLS_FIRST)
    .orderBy('c.installation_id')
    .orderBy('f.resource')
    .execute();
}
