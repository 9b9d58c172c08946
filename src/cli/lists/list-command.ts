import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { getFilterText } from '../../query/lists/parse-request.js';
import { describeCaveat } from '../../query/answer/caveat.js';
import { findUnmatchedFilters } from '../../query/lists/unmatched-filters.js';
import type { ListSelection, List } from '../../query/lists/list.js';
import { streamRows } from '../../query/lists/rows.js';
import { findOldestReadCaveats, readCoverageAt } from '../../query/history/as-of.js';
import {
  FRESHNESS_COLUMNS,
  type ListFreshness,
  readStates,
  readStatesOfRows,
  sumFreshness,
  withFreshness,
} from '../../query/freshness/read.js';
import { formatCount } from '../../text/numbers.js';
import { type Command, defineCommand, ROW_FORMATS } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { createCheckError } from '../command-error.js';
import { selectKnownOrganizationIds } from '../find/find-rows.js';
import { definePastDate, defineRowLimit } from '../options.js';
import { toListRequest, createFilterOptions } from './filter-options.js';

const DEFAULT_LIMIT = 100;
/** More rows are printed as they arrive. */
const MAX_COLLECTED_ROWS = 1_000;

/** Creates a subcommand such as `retirements list` with the filters of the list. */
export function createListCommand(list: List): Command {
  return defineCommand({
    summary: `List ${list.plural}${describeOrder(list)}`,
    options: {
      ...createFilterOptions(list),
      ...(hasHistory(list) && { asOf: AS_OF }),
      limit: defineRowLimit(DEFAULT_LIMIT),
    },
    formats: ROW_FORMATS,
    run: (context, { asOf, limit, ...filterOptions }) =>
      printList(context, list, { filterOptions, instant: asOf?.until ?? null, limit: limit || null }),
  });
}

const AS_OF = definePastDate('list the rows as of this date');

/** Describes the sort order for the help: newest first, largest first, or an empty text. */
function describeOrder({ order: [first] }: List): string {
  if (first?.[1] !== 'desc') return '';
  return first[0] === 'amount_micro' ? ', largest first' : ', newest first';
}

/** Returns whether `--as-of` can show this list as of a past instant. */
function hasHistory({ past, resource, filters }: List): boolean {
  return past !== null && resource !== null && resource !== 'projects' && 'organization_id' in filters;
}

interface PrintListOptions {
  /** The raw values of the filter options by option name. */
  readonly filterOptions: Readonly<Record<string, unknown>>;
  /** Lists rows as of this instant; null for the present. */
  readonly instant: string | null;
  /** Null for all rows. */
  readonly limit: number | null;
}

/** Prints the rows of a list and notices about rows that are missing or hidden. */
async function printList(
  context: CommandContext,
  list: List,
  { filterOptions, instant, limit }: PrintListOptions,
): Promise<void> {
  const reader = await context.openReader();
  const request = await toListRequest(context, list, { filterOptions, instant });
  const organizationId = getFilterText(request, 'organization_id');
  const stream = streamRows(
    reader,
    instant === null ? request : await limitToKnownOrganizations(context, request, instant, organizationId),
    limit,
  );
  const rows = limit !== null && limit <= MAX_COLLECTED_ROWS ? await collectRows(stream) : stream;
  const unread = await countUnreadOrganizations(
    reader,
    instant === null ? list.resource : null,
    organizationId,
  );
  const states = instant === null ? await readStatesForRows(reader, list, rows, organizationId) : null;
  const hidesFreshness = states === null || (context.format === 'table' && states.areAllFresh);
  const listColumns = request.list.columns;
  const columnNames = listColumns.map(({ name }) => name);
  const columns = hidesFreshness ? columnNames : [...columnNames, ...FRESHNESS_COLUMNS];
  const isUnfiltered = instant === null && request.filters.length === 0;
  const printedCount = await context.printRows(
    columns,
    states === null ? rows : withFreshness(rows, states),
    {
      importantColumns: [
        ...listColumns.filter(({ isImportant }) => isImportant).map(({ name }) => name),
        ...FRESHNESS_COLUMNS,
      ],
      tonneColumns: listColumns.filter(({ kind }) => kind === 'tonnes').map(({ name }) => name),
      emptyMessage:
        isUnfiltered || unread.isUnreadEverywhere ? list.empty : `No ${list.plural} match these filters.`,
    },
  );
  const unreadOrganizations = formatCount(unread.organizations, 'organization');
  if (unread.isUnreadEverywhere)
    throw createCheckError(
      `This list was never read completely for ${unreadOrganizations}, so its rows are unknown.`,
      'See "carbon-mirror status".',
    );
  if (printedCount === 0)
    context.printNotice(...(await findUnmatchedFilters(reader, request)).map(describeCaveat));
  if (unread.organizations > 0)
    context.printNotice(`Missing here: ${unreadOrganizations} whose list was never read completely.`);
  if (printedCount === limit) context.printNotice(`Showing ${printedCount}. Use --limit 0 for all.`);
}

async function collectRows(rows: AsyncIterable<Row>): Promise<Row[]> {
  const collected: Row[] = [];
  for await (const row of rows) collected.push(row);
  return collected;
}

/** Reads how fresh the lists of these rows are. If the rows are still to come, reads it for all organizations. */
async function readStatesForRows(
  reader: Reader,
  { resource }: List,
  rows: readonly Row[] | AsyncIterable<Row>,
  organizationId: string | null,
): Promise<ListFreshness | null> {
  return Symbol.asyncIterator in rows
    ? await readStates(reader, resource, organizationId)
    : await readStatesOfRows(reader, resource, rows);
}

/** Counts the organizations whose list was never read completely. */
async function countUnreadOrganizations(
  reader: Reader,
  resource: List['resource'],
  organizationId: string | null,
) {
  const sums = resource === null ? [] : await sumFreshness(reader, resource, organizationId);
  const organizations = sums
    .filter(({ state }) => state === 'never_read')
    .reduce((sum, { resources }) => sum + resources, 0);
  const isUnreadEverywhere = organizations > 0 && sums.every(sum => sum.as_of === null);
  return { organizations, isUnreadEverywhere };
}

/** Limits an as-of query to organizations with known rows at that instant. Prints why others are missing. */
async function limitToKnownOrganizations(
  context: CommandContext,
  request: ListSelection,
  instant: string,
  organizationId: string | null,
): Promise<ListSelection> {
  const resource = request.list.resource ?? '';
  const all = await readCoverageAt(await context.openReader(), { resource, at: instant, organizationId });
  const knownIds = selectKnownOrganizationIds(context, all, resource);
  context.printNotice(`As observed by ${instant}.`, ...findOldestReadCaveats(all).map(describeCaveat));
  const column = request.list.filters['organization_id']?.column ?? '';
  return { ...request, where: [...request.where, { column, among: knownIds }] };
}
