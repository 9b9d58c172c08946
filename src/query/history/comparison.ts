/**
 * Compares a list at two instants: the rows that were added, changed or removed, and the totals at both.
 *
 * Only organizations whose list was known at both instants are compared. The rows of all others would look added or removed.
 */
import { findOwnerColumn } from '../../resources/entry.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Row, Value } from '../../store/contract/tables.js';
import { describeWrongWord, findSpelling } from '../../text/spelling.js';
import { formatCreditType, getTypeRank } from '../../text/tonnes.js';
import {
  type Answer,
  type AnswerNotes,
  type Coverage,
  type Totals,
  collectRows,
  streamOf,
  findAmountCaveats,
} from '../answer/answer.js';
import type { Caveat } from '../answer/caveat.js';
import type { Gap } from '../answer/gap.js';
import type { ListColumn } from '../lists/column.js';
import { hasOwnedHistory, type List } from '../lists/list-type.js';
import { MIRRORED } from '../lists/list-definitions.js';
import { replaceNamesAt } from '../lists/read-list.js';
import { readTotals } from '../lists/totals.js';
import { type CoverageAt, findFirstReadEnd, readCoverageAt, selectKnownIds, toNotesAt } from './as-of.js';
import {
  type ComparedRange,
  type ComparedSelection,
  type ComparedSum,
  type Difference,
  getOrderValues,
  listComparisonColumns,
  readComparedRows,
  showComparisonSql,
  sumComparedRows,
} from './compared-rows.js';

/** The lists that can be compared. */
export const COMPARABLE_LISTS: readonly List[] = MIRRORED.filter(hasOwnedHistory);
/** The lists that are compared unless others are chosen: the stock, and the retirements. */
export const USUALLY_COMPARED_LISTS = 'warehouse,inventory,retirements';

/**
 * Parses names of lists that are separated by commas. Ignores case, hyphens, underscores and spaces. Returns a fault for an unknown name.
 */
export function parseComparedLists(words: string): readonly List[] | { readonly fault: string } {
  const names = COMPARABLE_LISTS.map(({ name }) => name);
  const chosen: string[] = [];
  for (const word of words.split(',').map(each => each.trim())) {
    const name = findSpelling(word, names);
    if (name === null) return { fault: describeWrongWord(word, names) };
    chosen.push(name);
  }
  return COMPARABLE_LISTS.filter(({ name }) => chosen.includes(name));
}

export interface ComparisonRequest {
  readonly list: List;
  /** Null for all organizations. */
  readonly organizationId: string | null;
  /** The earlier instant. */
  readonly from: string;
  /** The later instant, or the same one. */
  readonly to: string;
}

/** All rows of the compared organizations at one of the instants. Its gaps are those of all organizations. */
interface ComparisonSide extends AnswerNotes {
  readonly at: string;
  readonly totals: Totals;
}

/** Tonnes of one credit type, in millionths: `from`, `added`, `changed` and `removed` add up to `to`. */
export interface ComparisonAmounts extends Readonly<Record<Difference | 'from' | 'to', bigint>> {
  readonly type: string | null;
}

/** The rows that differ. The totals count them, and their amounts are the differences of the two sides. */
export interface ComparisonAnswer extends Answer<Row> {
  readonly list: List;
  readonly totals: Totals;
  /** The organizations that are compared. */
  readonly coverage: Coverage;
  readonly from: ComparisonSide;
  readonly to: ComparisonSide;
  /** How many rows were added, changed or removed. */
  readonly counts: Readonly<Record<Difference, number>>;
  /** Ex-post credits first. Empty if the rows have no amount. */
  readonly amounts: readonly ComparisonAmounts[];
  readonly columns: readonly ListColumn[];
  /** The sort values with which the next page starts. Null on the last page, and if all rows are read. */
  readonly next: readonly Value[] | null;
  /** Why there are no rows. */
  readonly empty: string;
  /** The SQL query of the rows, with all values filled in, so that a user can run it. */
  readonly sql: string;
}

export const ALL_COMPARED_ROWS: ComparedRange = { limit: null, after: null };

/** Compares a list at two instants. Rows may be streamed: call this function in a snapshot, and read the rows before the snapshot ends. */
export async function compareList(
  reader: Reader,
  request: ComparisonRequest,
  range: ComparedRange,
): Promise<ComparisonAnswer> {
  const { from, to } = request;
  const list = { ...request.list, ...request.list.past };
  const lists = {
    from: await readListsAt(reader, request, from),
    to: await readListsAt(reader, request, to),
  };
  const organizationIds = selectIdsOfBoth(lists.from, lists.to);
  const selection = { list, organizationIds, from, to };
  const sides = {
    from: await readSide(reader, selection, lists.from, from),
    to: await readSide(reader, selection, lists.to, to),
  };
  const sums = await sumComparedRows(reader, selection);
  const counts = countDifferences(sums);
  const amounts = combineAmounts(list, sides, sums);
  const totals: Totals = {
    rows: counts.added + counts.changed + counts.removed,
    hasMore: false,
    amounts:
      list.amounts === 'none'
        ? null
        : amounts.map(each => ({ type: each.type, amountMicro: each.to - each.from })),
    rowsWithoutAmount: Math.max(sides.from.totals.rowsWithoutAmount, sides.to.totals.rowsWithoutAmount),
  };
  const coverage = countCompared(lists.to, organizationIds);
  const isLimited = range.limit !== null && range.after === null && totals.rows > range.limit;
  return {
    at: to,
    list,
    ...(await readDifferingRows(reader, selection, range)),
    totals,
    coverage,
    freshness: [],
    gaps: joinGaps(sides.from.gaps, sides.to.gaps),
    caveats: [
      ...findCoverageCaveats(coverage, lists.from),
      ...findAmountCaveats(totals),
      ...(isLimited ? [{ code: 'limited' as const, rows: range.limit }] : []),
    ],
    ...sides,
    counts,
    amounts,
    columns: listComparisonColumns(list),
    empty: from === to ? `Both dates are ${from}, so no ${list.plural} differ.` : `No ${list.plural} differ.`,
    sql: showComparisonSql(reader, selection, range.limit),
  };
}

/** Reads how completely each organization's list was known at an instant. */
async function readListsAt(
  reader: Reader,
  { list, organizationId }: ComparisonRequest,
  at: string,
): Promise<CoverageAt[]> {
  const { resource } = list;
  if (resource === null) throw new Error(`The list ${list.name} cannot be compared.`);
  return await replaceNamesAt(reader, await readCoverageAt(reader, { resource, organizationId, at }), at);
}

/** Returns the ids of the organizations whose list was known at both instants. */
function selectIdsOfBoth(from: readonly CoverageAt[], to: readonly CoverageAt[]): string[] {
  const knownThen = new Set(selectKnownIds(from));
  return selectKnownIds(to).filter(id => knownThen.has(id));
}

/** Returns how many of the known organizations are compared. */
function countCompared(lists: readonly CoverageAt[], ids: readonly string[]): Coverage {
  return { counted: ids.length, known: lists.length, missing: lists.length - ids.length };
}

/**
 * Returns the caveat that some or all organizations are not compared. `earlier` says how their lists were known at the earlier
 * instant.
 */
function findCoverageCaveats(
  { counted, known, missing }: Coverage,
  earlier: readonly CoverageAt[],
): Caveat[] {
  if (counted === 0)
    return [{ code: 'nothing_compared', organizations: known, knownFrom: findFirstReadEnd(earlier) }];
  return missing === 0 ? [] : [{ code: 'not_compared', organizations: missing }];
}

/** Reads the totals of the compared organizations at one instant, and how completely their lists were known. */
async function readSide(
  reader: Reader,
  { list, organizationIds }: ComparedSelection,
  lists: readonly CoverageAt[],
  at: string,
): Promise<ComparisonSide> {
  const column = (list.entry && findOwnerColumn(list.entry)) ?? 'organization_id';
  const totals = await readTotals(reader, { list, at, where: [{ column, among: organizationIds }] }, null);
  const compared = lists.filter(({ organizationId }) => organizationIds.includes(organizationId));
  return {
    at,
    totals,
    coverage: countCompared(lists, organizationIds),
    freshness: [],
    gaps: lists.flatMap(({ gaps }) => gaps),
    caveats: [
      ...(compared.length === 0 ? [] : toNotesAt(at, compared).caveats),
      ...findAmountCaveats(totals),
    ],
  };
}

/** Joins the gaps of both instants, and keeps one of two equal gaps, such as those of a list that was never read. */
function joinGaps(from: readonly Gap[], to: readonly Gap[]): Gap[] {
  const keyOf = ({ organizationId, reason }: Gap) => JSON.stringify([organizationId, reason]);
  const keys = new Set(from.map(keyOf));
  return [...from, ...to.filter(gap => !keys.has(keyOf(gap)))];
}

/** Counts the added, changed and removed rows over all credit types. */
function countDifferences(sums: readonly ComparedSum[]): Record<Difference, number> {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const { change, rows } of sums) counts[change] += rows;
  return counts;
}

/** Returns one row for each credit type: tonnes before, added, changed, removed and after. */
function combineAmounts(
  { amounts }: List,
  { from, to }: { readonly from: ComparisonSide; readonly to: ComparisonSide },
  sums: readonly ComparedSum[],
): ComparisonAmounts[] {
  if (amounts === 'none') return [];
  const amountsByType = new Map<string | null, Record<Difference | 'from' | 'to', bigint>>();
  const add = (type: string | null, name: Difference | 'from' | 'to', micro: bigint) => {
    const sum = amountsByType.get(type) ?? { from: 0n, added: 0n, changed: 0n, removed: 0n, to: 0n };
    sum[name] += micro;
    amountsByType.set(type, sum);
  };
  for (const { type, amountMicro } of from.totals.amounts ?? []) add(type, 'from', amountMicro);
  for (const { change, type, amountMicro } of sums) add(type, change, amountMicro);
  for (const { type, amountMicro } of to.totals.amounts ?? []) add(type, 'to', amountMicro);
  const rankOf = ({ type }: ComparisonAmounts) => getTypeRank(formatCreditType(type));
  return [...amountsByType]
    .map(([type, sum]) => ({ type, ...sum }))
    .toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Reads the rows that differ: one page with the start of the next page, or a stream of all. */
async function readDifferingRows(
  reader: Reader,
  selection: ComparedSelection,
  { limit, after }: ComparedRange,
): Promise<Pick<ComparisonAnswer, 'rows' | 'next'>> {
  if (limit === null) return { rows: readComparedRows(reader, selection, { limit, after }), next: null };
  const rows = await collectRows(readComparedRows(reader, selection, { limit: limit + 1, after }));
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const next = last === undefined ? null : getOrderValues(selection.list, last);
  return { rows: streamOf(shown), next };
}
