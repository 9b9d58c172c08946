import type { Reader } from '../../store/contract/reader.js';
import { byName, count, largest, NULLS_FIRST, ofOne, stoodAt } from '../sql.js';
import { BY_PROJECT, type Column, exact, summed } from '../sums.js';
import { UNREADABLE } from '../freshness.js';

interface Asked {
  /** Null for all of them. */
  readonly organizationId: string | null;
  readonly resource: string;
  /** An instant in the form of the mirror's own. */
  readonly at: string;
}

export interface ReadAt extends Asked {
  readonly organizationId: string;
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

const NEVER_READ = 'never read completely';

/** What can be known of a list: of one organization, or of all that are known, those that nobody has looked at yet last. */
export async function readKnownAt(reader: Reader, asked: Asked): Promise<Known[]> {
  const { organizationId, resource, at } = asked;
  const states = await reader.db
    .selectFrom('resource_states as s')
    .leftJoin('organizations as o', 'o.id', 's.organization_id')
    .where('s.resource', '=', resource)
    .where(ofOne(organizationId, 's'))
    .select(['s.organization_id as id', 'o.full_name as name', 's.first_complete_at as since'])
    .orderBy('s.organization_id')
    .execute();
  const ended = await reader.db
    .selectFrom('freshness')
    .where('resource', '=', resource)
    .where('state', 'in', UNREADABLE)
    .where(ofOne(organizationId))
    .select(['organization_id as id', 'as_of as at'])
    .execute();
  const reads = await readUnderWay(reader, asked);
  const known: Known[] = [];
  for (const { id, name, since } of states) {
    const end = ended.find(each => each.id === id)?.at ?? null;
    const unknown = await whyUnknown(reader, { organizationId: id, resource, at }, { since, end });
    const reading = reads.find(each => each.organization_id === id) ?? null;
    known.push({
      organizationId: id,
      name,
      unknown,
      reading: reading && { from: reading.from, to: reading.to },
    });
  }
  if (organizationId === null) return [...known, ...(await readUnread(reader))];
  return known.length > 0 ? known : [nothingOf(organizationId)];
}

export async function readKnownOf(reader: Reader, asked: ReadAt): Promise<Known> {
  const [known] = await readKnownAt(reader, asked);
  return known ?? nothingOf(asked.organizationId);
}

function nothingOf(organizationId: string): Known {
  return { organizationId, name: null, unknown: NEVER_READ, reading: null };
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
  const reads = db.selectFrom('syncs').where('organization_id', '=', organizationId);
  const complete = reads.where('resource', '=', resource).where('state', '=', 'complete');
  return await largest(complete.where('finished_at', '<=', at), 'started_at');
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

/** What ran at the instant and changed something, the newest first. */
async function readUnderWay({ db }: Reader, { organizationId, resource, at }: Asked) {
  const changed = ['rows_added', 'rows_changed', 'rows_removed'] as const;
  return await db
    .selectFrom('syncs')
    .where('resource', '=', resource)
    .where(ofOne(organizationId))
    .where('started_at', '<=', at)
    .where(eb => eb.or([eb('finished_at', 'is', null), eb('finished_at', '>', at)]))
    .where(eb => eb.or([eb('state', '=', 'running'), ...changed.map(column => eb(column, '>', 0))]))
    .select(['organization_id', 'started_at as from', 'finished_at as to'])
    .orderBy('id', 'desc')
    .execute();
}

/** What stood in all warehouses at an instant, added up by organization and project. */
export async function sumStoodAt({ db }: Reader, at: string) {
  const by: readonly Column[] = ['organization_id', ...BY_PROJECT];
  const rows = db.selectFrom('warehouse_credits_history').where(stoodAt(at));
  const all = rows.groupBy(by).select(by).select(summed);
  const ordered = by.reduce((sums, column) => sums.orderBy(column, NULLS_FIRST), all);
  return (await ordered.execute()).map(exact);
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
