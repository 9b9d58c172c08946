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
  return await db
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
}

/** Every installation, by the name of its organization. */
export async function readInstallationNames({ db }: Reader): Promise<Named[]> {
  return await db
    .selectFrom('installations as i')
    .leftJoin('organizations as o', 'o.id', 'i.organization_id')
    .select(['i.id', 'o.full_name as name'])
    .orderBy('i.version')
    .execute();
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
