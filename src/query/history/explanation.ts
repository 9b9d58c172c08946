import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { type Entry, keyOf, nameOf, ownerOf } from '../../resources/entry.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { underWay } from '../../text/known.js';
import type { Certificate, ReadBehind } from '../../text/read-behind.js';
import { columns, first, sql, stoodAt } from '../sql.js';
import { type ReadAt, readKnownOf, readLastReadBefore } from './as-of.js';

export interface Explanation {
  readonly table: string;
  readonly id: string;
  readonly organization_id: string | null;
  readonly at: string;
  /** Null where it was not listed. */
  readonly row: Row | null;
  /** The registry's own object. */
  readonly document: string | null;
  readonly shown_by: ReadBehind | null;
  /** From when on it was otherwise, or gone; null where it is still so. */
  readonly until: string | null;
  readonly ended_by: ReadBehind | null;
  /** Columns that its document contradicts: nobody but a hand can have changed them. */
  readonly contradicted: readonly string[];
  /** Start of the last complete read by then that still saw it so; null where none is known of, or it was changed by hand. */
  readonly last_seen_at: string | null;
  /** When the mirror first observed it. */
  readonly first_seen_at: string;
  /** When the registry says that it was made; null where it says nothing. */
  readonly dated_at: string | null;
  readonly certificate: Certificate | null;
  readonly not_known: readonly string[];
}

/** A certificate's file as it is now. */
export interface Inspected {
  readonly sha256: string;
}

export interface Ground {
  readonly reader: Reader;
  readonly inspect: (file: string) => Promise<Inspected | null>;
  /** The columns of a row that its document contradicts. */
  readonly contradicted: (table: string, row: Row) => readonly string[];
  readonly at: string;
}

/** One for each row of that name: a credit may stand in several organizations. */
export function rowsOf(entry: Entry, versions: readonly Row[]): Row[][] {
  const rows = new Map<string, Row[]>();
  for (const version of versions) {
    const key = JSON.stringify(keyOf(entry).map(name => version[name]));
    rows.set(key, [...(rows.get(key) ?? []), version]);
  }
  return [...rows.values()];
}

/** Of one row: why it stood as it did. */
export async function explainRow(
  ground: Ground,
  entry: Entry,
  versions: readonly Row[],
): Promise<Explanation> {
  const { reader, at } = ground;
  const version = versions.find(each => isAt(each, at)) ?? null;
  const any = version ?? versions[0] ?? {};
  const organizationId = text(any[ownerOf(entry) ?? '']);
  const id = String(any[nameOf(entry)]);
  const before = version ?? versions.findLast(each => instant(each, 'valid_from') <= at) ?? null;
  const known = await readNotKnown(ground, entry, organizationId);
  const contradicted = version === null ? [] : ground.contradicted(entry.table, version);
  const since = version === null || contradicted.length > 0 ? null : instant(version, 'valid_from');
  return {
    table: entry.table,
    id,
    organization_id: organizationId,
    at,
    row: version === null ? null : shownOf(version),
    document: text(version?.['document']),
    shown_by: await syncOf(reader, version?.['sync_id']),
    until: text(before?.['valid_to']),
    ended_by: await syncOf(reader, before?.['closed_by']),
    contradicted,
    last_seen_at:
      since !== null && known.lastRead !== null && known.lastRead >= since ? known.lastRead : null,
    ...seenOf(versions),
    certificate: version === null ? null : await certificateOf(ground, entry, organizationId, id),
    not_known: known.gaps,
  };
}

/** By the first of its versions. */
function seenOf([oldest = {}]: readonly Row[]) {
  return { first_seen_at: instant(oldest, 'valid_from'), dated_at: text(oldest['created_at']) };
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

/** Null where there was none, or its record is gone. */
async function syncOf(reader: Reader, id: unknown): Promise<ReadBehind | null> {
  if (typeof id !== 'number') return null;
  const times = ['started_at', 'last_answer_at', 'finished_at'] as const;
  const of = columns('syncs', ['id', 'trigger', 'state', ...times, 'job_id', 'newest_delivery_id']);
  const sync = await first(reader, sql`SELECT ${of} FROM mirror.syncs WHERE id = ${id}`);
  if (sync === null) return null;
  const delivery = sql`SELECT ${columns('inbox.deliveries', ['event', 'received_at'])}
    FROM inbox.deliveries WHERE id = ${sync.newest_delivery_id ?? 0}`;
  return { ...sync, delivery: await first(reader, delivery) };
}

/** The one that stood there at the instant. */
async function certificateOf(
  { reader, inspect, at }: Ground,
  { table }: Entry,
  organizationId: string | null,
  retirementId: string,
): Promise<Certificate | null> {
  if (organizationId === null || !['retirements', 'certificates'].includes(table)) return null;
  const wanted = columns('certificates_history', ['file', 'sha256']);
  const asked = sql`SELECT ${wanted} FROM mirror.certificates_history WHERE organization_id = ${organizationId}
    AND retirement_id = ${retirementId} AND state = 'stored' AND ${stoodAt(at)}`;
  const stored = await first(reader, asked);
  if (stored === null || stored.file === null) return null;
  const found = await inspect(stored.file);
  const state = found === null ? 'missing' : found.sha256 === stored.sha256 ? 'as it was stored' : 'changed';
  return { ...stored, state };
}

/** What no read can have shown by then, in words. */
async function readNotKnown(
  { reader, at }: Ground,
  { table }: Entry,
  organizationId: string | null,
): Promise<{ readonly lastRead: string | null; readonly gaps: readonly string[] }> {
  const resource = Object.entries(ENTRY_OF).find(([, known]) => known.table === table)?.[0];
  if (organizationId === null || resource === undefined) return { lastRead: null, gaps: [] };
  const place = { organizationId, resource, at };
  const { unknown, reading } = await readKnownOf(reader, place);
  const lastRead = await readLastReadBefore(reader, place);
  const gaps = [
    unknown,
    reading === null ? null : underWay(reading),
    await readBroken(reader, place),
    lastRead === null ? null : `what changed at the registry after ${lastRead} was not read by then`,
  ];
  return { lastRead, gaps: gaps.flatMap(gap => (gap === null ? [] : `${resource}: ${gap}.`)) };
}

/** Of the newest read that had ended by the instant, where it was not complete. */
async function readBroken(reader: Reader, { organizationId, resource, at }: ReadAt): Promise<string | null> {
  const asked = sql`SELECT ${columns('syncs', ['state', 'started_at', 'error'])} FROM mirror.syncs
    WHERE organization_id = ${organizationId} AND resource = ${resource} AND finished_at <= ${at}
    ORDER BY id DESC LIMIT 1`;
  const newest = await first(reader, asked);
  if (newest === null || newest.state === 'complete') return null;
  const why = newest.error === null ? '' : ` (${newest.error})`;
  return `the read that began ${newest.started_at} was ${newest.state}${why}: it may have missed changes`;
}

function instant(row: Row, name: string): string {
  return text(row[name]) ?? '';
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
