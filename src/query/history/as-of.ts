import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { type ResourceEntry, getIdColumn, findOwnerColumn } from '../../resources/entry.js';
import { UNREADABLE_STATES } from '../coverage.js';
import { columns, count, ofOne, plain, sql, stoodAt, table } from '../sql.js';

interface AsOfRequest {
  /** Null for all of them. */
  readonly organizationId: string | null;
  readonly resource: string;
  /** An instant in the form of the mirror's own. */
  readonly at: string;
}

export interface OrganizationAsOfRequest extends AsOfRequest {
  readonly organizationId: string;
}

/** How far a list was known at an instant. */
export interface AsOfCoverage {
  /** Its installation's, where only a webhook has named that and nobody has looked yet. */
  readonly organizationId: string;
  readonly name: string | null;
  /** Why it was not known then, in words; null where it was. */
  readonly unknown: string | null;
  /** The start of its last complete read that had ended by then, as far back as syncs are kept. */
  readonly lastRead: string | null;
  /** The instant lies within a span of scheduled reads that found nothing new, of which only the ends are on record. */
  readonly unchanged: UnchangedReads | null;
  /** The read that was under way then and changed something, and its end: what it had not shown by then is left out. */
  readonly reading: { readonly from: string; readonly to: string | null } | null;
}

/** Several scheduled reads in a row that found nothing new. */
export interface UnchangedReads {
  /** When the first of them began. */
  readonly from: string;
  /** When the last of them ended. */
  readonly to: string;
  readonly reads: number;
}

interface Dated extends Pick<AsOfCoverage, 'name'> {
  readonly organization_id: string;
  /** The end of the first complete read. */
  readonly since: string | null;
  /** The start of the last one of what nobody can read any more. */
  readonly ended: string | null;
  /** How many retirements the registry dates before the instant, where it lies before the first complete read. */
  readonly earlier: number;
  readonly last_sync: string | null;
  /** The start of the last read in the newest span that had ended by the instant. */
  readonly last_span: string | null;
  /** The first span that ended after the instant. */
  readonly next_from: string | null;
  readonly next_first_end: string | null;
  readonly next_to: string | null;
  readonly next_reads: number | null;
  /** The span that has not ended. */
  readonly open_reads: number;
  readonly open_from: string | null;
  readonly open_first_end: string | null;
  readonly open_to: string | null;
  readonly as_of: string | null;
}

/** Whose list was known then. */
export function knownIn(all: readonly AsOfCoverage[]): string[] {
  return all.flatMap(each => (each.unknown === null ? each.organizationId : []));
}

/** What can be known of a list: of one organization, or of all that are known, those that nobody has looked at yet last. */
export async function readKnownAt(reader: Reader, asked: AsOfRequest): Promise<AsOfCoverage[]> {
  const { organizationId, resource, at } = asked;
  const states = await reader.all(sql<Dated>`SELECT s.organization_id, o.full_name AS name,
      s.first_complete_at AS since, f.as_of AS ended,
      CASE WHEN s.resource = 'retirements' AND s.first_complete_at > ${at} THEN (
        SELECT count(*) FROM mirror.retirements AS r
        WHERE r.organization_id = s.organization_id AND r.created_at <= ${at}) ELSE 0 END AS earlier,
      (SELECT started_at FROM mirror.syncs AS l
        WHERE l.organization_id = s.organization_id AND l.resource = ${resource} AND l.state = 'complete'
          AND l.finished_at <= ${at} ORDER BY l.finished_at DESC, l.id DESC LIMIT 1) AS last_sync,
      (SELECT last_started_at FROM mirror.unchanged_spans AS u
        WHERE u.organization_id = s.organization_id AND u.resource = ${resource}
          AND u.last_finished_at <= ${at} ORDER BY u.last_finished_at DESC LIMIT 1) AS last_span,
      next.first_started_at AS next_from, next.first_finished_at AS next_first_end, next.last_finished_at AS next_to,
      next.reads AS next_reads, s.unchanged_reads AS open_reads, s.unchanged_first_started_at AS open_from,
      s.unchanged_first_finished_at AS open_first_end, s.unchanged_last_finished_at AS open_to, s.as_of
    FROM mirror.resource_states AS s
      LEFT JOIN mirror.unchanged_spans AS next ON next.id = (
        SELECT u.id FROM mirror.unchanged_spans AS u
        WHERE u.organization_id = s.organization_id AND u.resource = ${resource} AND u.last_finished_at > ${at}
        ORDER BY u.last_finished_at LIMIT 1)
      LEFT JOIN mirror.organizations AS o ON o.id = s.organization_id
      LEFT JOIN mirror.freshness AS f ON f.organization_id = s.organization_id AND f.resource = ${resource}
        AND f.state IN ${UNREADABLE_STATES}
    WHERE s.resource = ${resource} AND ${ofOne(organizationId, 's')} ORDER BY s.organization_id`);
  const reads = await readUnderWay(reader, asked);
  const known = states.map(state => {
    const { organization_id: id, name } = state;
    const read = reads.find(each => each.organization_id === id);
    const reading = read === undefined ? null : { from: read.started_at, to: read.finished_at };
    return { organizationId: id, name, unknown: whyUnknown(state, at), ...findLastRead(state, at), reading };
  });
  if (organizationId === null) return [...known, ...(await readUnread(reader))];
  return known.length > 0 ? known : [nothingOf(organizationId)];
}

/** Reads what was known at an instant of one list of one organization. */
export async function readKnownOf(reader: Reader, asked: OrganizationAsOfRequest): Promise<AsOfCoverage> {
  const [known = nothingOf(asked.organizationId)] = await readKnownAt(reader, asked);
  return known;
}

/** Until when the list that was read longest ago was known then, in words; none where no list was. */
export function sayOldest(all: readonly AsOfCoverage[]): string[] {
  const known = all.filter(({ unknown }) => unknown === null);
  const [oldest] = known.toSorted((a, b) => (a.lastRead ?? '').localeCompare(b.lastRead ?? ''));
  if (oldest === undefined) return [];
  const { lastRead, name, organizationId, unchanged } = oldest;
  if (lastRead === null) return ['Reads from before then are no longer on record.'];
  const whose = known.length === 1 ? '' : ` (the oldest of ${known.length} reads: ${name ?? organizationId})`;
  if (unchanged !== null) return [`${describeUnchanged(unchanged)}${whose}.`];
  return [`Changes after ${lastRead} had not been read yet${whose}.`];
}

/** Returns a sentence without its full stop, for example "Read 24 times between A and B, always unchanged". */
export function describeUnchanged({ from, to, reads }: UnchangedReads): string {
  const times = reads === 1 ? 'once' : `${reads} times`;
  return `Read ${times} between ${from} and ${to}, always unchanged`;
}

/** Finds the last complete read that had ended by the instant: a sync, or the reads counted in a span of unchanged reads. */
function findLastRead(state: Dated, at: string): Pick<AsOfCoverage, 'lastRead' | 'unchanged'> {
  const { last_sync: lastSync, last_span: lastSpan, as_of: asOf } = state;
  const next = {
    reads: state.next_reads ?? 0,
    from: state.next_from,
    firstEnd: state.next_first_end,
    to: state.next_to,
  };
  const open = {
    reads: state.open_reads,
    from: state.open_from,
    firstEnd: state.open_first_end,
    to: state.open_to,
  };
  for (const { reads, from, firstEnd, to } of [next, open]) {
    if (reads === 0 || from === null || firstEnd === null || to === null || firstEnd > at) continue;
    if (to > at) return { lastRead: from, unchanged: { from, to, reads } };
    return { lastRead: asOf, unchanged: null };
  }
  const lastRead = (lastSpan ?? '') > (lastSync ?? '') ? lastSpan : lastSync;
  return { lastRead, unchanged: null };
}

const NEVER_READ = 'never read completely';

function nothingOf(organizationId: string, name: string | null = null): AsOfCoverage {
  return { organizationId, name, unknown: NEVER_READ, lastRead: null, unchanged: null, reading: null };
}

/** What nobody can read any more is known until its last complete read began, or its only one had ended. */
function whyUnknown({ since, ended, earlier }: Dated, at: string): string | null {
  if (since === null) return NEVER_READ;
  if (since > at) {
    const dated = earlier === 0 ? '' : `; ${earlier} of the retirements listed today have an earlier date`;
    return `not known before ${since}, the end of the first complete read${dated}`;
  }
  const until = ended !== null && ended < since ? since : ended;
  return until !== null && until < at ? `not known after ${until}, because it can no longer be read` : null;
}

/** What of it cannot be known, in words. */
export function gapsIn({ unknown, reading }: Pick<AsOfCoverage, 'unknown' | 'reading'>): string[] {
  const read =
    reading === null
      ? []
      : [`a read that started ${reading.from} was still running; rows it had not reached are left out`];
  return unknown === null ? read : [unknown, ...read];
}

/** Those that are known, and that nobody has looked at yet. */
async function readUnread({ all }: Reader): Promise<AsOfCoverage[]> {
  const rows = await all(sql<Tables['coverage']>`SELECT * FROM mirror.coverage
    WHERE state = 'never_read' ORDER BY installation_id`);
  return rows.map(row => nothingOf(row.organization_id ?? row.installation_id, row.organization_name));
}

/** What ran at the instant and changed something, the newest first. */
async function readUnderWay({ all }: Reader, { organizationId, resource, at }: AsOfRequest) {
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
  { organizationId, at }: Omit<OrganizationAsOfRequest, 'resource'>,
) {
  const [owner, key] = [plain(findOwnerColumn(entry) ?? 'id'), plain(getIdColumn(entry))];
  const rows = sql`${table(`${entry.table}_history`)} WHERE ${owner} = ${organizationId} AND ${key} >= ''`;
  return await count(reader, sql`${rows} AND ${stoodAt(at)}`);
}
