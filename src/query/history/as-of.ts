/** Reads how completely the lists of organizations were known at a past instant. */
import { sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { type ResourceEntry, getIdColumn, findOwnerColumn } from '../../resources/entry.js';
import { queryBuilder } from '../../store/sql/builder.js';
import type { AnswerNotes } from '../answer/answer.js';
import type { Caveat } from '../answer/caveat.js';
import { type Gap, type GapReason, isWholeList } from '../answer/gap.js';
import { UNREADABLE_STATES } from '../coverage.js';
import { relation } from '../lists/relation.js';
import { buildOrganizationCondition, countRows, buildValidAtCondition } from '../read-one.js';

interface AsOfRequest {
  /** Null for all organizations. */
  readonly organizationId: string | null;
  readonly resource: string;
  readonly at: string;
}

export interface OrganizationAsOfRequest extends AsOfRequest {
  readonly organizationId: string;
}

/** A list of one organization, and how completely it was known at an instant. */
export interface CoverageAt {
  /** The id of the installation if no organization is known for it yet. */
  readonly organizationId: string;
  readonly organizationName: string | null;
  /** When the last complete read that had ended by the instant started. Null if none is on record. */
  readonly lastReadAt: string | null;
  /** The scheduled reads around the instant that all found the list unchanged. Null if there are none. */
  readonly unchangedReads: {
    /** When the first of them started. */
    readonly from: string;
    /** When the last of them ended. */
    readonly to: string;
    readonly reads: number;
  } | null;
  /** Empty if the whole list was known. */
  readonly gaps: readonly Gap[];
}

/** Returns why a list was not known at all at the instant. Null if it was known. */
export function findUnknownReason({ gaps }: Pick<CoverageAt, 'gaps'>): GapReason | null {
  return gaps.find(({ reason }) => isWholeList(reason))?.reason ?? null;
}

/** Returns the ids of the organizations whose list was known at the instant. */
export function selectKnownIds(lists: readonly CoverageAt[]): string[] {
  return lists.filter(list => findUnknownReason(list) === null).map(({ organizationId }) => organizationId);
}

/** Creates the notes of an answer, which say how completely the mirror knew some lists at an instant. */
export function toNotesAt(at: string, lists: readonly CoverageAt[]): Omit<AnswerNotes, 'totals'> {
  const counted = selectKnownIds(lists).length;
  return {
    at,
    coverage: { counted, known: lists.length, missing: lists.length - counted },
    freshness: [],
    gaps: lists.flatMap(({ gaps }) => gaps),
    caveats:
      counted === 0
        ? [
            {
              code: 'nothing_known_then',
              organizations: countOrganizations(lists),
              knownFrom: findFirstReadEnd(lists),
            },
          ]
        : findOldestReadCaveats(lists),
  };
}

/**
 * Returns the earliest instant at which a first complete read of one of these lists ended. Considers only reads that ended after the
 * instant for which `lists` describes the coverage. Returns null if there is no such read.
 */
export function findFirstReadEnd(lists: readonly CoverageAt[]): string | null {
  const ends = lists
    .flatMap(({ gaps }) => gaps)
    .flatMap(({ reason }) => (reason.code === 'before_first_read' ? reason.firstReadEndedAt : []));
  return ends.toSorted()[0] ?? null;
}

function countOrganizations(lists: readonly CoverageAt[]): number {
  return new Set(lists.map(({ organizationId }) => organizationId)).size;
}

/**
 * Returns one caveat about the known list that was not read for the longest time. The caveat says when the list was last read, or that this
 * is not recorded. Returns an empty array if no list was known.
 */
function findOldestReadCaveats(lists: readonly CoverageAt[]): Caveat[] {
  const known = lists.filter(list => findUnknownReason(list) === null);
  const [oldest] = known.toSorted((a, b) => (a.lastReadAt ?? '').localeCompare(b.lastReadAt ?? ''));
  if (oldest === undefined) return [];
  const { lastReadAt, unchangedReads, organizationName, organizationId } = oldest;
  if (lastReadAt === null) return [{ code: 'reads_not_recorded' }];
  const read = { organization: organizationName ?? organizationId, lists: known.length };
  if (unchangedReads !== null) return [{ code: 'unchanged_between', ...unchangedReads, ...read }];
  return [{ code: 'changes_unread_after', lastReadAt, ...read }];
}

/**
 * Reads how completely a list was known at an instant, for one organization or for all. Organizations that were never read come
 * last.
 */
export async function readCoverageAt(reader: Reader, request: AsOfRequest): Promise<CoverageAt[]> {
  const { organizationId, resource, at } = request;
  const states = await reader.all(selectListStates(request));
  const runningReads = await findRunningSyncs(reader, request);
  const lists = states.map((state): CoverageAt => {
    const { organization_id: id, organization_name: organizationName } = state;
    const running = runningReads.find(read => read.organization_id === id);
    const reasons: (GapReason | null)[] = [
      explainUnknown(state, at),
      running === undefined
        ? null
        : { code: 'read_running', startedAt: running.started_at, endedAt: running.finished_at },
    ];
    const gaps = reasons
      .filter(reason => reason !== null)
      .map(reason => ({ organizationId: id, organizationName, resource, reason }));
    return { organizationId: id, organizationName, ...findLastRead(state, at), gaps };
  });
  if (organizationId === null) return [...lists, ...(await readUnreadOrganizations(reader, resource))];
  return lists.length > 0 ? lists : [createUnreadCoverage(organizationId, null, resource)];
}

/** Reads how completely the list of one organization was known at an instant. */
export async function readOrganizationCoverageAt(
  reader: Reader,
  request: OrganizationAsOfRequest,
): Promise<CoverageAt> {
  const [coverage = createUnreadCoverage(request.organizationId, null, request.resource)] =
    await readCoverageAt(reader, request);
  return coverage;
}

/** Reads how complete the knowledge about one row was at an instant, from the lists of the organizations that have it. */
export async function readRowNotesAt(
  reader: Reader,
  organizationIds: readonly string[],
  { resource, at }: Omit<AsOfRequest, 'organizationId'>,
): Promise<AnswerNotes> {
  const lists: CoverageAt[] = [];
  for (const organizationId of organizationIds)
    lists.push(await readOrganizationCoverageAt(reader, { organizationId, resource, at }));
  return { ...toNotesAt(at, lists), totals: null, coverage: null };
}

/**
 * Selects, for each organization, when its list `resource` was read completely: for the first time, shortly before and after the instant,
 * and most recently.
 */
function selectListStates({ organizationId, resource, at }: AsOfRequest) {
  return queryBuilder
    .selectFrom('mirror.resource_states as list')
    .leftJoin('mirror.unchanged_spans as next', join =>
      join.on(eb =>
        eb(
          'next.id',
          '=',
          eb
            .selectFrom('mirror.unchanged_spans as span')
            .select('span.id')
            .whereRef('span.organization_id', '=', 'list.organization_id')
            .where('span.resource', '=', resource)
            .where('span.last_finished_at', '>', at)
            .orderBy('span.last_finished_at')
            .limit(1),
        ),
      ),
    )
    .leftJoin('mirror.organizations as organization', 'organization.id', 'list.organization_id')
    .leftJoin('mirror.freshness as unreadable', join =>
      join
        .onRef('unreadable.organization_id', '=', 'list.organization_id')
        .on('unreadable.resource', '=', resource)
        .on('unreadable.state', 'in', UNREADABLE_STATES)
        // SQLite would compute the freshness of all organizations before it joins them.
        .on(buildOrganizationCondition(organizationId, 'unreadable.organization_id')),
    )
    .select(eb => {
      const earlierRetirements = eb
        .selectFrom('mirror.retirements as retirement')
        .select(sql<number>`count(*)`.as('count'))
        .whereRef('retirement.organization_id', '=', 'list.organization_id')
        .where('retirement.created_at', '<=', at);
      return [
        'list.organization_id',
        'organization.full_name as organization_name',
        /** When the first complete read ended. */
        'list.first_complete_at',
        /** When the last complete read of a list started that can no longer be read. */
        'unreadable.as_of as last_readable_at',
        /** Retirements that the registry dates before the instant, if the first complete read was later. */
        resource === 'retirements'
          ? sql<number>`CASE WHEN list.first_complete_at > ${at} THEN ${earlierRetirements} ELSE 0 END`.as(
              'earlier_retirements',
            )
          : sql<number>`0`.as('earlier_retirements'),
        eb
          .selectFrom('mirror.syncs as sync')
          .select('sync.started_at')
          .whereRef('sync.organization_id', '=', 'list.organization_id')
          .where('sync.resource', '=', resource)
          .where('sync.state', '=', 'complete')
          .where('sync.finished_at', '<=', at)
          .orderBy('sync.finished_at', 'desc')
          .orderBy('sync.id', 'desc')
          .limit(1)
          .as('last_sync_started_at'),
        /** When the last read of the newest span started that had ended by the instant. */
        eb
          .selectFrom('mirror.unchanged_spans as span')
          .select('span.last_started_at')
          .whereRef('span.organization_id', '=', 'list.organization_id')
          .where('span.resource', '=', resource)
          .where('span.last_finished_at', '<=', at)
          .orderBy('span.last_finished_at', 'desc')
          .limit(1)
          .as('last_span_started_at'),
        'next.reads as next_reads',
        'next.first_started_at as next_from',
        'next.first_finished_at as next_first_end',
        'next.last_finished_at as next_to',
        'list.unchanged_reads as open_reads',
        'list.unchanged_first_started_at as open_from',
        'list.unchanged_first_finished_at as open_first_end',
        'list.unchanged_last_finished_at as open_to',
        'list.as_of',
      ];
    })
    .where('list.resource', '=', resource)
    .where(buildOrganizationCondition(organizationId, 'list.organization_id'))
    .orderBy('list.organization_id');
}

interface ReadSpan {
  readonly reads: number | null;
  readonly from: string | null;
  /** When the first read of the span ended. */
  readonly firstEnd: string | null;
  readonly to: string | null;
}

type ListStateRow =
  ReturnType<typeof selectListStates> extends { execute: () => Promise<(infer Row)[]> } ? Row : never;

/**
 * Finds the last complete read that had ended by the instant. Consecutive scheduled reads that found no change are stored as one record:
 * their number, and the times of the first and the last. If the instant lies within such a record, it is unknown which of its reads was the
 * last before the instant. In that case, returns the record as `unchangedReads`, and the start of its first read as `lastReadAt`.
 */
function findLastRead(state: ListStateRow, at: string): Pick<CoverageAt, 'lastReadAt' | 'unchangedReads'> {
  const spans: readonly ReadSpan[] = [
    {
      reads: state.next_reads,
      from: state.next_from,
      firstEnd: state.next_first_end,
      to: state.next_to,
    },
    {
      reads: state.open_reads,
      from: state.open_from,
      firstEnd: state.open_first_end,
      to: state.open_to,
    },
  ];
  for (const { reads, from, firstEnd, to } of spans) {
    if (!reads || from === null || firstEnd === null || to === null || firstEnd > at) continue;
    return to > at
      ? { lastReadAt: from, unchangedReads: { from, to, reads } }
      : { lastReadAt: state.as_of, unchangedReads: null };
  }
  const { last_sync_started_at: lastSync, last_span_started_at: lastSpan } = state;
  return { lastReadAt: (lastSpan ?? '') > (lastSync ?? '') ? lastSpan : lastSync, unchangedReads: null };
}

/**
 * Returns why a list was not known at the instant; null if it was. A list that can no longer be read counts as known until its last
 * complete read started. If it had only one complete read, it counts as known until that read ended.
 */
function explainUnknown(state: ListStateRow, at: string): GapReason | null {
  const { first_complete_at: firstReadEndedAt, last_readable_at: lastReadableAt } = state;
  if (firstReadEndedAt === null) return { code: 'never_read' };
  if (firstReadEndedAt > at)
    return { code: 'before_first_read', firstReadEndedAt, earlierRetirements: state.earlier_retirements };
  if (lastReadableAt === null) return null;
  const lastReadAt = lastReadableAt < firstReadEndedAt ? firstReadEndedAt : lastReadableAt;
  return lastReadAt < at ? { code: 'no_longer_readable', lastReadAt } : null;
}

/** Returns the coverage of a list that was never read: `lastReadAt` is null, and a gap says that the list was never read. */
function createUnreadCoverage(
  organizationId: string,
  organizationName: string | null,
  resource: string,
): CoverageAt {
  const gap: Gap = { organizationId, organizationName, resource, reason: { code: 'never_read' } };
  return { organizationId, organizationName, lastReadAt: null, unchangedReads: null, gaps: [gap] };
}

/**
 * Reads the organizations that are known but were never read. For each, returns the coverage of its list `resource`, with a gap that says
 * that the list was never read.
 */
async function readUnreadOrganizations(reader: Reader, resource: string): Promise<CoverageAt[]> {
  const organizations = await reader.all(
    queryBuilder
      .selectFrom('mirror.coverage')
      .select(['organization_id', 'installation_id', 'organization_name'])
      .where('state', '=', 'never_read')
      .orderBy('installation_id'),
  );
  return organizations.map(
    ({ organization_id: id, installation_id: installationId, organization_name: name }) =>
      createUnreadCoverage(id ?? installationId, name, resource),
  );
}

/** Reads the syncs that were running at the instant, newest first. Leaves out syncs that ended without a change. */
async function findRunningSyncs(reader: Reader, { organizationId, resource, at }: AsOfRequest) {
  return await reader.all(
    queryBuilder
      .selectFrom('mirror.syncs')
      .select(['organization_id', 'started_at', 'finished_at'])
      .where('resource', '=', resource)
      .where(buildOrganizationCondition(organizationId))
      .where('started_at', '<=', at)
      .where(eb => eb.or([eb('finished_at', 'is', null), eb('finished_at', '>', at)]))
      .where(eb =>
        eb.or([
          eb('state', '=', 'running'),
          eb('rows_added', '>', 0),
          eb('rows_changed', '>', 0),
          eb('rows_removed', '>', 0),
        ]),
      )
      .orderBy('id', 'desc'),
  );
}

/** Counts the rows of an organization in a table that were valid at an instant. */
export async function countRowsAt(
  reader: Reader,
  entry: ResourceEntry,
  { organizationId, at }: Omit<OrganizationAsOfRequest, 'resource'>,
): Promise<number> {
  const isOwned = buildOrganizationCondition(organizationId, findOwnerColumn(entry) ?? 'id');
  // Holds for every key. With it, the index by key is used, in which the versions of a row are side by side.
  const hasKey = sql`${sql.ref(getIdColumn(entry))} >= ''`;
  return await countRows(
    reader,
    sql`SELECT 1 FROM ${relation(`${entry.table}_history`)} WHERE ${isOwned} AND ${hasKey} AND ${buildValidAtCondition(at)}`,
  );
}
