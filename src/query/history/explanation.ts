/** Explains why a row was as it was at an instant, and what nobody can know about that. */
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { type ResourceEntry, listKeyColumns, getIdColumn, findOwnerColumn } from '../../resources/entry.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { queryBuilder } from '../../store/sql/builder.js';
import type { ExplainedSync, ExplanationReason } from './explanation-reason.js';
import type { AnswerNotes } from '../answer/answer.js';
import type { Gap, GapReason } from '../answer/gap.js';
import { readFirst, buildValidAtCondition } from '../read-one.js';
import { type CoverageAt, type OrganizationAsOfRequest, readOrganizationCoverageAt } from './as-of.js';

/** A row at an instant, why it was so, and what was not known about it. An explanation is of one row, so it has no totals. */
export type Explanation = Awaited<ReturnType<typeof explainRow>>;

/** A certificate's file as it is now. */
export interface InspectedFile {
  readonly sha256: string;
}

interface ExplainContext {
  readonly reader: Reader;
  /** Returns null if the file is missing. */
  readonly inspect: (file: string) => Promise<InspectedFile | null>;
  /** Returns the columns of a row that its document contradicts. */
  readonly contradicted: (table: string, row: Row) => readonly string[];
  readonly at: string;
}

/** A row at an instant, and why it was so. The names are those of the JSON output. */
interface RowFacts {
  readonly at: string;
  /** Null if the row was not listed at the instant. */
  readonly row: Row | null;
  /** The registry's JSON of the row. */
  readonly document: string | null;
  /** The sync that observed this version. Null if it is no longer on record. */
  readonly shown_by: ExplainedSync | null;
  /** When a later read found the row changed or gone. Null if the version is still valid. */
  readonly until: string | null;
  readonly ended_by: ExplainedSync | null;
  /** Columns that differ from the row's document, because somebody edited the database. */
  readonly contradicted: readonly string[];
  /** When the last complete read started that confirmed the version. Null if there is none, or it was edited by hand. */
  readonly last_seen_at: string | null;
  /** The scheduled reads around the instant that found the list unchanged. Null if there are none. */
  readonly unchanged_reads: CoverageAt['unchangedReads'];
  /** When the mirror first observed the row. */
  readonly first_seen_at: string;
  /** When the registry says that the row was created. Null if it gives no date. */
  readonly dated_at: string | null;
}

/**
 * Groups the versions of several rows, one array for each row. Rows are told apart by all their key columns, because a credit
 * has one row for each organization that holds it.
 */
export function groupVersions(entry: ResourceEntry, versions: readonly Row[]): Row[][] {
  const rows = new Map<string, Row[]>();
  for (const version of versions) {
    const key = JSON.stringify(listKeyColumns(entry).map(name => version[name]));
    rows.set(key, [...(rows.get(key) ?? []), version]);
  }
  return [...rows.values()];
}

/**
 * Returns a row as it was at `context.at`, with the reasons for its values, its certificate, and notes on what was not known about it.
 * `versions` are all versions of the row, oldest first.
 */
export async function explainRow(context: ExplainContext, entry: ResourceEntry, versions: readonly Row[]) {
  const { reader, at } = context;
  const version = versions.find(each => wasCurrent(each, at)) ?? null;
  const [oldest = {}] = versions;
  const anyVersion = version ?? oldest;
  const organizationId = getText(anyVersion[findOwnerColumn(entry) ?? '']);
  const id = String(anyVersion[getIdColumn(entry)]);
  const latest = version ?? versions.findLast(each => getInstant(each, 'valid_from') <= at) ?? null;
  const { lastReadAt, lastReadSyncId, firstReadEndedAt, unchangedReads, gaps } = await readCoverage(
    context,
    entry,
    organizationId,
  );
  const contradicted = version === null ? [] : context.contradicted(entry.table, version);
  const isConfirmed =
    version !== null && contradicted.length === 0 && (lastReadAt ?? '') >= getInstant(version, 'valid_from');
  const facts: RowFacts = {
    at,
    row: version === null ? null : selectRowColumns(version),
    document: getText(version?.['document']),
    shown_by: await readSync(reader, version?.['sync_id']),
    until: getText(latest?.['valid_to']),
    ended_by: await readSync(reader, latest?.['closed_by']),
    contradicted,
    last_seen_at: isConfirmed ? lastReadAt : null,
    unchanged_reads: isConfirmed ? unchangedReads : null,
    first_seen_at: getInstant(oldest, 'valid_from'),
    dated_at: getText(oldest['created_at']),
  };
  const notes: AnswerNotes = { at, totals: null, coverage: null, freshness: [], gaps, caveats: [] };
  return {
    table: entry.table,
    id,
    organization_id: organizationId,
    ...facts,
    /** The certificate that was stored at the instant. */
    certificate: version === null ? null : await readCertificate(context, entry, organizationId, id),
    reasons: findReasons(facts, {
      observed: getNumber(version?.['sync_id']),
      ended: getNumber(latest?.['closed_by']),
      firstObserved: getNumber(oldest['sync_id']),
      confirmed: lastReadSyncId,
      firstReadEndedAt,
    }),
    /** Because of its gaps the row may have been different. */
    notes,
  };
}

/** The ids of the syncs that observed the versions of a row. Each is null if no sync is named. */
interface SyncIds {
  readonly observed: number | null;
  readonly ended: number | null;
  /** The sync that observed the oldest version. */
  readonly firstObserved: number | null;
  /** The last complete read that confirmed the version. */
  readonly confirmed: number | null;
  /** When the first complete read of the list ended. Null if there is none, or that is not known. */
  readonly firstReadEndedAt: string | null;
}

/** Lists the reasons for the values of a row, in the order in which they are shown. */
function findReasons(facts: RowFacts, syncIds: SyncIds): ExplanationReason[] {
  const { at, row, shown_by: shownBy, contradicted, last_seen_at: lastSeenAt, until } = facts;
  const reasons: ExplanationReason[] = [];
  if (row === null) reasons.push({ code: until === null ? 'not_observed_yet' : 'no_longer_listed', at });
  else
    reasons.push(
      shownBy === null
        ? { code: 'sync_not_recorded', syncId: syncIds.observed }
        : { code: 'observed', sync: shownBy },
    );
  if (contradicted.length > 0) reasons.push({ code: 'edited_by_hand', columns: contradicted });
  if (facts.unchanged_reads !== null) reasons.push({ code: 'unchanged', ...facts.unchanged_reads });
  else if (lastSeenAt !== null)
    reasons.push({ code: 'confirmed', readStartedAt: lastSeenAt, syncId: syncIds.confirmed });
  const { firstReadEndedAt } = syncIds;
  reasons.push({
    code: 'first_observed',
    at: facts.first_seen_at,
    syncId: syncIds.firstObserved,
    wasMissingBefore: firstReadEndedAt !== null && facts.first_seen_at > firstReadEndedAt,
    registryDate: facts.dated_at,
  });
  if (until !== null) reasons.push({ code: 'valid_until', at: until });
  if (facts.ended_by !== null) reasons.push({ code: 'ended', sync: facts.ended_by });
  else if (syncIds.ended !== null) reasons.push({ code: 'end_not_recorded', syncId: syncIds.ended });
  return reasons;
}

/** Whether a version of a row was valid at an instant. */
function wasCurrent(version: Row, at: string): boolean {
  const end = getText(version['valid_to']);
  return getInstant(version, 'valid_from') <= at && (end === null || end > at);
}

/** Columns of a version that an explanation has in fields of their own. */
const OTHER_FIELDS = ['version', 'document', 'valid_to', 'sync_id', 'closed_by', 'closed_version'];

/** Returns the columns of a version that describe the row. */
export function selectRowColumns(version: Row): Row {
  return Object.fromEntries(Object.entries(version).filter(([name]) => !OTHER_FIELDS.includes(name)));
}

/**
 * Reads a sync by its id, with the newest delivery among those that requested it. Returns null if the sync is no longer on
 * record.
 */
async function readSync(reader: Reader, id: unknown): Promise<ExplainedSync | null> {
  if (typeof id !== 'number') return null;
  const sync = await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.syncs')
      .select(['id', 'trigger', 'state', 'started_at', 'last_answer_at', 'finished_at'])
      .select(['job_id', 'newest_delivery_id'])
      .where('id', '=', id),
  );
  if (sync === null) return null;
  const delivery = await readFirst(
    reader,
    queryBuilder
      .selectFrom('inbox.deliveries')
      .select(['event', 'received_at'])
      .where('id', '=', sync.newest_delivery_id ?? 0),
  );
  return { ...sync, delivery };
}

/**
 * Reads the certificate that was stored at the instant, and checks whether its file today is still the file that was stored. Null if no
 * certificate was stored, or if the row is no retirement or certificate.
 */
async function readCertificate(
  { reader, inspect, at }: ExplainContext,
  { table }: ResourceEntry,
  organizationId: string | null,
  retirementId: string,
) {
  if (organizationId === null || !['retirements', 'certificates'].includes(table)) return null;
  const stored = await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.certificates_history')
      .select(['file', 'sha256'])
      .where('organization_id', '=', organizationId)
      .where('retirement_id', '=', retirementId)
      .where('state', '=', 'stored')
      .where(buildValidAtCondition(at)),
  );
  if (stored === null || stored.file === null) return null;
  const file = await inspect(stored.file);
  const isSame = file?.sha256 === stored.sha256;
  return { ...stored, state: file === null ? 'missing' : isSame ? 'as it was stored' : 'changed' };
}

/**
 * Reads how completely the list of a row was known at the instant. Adds two gaps that matter only for a single row. The first says that the
 * newest read before the instant was not complete. The second says that changes between the last complete read and the instant were not
 * read, unless later reads found that there were none.
 */
async function readCoverage(
  { reader, at }: ExplainContext,
  { table }: ResourceEntry,
  organizationId: string | null,
) {
  const resource = Object.entries(ENTRY_BY_RESOURCE).find(([, known]) => known.table === table)?.[0];
  if (organizationId === null || resource === undefined)
    return { lastReadAt: null, lastReadSyncId: null, firstReadEndedAt: null, unchangedReads: null, gaps: [] };
  const request = { organizationId, resource, at };
  const coverage = await readOrganizationCoverageAt(reader, request);
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
  const list = await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.resource_states')
      .select('first_complete_at')
      .where('organization_id', '=', organizationId)
      .where('resource', '=', resource),
  );
  return {
    lastReadAt,
    lastReadSyncId: lastReadAt === null ? null : await findCompleteRead(reader, request, lastReadAt),
    firstReadEndedAt: list?.first_complete_at ?? null,
    unchangedReads,
    gaps,
  };
}

/**
 * Returns the id of the last complete read that had ended by the instant, if that read started at `startedAt`. Otherwise returns null:
 * scheduled reads that find no change are stored only as a count, so the read that started at `startedAt` has no id.
 */
async function findCompleteRead(
  reader: Reader,
  { organizationId, resource, at }: OrganizationAsOfRequest,
  startedAt: string,
): Promise<number | null> {
  const newest = await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.syncs')
      .select(['id', 'started_at'])
      .where('organization_id', '=', organizationId)
      .where('resource', '=', resource)
      .where('state', '=', 'complete')
      .where('finished_at', '<=', at)
      .orderBy('finished_at', 'desc')
      .orderBy('id', 'desc'),
  );
  return newest?.started_at === startedAt ? newest.id : null;
}

/**
 * Returns a gap if the newest read that had ended by the instant was not complete. Null if that read was complete, or if no read had ended.
 */
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
      .orderBy('id', 'desc'),
  );
  if (newest === null || newest.state === 'complete') return null;
  const { started_at: startedAt, state, error } = newest;
  return { code: 'read_incomplete', startedAt, state, error };
}

/** Returns the instant in a column, or an empty text if there is none. */
function getInstant(row: Row, column: string): string {
  return getText(row[column]) ?? '';
}

/** Returns a value that is a number; null for any other value. */
function getNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** Returns a value that is a text; null for any other value. */
function getText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
