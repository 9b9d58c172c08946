import type { Reader } from '../../store/contract/reader.js';
import { byName, NULLS_FIRST, stoodAt } from '../by-name.js';
import { count } from '../count.js';
import { UNREADABLE } from '../freshness.js';

export interface ReadAt {
  readonly organizationId: string;
  readonly resource: string;
  /** An instant in the form of the mirror's own. */
  readonly at: string;
}

/** How far a list was known at an instant. */
export interface Known {
  /** Its installation's, where only a webhook has named that and nobody has looked yet. */
  readonly organizationId: string;
  readonly name: string | null;
  /** Why it was not known then, in words; null where it was. */
  readonly unknown: string | null;
  /** The read that was under way then and changed something, and its end: what it had not shown by then is left out. */
  readonly reading: { readonly from: string; readonly to: string | null } | null;
}

export async function readKnownAt(reader: Reader, asked: ReadAt): Promise<Known> {
  const [known = { ...NOTHING, organizationId: asked.organizationId }] = await readAllKnownAt(reader, asked);
  return known;
}

/** What cannot be known of a list: of one organization, or of all of them. */
export async function readGaps(
  reader: Reader,
  resource: string,
  at: string,
  organizationId: string | null,
): Promise<Known[]> {
  const all = await readAllKnownAt(reader, { resource, at, organizationId });
  const unread = organizationId === null ? await readUnread(reader) : [];
  return [...all.filter(({ unknown, reading }) => unknown !== null || reading !== null), ...unread];
}

const NEVER_READ = 'never read completely';
const NOTHING = { name: null, unknown: NEVER_READ, reading: null };

/** Of every organization of which something was ever asked, or of one. */
export async function readAllKnownAt(
  reader: Reader,
  asked: Omit<ReadAt, 'organizationId'> & { readonly organizationId: string | null },
): Promise<Known[]> {
  const { organizationId, resource, at } = asked;
  let states = reader.db
    .selectFrom('resource_states as s')
    .leftJoin('organizations as o', 'o.id', 's.organization_id')
    .where('s.resource', '=', resource)
    .select(['s.organization_id as id', 'o.full_name as name', 's.first_complete_at as since'])
    .orderBy('s.organization_id');
  let ended = reader.db
    .selectFrom('freshness')
    .where('resource', '=', resource)
    .where('state', 'in', UNREADABLE)
    .select(['organization_id as id', 'as_of as at']);
  let reads = underWay(reader, resource, at)
    .select(['organization_id as id', 'started_at as from', 'finished_at as to'])
    .orderBy('syncs.id', 'desc');
  if (organizationId !== null) {
    states = states.where('s.organization_id', '=', organizationId);
    ended = ended.where('organization_id', '=', organizationId);
    reads = reads.where('organization_id', '=', organizationId);
  }
  const [ends, underWayThen] = [await ended.execute(), await reads.execute()];
  const known: Known[] = [];
  for (const { id, name, since } of await states.execute()) {
    const end = ends.find(each => each.id === id)?.at ?? null;
    const reading = underWayThen.find(each => each.id === id);
    known.push({
      organizationId: id,
      name,
      unknown: await whyUnknown(reader, { organizationId: id, resource, at }, { since, end }),
      reading: reading === undefined ? null : { from: reading.from, to: reading.to },
    });
  }
  return known.length === 0 && organizationId !== null ? [{ ...NOTHING, organizationId }] : known;
}

/** What nobody can read any more is known until its last complete read began, or its only one had ended. */
async function whyUnknown(
  reader: Reader,
  { organizationId, resource, at }: ReadAt,
  { since, end }: { readonly since: string | null; readonly end: string | null },
): Promise<string | null> {
  if (since === null) return NEVER_READ;
  if (since > at) {
    // The registry dates retirements itself.
    const dated = resource === 'retirements' ? await countDatedBy(reader, organizationId, at) : 0;
    const earlier = dated === 0 ? '' : `; ${dated} retirements of today's list carry an earlier date`;
    return `not known before ${since}, the end of the first complete read${earlier}`;
  }
  const until = end !== null && end < since ? since : end;
  return until !== null && until < at ? `not known after ${until}: nobody can read it any more` : null;
}

async function countDatedBy({ db }: Reader, organizationId: string, at: string): Promise<number> {
  const dated = db
    .selectFrom('retirements')
    .where('organization_id', '=', organizationId)
    .where('created_at', '<=', at);
  return await count(dated);
}

/** Start of the last complete read that had ended by the instant, as far back as syncs are kept. */
export async function readLastReadBefore(
  { db }: Reader,
  { organizationId, resource, at }: ReadAt,
): Promise<string | null> {
  const { from } = await db
    .selectFrom('syncs')
    .select(eb => eb.fn.max<string | null>('started_at').as('from'))
    .where('organization_id', '=', organizationId)
    .where('resource', '=', resource)
    .where('state', '=', 'complete')
    .where('finished_at', '<=', at)
    .executeTakeFirstOrThrow();
  return from;
}

/** Those that are known, and that nobody has looked at yet. */
async function readUnread({ db }: Reader): Promise<Known[]> {
  const rows = await db
    .selectFrom('coverage')
    .where('state', '=', 'never_read')
    .select(eb => [
      eb.fn.coalesce('organization_id', 'installation_id').as('organizationId'),
      'organization_name as name',
    ])
    .orderBy('installation_id')
    .execute();
  return rows.map(row => ({ ...row, unknown: NEVER_READ, reading: null }));
}

function underWay({ db }: Reader, resource: string, at: string) {
  return db
    .selectFrom('syncs')
    .where('resource', '=', resource)
    .where('started_at', '<=', at)
    .where(eb => eb.or([eb('finished_at', 'is', null), eb('finished_at', '>', at)]))
    .where(eb =>
      eb.or([
        eb('state', '=', 'running'),
        eb('rows_added', '>', 0),
        eb('rows_changed', '>', 0),
        eb('rows_removed', '>', 0),
      ]),
    );
}

/** What stood in the warehouses at an instant, added up. */
export async function readStoodAt({ db }: Reader, at: string) {
  return await db
    .selectFrom('warehouse_credits_history as w')
    .leftJoin('organizations_history as o', join =>
      join.onRef('o.id', '=', 'w.organization_id').on(stoodAt(at, 'o')),
    )
    .where(stoodAt(at, 'w'))
    .groupBy(['w.organization_id', 'o.full_name', 'w.project_id', 'w.project_name', 'w.vintage', 'w.type'])
    .select(eb => [
      'w.organization_id',
      'o.full_name as organization_name',
      'w.project_id',
      'w.project_name',
      'w.vintage',
      'w.type',
      eb.fn.sum<number | null>('w.amount_micro').as('amount_micro'),
      eb(eb.fn.countAll<number>(), '-', eb.fn.count<number>('w.amount_micro')).as('rows_without_amount'),
    ])
    .orderBy('o.full_name', NULLS_FIRST)
    .orderBy('w.organization_id')
    .orderBy('w.project_name', NULLS_FIRST)
    .orderBy('w.vintage', NULLS_FIRST)
    .orderBy('w.type', NULLS_FIRST)
    .orderBy('w.project_id', NULLS_FIRST)
    .execute();
}

/** How many rows of an organization a table held at an instant. */
export async function countAt(
  reader: Reader,
  table: string,
  owner: string,
  { organizationId, at }: Omit<ReadAt, 'resource'>,
) {
  const asked = byName(reader)
    .selectFrom(`${table}_history`)
    .where(owner, '=', organizationId)
    .where(stoodAt(at));
  return await count(asked);
}

export async function readOrganizationIds({ db }: Reader): Promise<string[]> {
  const asked = db.selectFrom('resource_states').select('organization_id').distinct();
  const rows = await asked.orderBy('organization_id').execute();
  return rows.map(row => row.organization_id);
}
