import type { Reader } from '../store/contract/reader.js';
import { byName, stoodAt } from './by-name.js';

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
  const installed = await readInstalledNames(reader);
  return found.map(({ id, name }) => ({ id, name: name ?? installed.get(id) ?? null }));
}

/** What the installations call their organizations. */
async function readInstalledNames({ db }: Reader): Promise<ReadonlyMap<string | null, string>> {
  const rows = await db
    .selectFrom('installations')
    .select(['organization_id', 'document'])
    .orderBy('version')
    .execute();
  return new Map(
    rows.flatMap(({ organization_id: id, document }) => {
      const name = nameIn(document);
      return name === null ? [] : [[id, name]];
    }),
  );
}

/** Every installation, by the name of its organization. */
export async function readInstallationNames({ db }: Reader): Promise<Named[]> {
  const rows = await db
    .selectFrom('installations as i')
    .leftJoin('organizations as o', 'o.id', 'i.organization_id')
    .select(['i.id', 'o.full_name', 'i.document'])
    .orderBy('i.id')
    .execute();
  return rows.map(({ id, full_name: name, document }) => ({ id, name: name ?? nameIn(document) }));
}

/** The name of the organization in the registry's object of an installation. */
function nameIn(document: string): string | null {
  const installation = parse(document);
  if (typeof installation !== 'object' || installation === null || !('organization' in installation))
    return null;
  const { organization } = installation;
  if (typeof organization !== 'object' || organization === null || !('fullName' in organization)) return null;
  return typeof organization.fullName === 'string' ? organization.fullName : null;
}

function parse(document: string): unknown {
  try {
    return JSON.parse(document);
  } catch {
    return null;
  }
}

/** What an organization is called, or was at an instant; null where nobody knows. */
export async function readNameOf(reader: Reader, id: string, at: string | null): Promise<string | null> {
  const found = await byName(reader)
    .selectFrom(at === null ? 'organizations' : 'organizations_history')
    .select('full_name')
    .where('id', '=', id)
    .where(eb => (at === null ? eb.and([]) : stoodAt(at)))
    .executeTakeFirst();
  const name = found?.['full_name'];
  return typeof name === 'string' ? name : null;
}

/** The address of the registry that the mirror was filled from; null before the first worker. */
export async function readRegistry({ db }: Reader): Promise<string | null> {
  return (await db.selectFrom('origin').select('base_url').executeTakeFirst())?.base_url ?? null;
}
