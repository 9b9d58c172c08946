import { isObject } from '../registry/model.js';
import type { Reader } from '../store/contract/reader.js';
import { byName, stoodAt } from './sql.js';

export interface Named {
  readonly id: string;
  readonly name: string | null;
}

/** Every organization of which the mirror holds or held anything, by the latest name that it knows. */
export async function readOrganizationNames(reader: Reader): Promise<Named[]> {
  const { db } = reader;
  const known = db
    .selectFrom('organizations')
    .select('id')
    .union(
      db
        .selectFrom('installations')
        .where('organization_id', 'is not', null)
        .select(eb => eb.ref('organization_id').$notNull().as('id')),
    )
    .union(db.selectFrom('resource_states').select('organization_id as id'));
  const found = await db
    .selectFrom(known.as('known'))
    .leftJoin('organizations as o', 'o.id', 'known.id')
    .select(eb => [
      'known.id',
      eb.fn
        .coalesce(
          'o.full_name',
          eb
            .selectFrom('organizations_history as p')
            .select('p.full_name')
            .whereRef('p.id', '=', 'known.id')
            .where('p.valid_to', 'is not', null)
            .orderBy('p.valid_to', 'desc')
            .limit(1),
        )
        .as('name'),
    ])
    .orderBy('known.id')
    .execute();
  if (found.every(({ name }) => name !== null)) return found;
  const installed = new Map((await readInstalled(reader)).map(each => [each.organizationId, each.name]));
  return found.map(({ id, name }) => ({ id, name: name ?? installed.get(id) ?? null }));
}

/** Every installation, by the name of its organization. */
export async function readInstallationNames(reader: Reader): Promise<Named[]> {
  return (await readInstalled(reader)).map(({ id, name }) => ({ id, name }));
}

/** Where the organization was not read, as its installation calls it. */
async function readInstalled({ db }: Reader) {
  const rows = await db
    .selectFrom('installations as i')
    .leftJoin('organizations as o', 'o.id', 'i.organization_id')
    .select(['i.id', 'i.organization_id as organizationId', 'o.full_name', 'i.document'])
    .orderBy('i.version')
    .execute();
  return rows.map(({ full_name: name, document, ...row }) => ({ ...row, name: name ?? nameIn(document) }));
}

/** The name of the organization in the registry's object of an installation. */
function nameIn(document: string): string | null {
  const installation = parse(document);
  const organization = isObject(installation) ? installation['organization'] : null;
  const name = isObject(organization) ? organization['fullName'] : null;
  return typeof name === 'string' ? name : null;
}

function parse(document: string): unknown {
  try {
    return JSON.parse(document);
  } catch {
    return null;
  }
}

/** Those that are there, or were at an instant, by their names. */
export function named(reader: Reader, table: 'organizations' | 'projects', at: string | null) {
  const all = byName(reader).selectFrom(at === null ? table : `${table}_history`);
  const then = at === null ? all : all.where(stoodAt(at));
  return then.select(['id', 'full_name as name']).$castTo<Named>().orderBy('full_name').orderBy('id');
}

/** What an organization is called, or was at an instant; null where nobody knows. */
export async function readNameOf(reader: Reader, id: string, at: string | null): Promise<string | null> {
  return (await named(reader, 'organizations', at).where('id', '=', id).executeTakeFirst())?.name ?? null;
}

export async function readProjectNames(reader: Reader): Promise<Named[]> {
  return await named(reader, 'projects', null).execute();
}

/** What the mirror was filled from; null before the first worker. */
export async function readOrigin({ db }: Reader) {
  const asked = db.selectFrom('origin').select(['base_url as baseUrl', 'app_id as appId']);
  return (await asked.executeTakeFirst()) ?? null;
}
