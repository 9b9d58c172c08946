import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { UNREADABLE } from '../coverage.js';
import { columns, count, largest, ofOne, plain, sql, stoodAt, table } from '../sql.js';

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

interface Dated extends Pick<Known, 'name'> {
  readonly organization_id: string;
  /** The end of the first complete read. */
  readonly since: string | null;
  /** The start of the last one of what nobody can read any more. */
  readonly ended: string | null;
}

/** What can be known of a list: of one organization, or of all that are known, those that nobody has looked at yet last. */
export async function readKnownAt(reader: Reader, asked: Asked): Promise<Known[]> {
  const { organizationId, resource } = asked;
  const states = await reader.all(sql<Dated>`SELECT s.organization_id, o.full_name AS name,
      s.first_complete_at AS since, f.as_of AS ended
    FROM mirror.resource_states AS s
      LEFT JOIN mirror.organizations AS o ON o.id = s.organization_id
      LEFT JOIN mirror.freshness AS f ON f.organization_id = s.organization_id AND f.resource = ${resource}
        AND f.state IN ${UNREADABLE}
    WHERE s.resource = ${resource} AND ${ofOne(organizationId, 's')} ORDER BY s.organization_id`);
  const reads = await readUnderWay(reader, asked);
  const known: Known[] = [];
  for (const state of states) {
    const { organization_id: id, name } = state;
    const reading = reads.find(each => each.organization_id === id);
    known.push({
      organizationId: id,
      name,
      unknown: await whyUnknown(reader, state, asked),
      reading: reading === undefined ? null : { from: reading.started_at, to: reading.finished_at },
    });
  }
  if (organizationId === null) return [...known, ...(await readUnread(reader))];
  return known.length > 0 ? known : [nothingOf(organizationId)];
}

export async function readKnownOf(reader: Reader, asked: ReadAt): Promise<Known> {
  const [known] = await readKnownAt(reader, asked);
  return known ?? nothingOf(asked.organizationId);
}

function nothingOf(organizationId: string, name: string | null = null): Known {
  return { organizationId, name, unknown: NEVER_READ, reading: null };
}

/** What nobody can read any more is known until its last complete read began, or its only one had ended. */
async function whyUnknown(
  reader: Reader,
  { organization_id: id, since, ended }: Dated,
  { resource, at }: Asked,
): Promise<string | null> {
  if (since === null) return NEVER_READ;
  if (since > at) {
    // The registry dates retirements itself.
    const dated = sql`mirror.retirements WHERE organization_id = ${id} AND created_at <= ${at}`;
    const before = resource === 'retirements' ? await count(reader, dated) : 0;
    const earlier = before === 0 ? '' : `; ${before} retirements of today's list carry an earlier date`;
    return `not known before ${since}, the end of the first complete read${earlier}`;
  }
  const until = ended !== null && ended < since ? since : ended;
  return until !== null && until < at ? `not known after ${until}: nobody can read it any more` : null;
}

/** Start of the last complete read that had ended by the instant, as far back as syncs are kept. */
export async function readLastReadBefore(
  reader: Reader,
  { organizationId, resource, at }: ReadAt,
): Promise<string | null> {
  const reads = sql`mirror.syncs WHERE organization_id = ${organizationId} AND resource = ${resource}
    AND state = 'complete' AND finished_at <= ${at}`;
  return await largest(reader, 'started_at', reads);
}

/** Those that are known, and that nobody has looked at yet. */
async function readUnread({ all }: Reader): Promise<Known[]> {
  const rows = await all(sql<Tables['coverage']>`SELECT * FROM mirror.coverage
    WHERE state = 'never_read' ORDER BY installation_id`);
  return rows.map(row => nothingOf(row.organization_id ?? row.installation_id, row.organization_name));
}

/** What ran at the instant and changed something, the newest first. */
async function readUnderWay({ all }: Reader, { organizationId, resource, at }: Asked) {
  const wanted = columns('syncs', ['organization_id', 'started_at', 'finished_at']);
  return await all(sql`SELECT ${wanted} FROM mirror.syncs
    WHERE resource = ${resource} AND ${ofOne(organizationId)}
      AND started_at <= ${at} AND (finished_at IS NULL OR finished_at > ${at})
      AND (state = 'running' OR rows_added > 0 OR rows_changed > 0 OR rows_removed > 0)
    ORDER BY id DESC`);
}

/** How many rows of an organization a table held at an instant. */
export async function countAt(
  reader: Reader,
  name: string,
  owner: string,
  { organizationId, at }: Omit<ReadAt, 'resource'>,
) {
  const rows = sql`${table(`${name}_history`)} WHERE ${plain(owner)} = ${organizationId} AND ${stoodAt(at)}`;
  return await count(reader, rows);
}
