import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { type ResourceEntry, idColumn, ownerColumn } from '../../resources/entry.js';
import { UNREADABLE } from '../coverage.js';
import { columns, count, ofOne, plain, sql, stoodAt, table } from '../sql.js';

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
  /** The start of its last complete read that had ended by then, as far back as syncs are kept. */
  readonly lastRead: string | null;
  /** The read that was under way then and changed something, and its end: what it had not shown by then is left out. */
  readonly reading: { readonly from: string; readonly to: string | null } | null;
}

interface Dated extends Pick<Known, 'name'> {
  readonly organization_id: string;
  /** The end of the first complete read. */
  readonly since: string | null;
  /** The start of the last one of what nobody can read any more. */
  readonly ended: string | null;
  /** How many retirements the registry dates before the instant, where it lies before the first complete read. */
  readonly earlier: number;
  readonly last_read: string | null;
}

/** Whose list was known then. */
export function knownIn(all: readonly Known[]): string[] {
  return all.flatMap(each => (each.unknown === null ? each.organizationId : []));
}

/** What can be known of a list: of one organization, or of all that are known, those that nobody has looked at yet last. */
export async function readKnownAt(reader: Reader, asked: Asked): Promise<Known[]> {
  const { organizationId, resource, at } = asked;
  const states = await reader.all(sql<Dated>`SELECT s.organization_id, o.full_name AS name,
      s.first_complete_at AS since, f.as_of AS ended,
      CASE WHEN s.resource = 'retirements' AND s.first_complete_at > ${at} THEN (
        SELECT count(*) FROM mirror.retirements AS r
        WHERE r.organization_id = s.organization_id AND r.created_at <= ${at}) ELSE 0 END AS earlier,
      (SELECT started_at FROM mirror.syncs AS l
        WHERE l.organization_id = s.organization_id AND l.resource = ${resource} AND l.state = 'complete'
          AND l.finished_at <= ${at} ORDER BY l.id DESC LIMIT 1) AS last_read
    FROM mirror.resource_states AS s
      LEFT JOIN mirror.organizations AS o ON o.id = s.organization_id
      LEFT JOIN mirror.freshness AS f ON f.organization_id = s.organization_id AND f.resource = ${resource}
        AND f.state IN ${UNREADABLE}
    WHERE s.resource = ${resource} AND ${ofOne(organizationId, 's')} ORDER BY s.organization_id`);
  const reads = await readUnderWay(reader, asked);
  const known = states.map(state => {
    const { organization_id: id, name, last_read: lastRead } = state;
    const read = reads.find(each => each.organization_id === id);
    const reading = read === undefined ? null : { from: read.started_at, to: read.finished_at };
    return { organizationId: id, name, unknown: whyUnknown(state, at), lastRead, reading };
  });
  if (organizationId === null) return [...known, ...(await readUnread(reader))];
  return known.length > 0 ? known : [nothingOf(organizationId)];
}

/** The same of one. */
export async function readKnownOf(reader: Reader, asked: ReadAt): Promise<Known> {
  const [known = nothingOf(asked.organizationId)] = await readKnownAt(reader, asked);
  return known;
}

/** Until when the list that was read longest ago was known then, in words; none where no list was. */
export function sayOldest(all: readonly Known[]): string[] {
  const known = all.filter(({ unknown }) => unknown === null);
  const [oldest] = known.toSorted((a, b) => (a.lastRead ?? '').localeCompare(b.lastRead ?? ''));
  if (oldest === undefined) return [];
  const { lastRead, name, organizationId } = oldest;
  if (lastRead === null) return ['The reads that had ended by then are no longer on record.'];
  const whose =
    known.length === 1 ? '' : `: the oldest of ${known.length} reads, of ${name ?? organizationId}`;
  return [`What changed at the registry after ${lastRead} had not been read yet${whose}.`];
}

const NEVER_READ = 'never read completely';

function nothingOf(organizationId: string, name: string | null = null): Known {
  return { organizationId, name, unknown: NEVER_READ, lastRead: null, reading: null };
}

/** What nobody can read any more is known until its last complete read began, or its only one had ended. */
function whyUnknown({ since, ended, earlier }: Dated, at: string): string | null {
  if (since === null) return NEVER_READ;
  if (since > at) {
    const dated = earlier === 0 ? '' : `; ${earlier} retirements of today's list carry an earlier date`;
    return `not known before ${since}, the end of the first complete read${dated}`;
  }
  const until = ended !== null && ended < since ? since : ended;
  return until !== null && until < at ? `not known after ${until}: nobody can read it any more` : null;
}

/** What of it cannot be known, in words. */
export function gapsIn({ unknown, reading }: Pick<Known, 'unknown' | 'reading'>): string[] {
  const read =
    reading === null
      ? []
      : [`a read was under way from ${reading.from}: what it had not shown by then is left out`];
  return unknown === null ? read : [unknown, ...read];
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

/** How many rows of an organization a table held at an instant. Any key is '' or more: by its index they are met side by side. */
export async function countAt(
  reader: Reader,
  entry: ResourceEntry,
  { organizationId, at }: Omit<ReadAt, 'resource'>,
) {
  const [owner, key] = [plain(ownerColumn(entry) ?? 'id'), plain(idColumn(entry))];
  const rows = sql`${table(`${entry.table}_history`)} WHERE ${owner} = ${organizationId} AND ${key} >= ''`;
  return await count(reader, sql`${rows} AND ${stoodAt(at)}`);
}
