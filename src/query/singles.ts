import type { Reader } from '../store/contract/reader.js';

/** Something that stands at the registry by itself, and is asked for by its id. */
export interface Single {
  readonly organization_id: string;
  readonly installation_id: string;
  readonly key: string;
  /** Null for what the mirror says is not there. */
  readonly kept: string | null;
}

/** Each with its state; null where it is uninstalled. */
export async function readInstallations({ db }: Reader): Promise<Single[]> {
  const rows = await db
    .selectFrom('installations')
    .select(eb => [
      eb.fn.coalesce('organization_id', eb.val('')).as('organization_id'),
      'id as installation_id',
      'id as key',
      'state',
      'document',
    ])
    .orderBy('id')
    .execute();
  return rows.map(({ state, document, ...row }) => ({
    ...row,
    kept: state === 'uninstalled' ? null : `${state} ${document}`,
  }));
}

/** By way of the organizations that name them. */
export async function readProjects(reader: Reader): Promise<Single[]> {
  return await reader.db
    .selectFrom('projects as p')
    .innerJoin('project_states as s', 's.project_id', 'p.id')
    .innerJoin('project_references as r', 'r.project_id', 'p.id')
    .innerJoin(active(reader).as('i'), 'i.organization_id', 'r.organization_id')
    .where('s.state', '=', 'readable')
    .groupBy(['p.id', 'p.document'])
    .select(({ fn }) => [
      fn.min('r.organization_id').as('organization_id'),
      fn.min('i.id').as('installation_id'),
      'p.id as key',
      'p.document as kept',
    ])
    .orderBy('p.id')
    .execute();
}

function active({ db }: Reader) {
  return db
    .selectFrom('installations')
    .where('state', '=', 'active')
    .groupBy('organization_id')
    .select(eb => ['organization_id', eb.fn.max('id').as('id')]);
}

export interface Installed {
  readonly id: string;
  readonly document: string;
}

/** The newest installation of an organization, an active one first. */
export async function readInstalled({ db }: Reader, organizationId: string): Promise<Installed | null> {
  const row = await db
    .selectFrom('installations')
    .select(['id', 'document'])
    .where('organization_id', '=', organizationId)
    .orderBy(eb => eb.case().when('state', '=', 'active').then(0).else(1).end())
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** The first credit in the warehouse of an organization. */
export async function readFirstCredit({ db }: Reader, organizationId: string): Promise<string | null> {
  const asked = db
    .selectFrom('warehouse_credits')
    .select('credit_id')
    .where('organization_id', '=', organizationId);
  return (await asked.orderBy('credit_id').limit(1).executeTakeFirst())?.credit_id ?? null;
}
