import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { type ResourceEntry, listKeyColumns, getIdColumn, findOwnerColumn } from '../../resources/entry.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { readFirst } from '../read.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { columns, first, sql, stoodAt } from '../sql.js';
import { describeUnchanged } from '../answer/caveat.js';
import type { Gap, GapReason } from '../answer/gap.js';
import { type OrganizationAsOfRequest, readOwnCoverageAt } from './as-of.js';

/** Why a row stood as it did at an instant, and what of that nobody can know. */
export type Explanation = Awaited<ReturnType<typeof explainRow>>;

/** A certificate's file as it is now. */
export interface InspectedFile {
  readonly sha256: string;
}

interface Ground {
  readonly reader: Reader;
  readonly inspect: (file: string) => Promise<InspectedFile | null>;
  /** The columns of a row that its document contradicts. */
  readonly contradicted: (table: string, row: Row) => readonly string[];
  readonly at: string;
}

/** One for each row of that name: a credit may stand in several organizations. */
export function rowsOf(entry: ResourceEntry, versions: readonly Row[]): Row[][] {
  const rows = new Map<string, Row[]>();
  for (const version of versions) {
    const key = JSON.stringify(listKeyColumns(entry).map(name => version[name]));
    rows.set(key, [...(rows.get(key) ?? []), version]);
  }
  return [...rows.values()];
}

/** By all versions of the row, oldest first. */
export async function explainRow(ground: Ground, entry: ResourceEntry, versions: readonly Row[]) {
  const { reader, at } = ground;
  const version = versions.find(each => isAt(each, at)) ?? null;
  const [oldest = {}] = versions;
  const any = version ?? oldest;
  const organizationId = text(any[findOwnerColumn(entry) ?? '']);
  const id = String(any[getIdColumn(entry)]);
  const before = version ?? versions.findLast(each => instant(each, 'valid_from') <= at) ?? null;
  const {
    lastReadAt: lastRead,
    unchangedReads: unchanged,
    gaps,
  } = await readCoverage(ground, entry, organizationId);
  const contradicted = version === null ? [] : ground.contradicted(entry.table, version);
  const isSeen =
    version !== null && contradicted.length === 0 && (lastRead ?? '') >= instant(version, 'valid_from');
  return {
    table: entry.table,
    id,
    organization_id: organizationId,
    at,
    /** Null where it was not listed. */
    row: version === null ? null : shownOf(version),
    /** The registry's own object. */
    document: text(version?.['document']),
    /** The sync that showed it so; null where that is no longer on record. */
    shown_by: await syncOf(reader, version?.['sync_id']),
    /** From when on it was otherwise, or gone; null where it is still so. */
    until: text(before?.['valid_to']),
    ended_by: await syncOf(reader, before?.['closed_by']),
    /** Columns that its document contradicts: nobody but a hand can have changed them. */
    contradicted,
    /** Start of the last complete read by then that still saw it so; null where none is known of, or it was changed by hand. */
    last_seen_at: isSeen ? lastRead : null,
    /** The scheduled reads around the instant that found the list unchanged; null where it lies in no span of them. */
    unchanged_reads: isSeen ? unchanged : null,
    /** When the mirror first observed it. */
    first_seen_at: instant(oldest, 'valid_from'),
    /** When the registry says that it was made; null where it says nothing. */
    dated_at: text(oldest['created_at']),
    certificate: version === null ? null : await certificateOf(ground, entry, organizationId, id),
    /** What was not known at the instant, so that the row may have been different. */
    gaps,
  };
}

function isAt(version: Row, at: string): boolean {
  const end = text(version['valid_to']);
  return instant(version, 'valid_from') <= at && (end === null || end > at);
}

/** What its columns say; the rest stands beside it. */
export function shownOf(version: Row): Row {
  const beside = ['version', 'document', 'valid_to', 'sync_id', 'closed_by', 'closed_version'];
  return Object.fromEntries(Object.entries(version).filter(([name]) => !beside.includes(name)));
}

type Sync = NonNullable<Awaited<ReturnType<typeof syncOf>>>;

/** A read of the registry, and what had asked for it. */
async function syncOf(reader: Reader, id: unknown) {
  if (typeof id !== 'number') return null;
  const times = ['started_at', 'last_answer_at', 'finished_at'] as const;
  const of = columns('syncs', ['id', 'trigger', 'state', ...times, 'job_id', 'newest_delivery_id']);
  const sync = await first(reader, sql`SELECT ${of} FROM mirror.syncs WHERE id = ${id}`);
  if (sync === null) return null;
  const delivery = sql`SELECT ${columns('inbox.deliveries', ['event', 'received_at'])}
    FROM inbox.deliveries WHERE id = ${sync.newest_delivery_id ?? 0}`;
  /** Null where it is older than the retention, and where none asked. */
  return { ...sync, delivery: await first(reader, delivery) };
}

/** The one that stood there at the instant, and its file as it is now. */
async function certificateOf(
  { reader, inspect, at }: Ground,
  { table }: ResourceEntry,
  organizationId: string | null,
  retirementId: string,
) {
  if (organizationId === null || !['retirements', 'certificates'].includes(table)) return null;
  const wanted = columns('certificates_history', ['file', 'sha256']);
  const asked = sql`SELECT ${wanted} FROM mirror.certificates_history WHERE organization_id = ${organizationId}
    AND retirement_id = ${retirementId} AND state = 'stored' AND ${stoodAt(at)}`;
  const stored = await first(reader, asked);
  if (stored === null || stored.file === null) return null;
  const found = await inspect(stored.file);
  const isSame = found?.sha256 === stored.sha256;
  return { ...stored, state: found === null ? 'missing' : isSame ? 'as it was stored' : 'changed' };
}

/** Reads what was known of the list of the row, with the gaps that concern a single row. */
async function readCoverage({ reader, at }: Ground, { table }: ResourceEntry, organizationId: string | null) {
  const resource = Object.entries(ENTRY_BY_RESOURCE).find(([, known]) => known.table === table)?.[0];
  if (organizationId === null || resource === undefined)
    return { lastReadAt: null, unchangedReads: null, gaps: [] };
  const request = { organizationId, resource, at };
  const coverage = await readOwnCoverageAt(reader, request);
  const { organizationName, lastReadAt, unchangedReads } = coverage;
  const toGap = (reason: GapReason): Gap => ({ organizationId, organizationName, resource, reason });
  const incomplete = await findIncompleteRead(reader, request);
  const gaps = [
    ...coverage.gaps,
    ...(incomplete === null ? [] : [toGap(incomplete)]),
    ...(lastReadAt === null || unchangedReads !== null
      ? []
      : [toGap({ code: 'later_changes_unread', lastReadAt })]),
  ];
  return { lastReadAt, unchangedReads, gaps };
}

/** Returns the newest read that had ended by the instant, if it was not complete. */
async function findIncompleteRead(
  reader: Reader,
  { organizationId, resource, at }: OrganizationAsOfRequest,
): Promise<GapReason | null> {
  const newest = await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.syncs')
      .select(['state', 'started_at', 'error'])
      .where('organization_id', '=', organizationId)
      .where('resource', '=', resource)
      .where('finished_at', '<=', at)
      .orderBy('id', 'desc')
      .limit(1),
  );
  if (newest === null || newest.state === 'complete') return null;
  const { started_at: startedAt, state, error } = newest;
  return { code: 'read_incomplete', startedAt, state, error };
}

function instant(row: Row, name: string): string {
  return text(row[name]) ?? '';
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Why it stands as it does, or what can be said where it was not known. What was before it was first seen, whatever the registry dates it, is not for the mirror to prove. */
export function reasonsOf(told: Omit<Explanation, 'row'> & { readonly row: object | null }): string[] {
  const { at, row, shown_by: shown, contradicted, last_seen_at: seen, until, ended_by: ended } = told;
  const unseen =
    until === null ? `The mirror had not observed it by ${at}.` : `It was no longer listed at ${at}.`;
  const dated = told.dated_at === null ? '' : ` Dated by the registry: ${told.dated_at}.`;
  return [
    row === null
      ? unseen
      : shown === null
        ? 'The sync that observed it is no longer on record.'
        : doneBy('Observed', shown),
    ...(contradicted.length === 0
      ? []
      : [
          `The row was edited by hand: its stored JSON contradicts ${contradicted.join(', ')}. "carbon-mirror sync --full" restores what the registry still shows.`,
        ]),
    ...(seen === null ? [] : [sayConfirmed(seen, told.unchanged_reads)]),
    `First observed ${told.first_seen_at}. Earlier history is unknown.${dated}`,
    ...(until === null ? [] : [`Valid until ${until}.`]),
    ...(ended === null ? [] : [doneBy('Ended', ended)]),
  ];
}

function sayConfirmed(seen: string, unchanged: Explanation['unchanged_reads']): string {
  return unchanged === null
    ? `Confirmed unchanged by the full read that started ${seen}.`
    : `${describeUnchanged(unchanged)}.`;
}

function doneBy(what: string, sync: Sync): string {
  const { started_at: asked, last_answer_at: answer, finished_at: end, state } = sync;
  const answered = answer === null ? '' : `, answered ${answer}`;
  const ended = end === null ? ', and has not ended' : `, ended ${end} (${state})`;
  const work = sync.job_id === null ? '' : `, job ${sync.job_id}`;
  return `${what} by sync ${sync.id}: started ${asked}${answered}${ended}. Triggered by ${askedBy(sync)}${work}.`;
}

function askedBy({ trigger, newest_delivery_id: id, delivery }: Sync): string {
  if (id === null) return trigger;
  if (delivery === null) return `delivery ${id} (removed since)`;
  return `delivery ${id} (${delivery.event ?? 'unknown event'}, received ${delivery.received_at})`;
}
