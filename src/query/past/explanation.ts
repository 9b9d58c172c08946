import type { Reader } from '../../engines/contract/reader.js';
import type { Row } from '../../engines/contract/tables.js';
import { type Entry, keyOf, nameOf, ownerOf } from '../../resources/entry.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { readKnownSince, readLastReadBefore, readReadAt } from './as-of.js';
import { countDatedBy, type ReadBehind, readBehind, readBrokenBefore, readCertificateAt } from './explain.js';

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
  /** When the mirror was first told of it. */
  readonly first_seen_at: string;
  /** When the registry says that it was made; null where it says nothing. */
  readonly dated_at: string | null;
  readonly certificate: Certificate | null;
  readonly not_known: readonly string[];
}

interface Certificate {
  readonly sha256: string | null;
  readonly file: string | null;
  readonly state: 'as it was stored' | 'missing' | 'changed';
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
  const known = await readKnown(ground, entry, organizationId);
  const contradicted = version === null ? [] : ground.contradicted(entry.table, version);
  const since = version === null || contradicted.length > 0 ? null : instant(version, 'valid_from');
  return {
    table: entry.table,
    id,
    organization_id: organizationId,
    at,
    row: version === null ? null : shownOf(version),
    document: text(version?.['document']),
    shown_by: await runOf(reader, version?.['sync_run_id']),
    until: text(before?.['valid_to']),
    ended_by: await runOf(reader, before?.['closed_by']),
    contradicted,
    last_seen_at:
      since !== null && known.lastRead !== null && known.lastRead >= since ? known.lastRead : null,
    ...seenOf(versions),
    certificate: version === null ? null : await certificateOf(ground, entry, organizationId, id),
    not_known: known.gaps,
  };
}

/** By the first of its versions. */
export function seenOf([first = {}]: readonly Row[]) {
  return { first_seen_at: instant(first, 'valid_from'), dated_at: text(first['created_at']) };
}

function isAt(version: Row, at: string): boolean {
  const end = text(version['valid_to']);
  return instant(version, 'valid_from') <= at && (end === null || end > at);
}

/** What its columns say; the rest stands beside it. */
function shownOf(version: Row): Row {
  const beside = ['version', 'document', 'valid_to', 'sync_run_id', 'closed_by', 'closed_version'];
  return Object.fromEntries(Object.entries(version).filter(([name]) => !beside.includes(name)));
}

async function runOf(reader: Reader, id: unknown): Promise<ReadBehind | null> {
  return typeof id === 'number' ? await readBehind(reader, id) : null;
}

async function certificateOf(
  { reader, inspect, at }: Ground,
  { table }: Entry,
  organizationId: string | null,
  id: string,
): Promise<Certificate | null> {
  if (organizationId === null || !['retirements', 'certificates'].includes(table)) return null;
  const stored = await readCertificateAt(reader, organizationId, id, at);
  if (stored === null || stored.file === null) return null;
  const found = await inspect(stored.file);
  const state = found === null ? 'missing' : found.sha256 === stored.sha256 ? 'as it was stored' : 'changed';
  return { sha256: stored.sha256, file: stored.file, state };
}

interface Known {
  readonly lastRead: string | null;
  readonly gaps: readonly string[];
}

/** What no read can have told by then, in words. */
async function readKnown(
  { reader, at }: Ground,
  entry: Entry,
  organizationId: string | null,
): Promise<Known> {
  const resource = Object.entries(ENTRY_OF).find(([, known]) => known.table === entry.table)?.[0];
  if (organizationId === null || resource === undefined) return { lastRead: null, gaps: [] };
  const place = { organizationId, resource, at };
  const lastRead = await readLastReadBefore(reader, place);
  const since = await readKnownSince(reader, place);
  const gaps = [];
  if (since === null) gaps.push(`${resource} were never read completely.`);
  else if (since > at) {
    gaps.push(`What ${resource} held before ${since}, the end of the first complete read, is not known.`);
    if (resource === 'retirements') {
      gaps.push(
        `${await countDatedBy(reader, organizationId, at)} retirements of today's list carry an earlier date.`,
      );
    }
  }
  const underWay = await readReadAt(reader, place);
  if (underWay !== null) {
    gaps.push(`A read was under way from ${underWay.from}: what it had not told by then is not shown.`);
  }
  const broken = await readBrokenBefore(reader, place);
  if (broken !== null) {
    const why = broken.error === null ? '' : ` (${broken.error})`;
    gaps.push(
      `The read that began ${broken.started_at} was ${broken.state}${why}: it may have missed changes.`,
    );
  }
  if (lastRead !== null)
    gaps.push(`What changed at the registry after ${lastRead} and was not read by then.`);
  return { lastRead, gaps };
}

function instant(row: Row, name: string): string {
  return text(row[name]) ?? '';
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
