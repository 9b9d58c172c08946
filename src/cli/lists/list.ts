import { textOf } from '../../query/lists/ask.js';
import { explainNothing } from '../../query/lists/explain-nothing.js';
import type { Asked, List } from '../../query/lists/list.js';
import { streamRows } from '../../query/lists/read.js';
import { readKnownAt, sayOldest } from '../../query/history/as-of.js';
import { FRESHNESS_COLUMNS, readStates, sumFreshness, withFreshness } from '../../query/freshness/read.js';
import { formatCount } from '../../text/numbers.js';
import { type Command, defineCommand, ROW_FORMATS } from '../command.js';
import type { CommandContext } from '../context.js';
import { createCheckError } from '../exit.js';
import { requireKnownOrganizations } from '../find/find-rows.js';
import { definePastDate, defineRowLimit } from '../options.js';
import { toListRequest, createFilterOptions } from './filters.js';

const DEFAULT_LIMIT = 100;
/** Columns that a narrow terminal keeps, besides the name of the row. */
const IMPORTANT_COLUMNS = ['amount_exact', 'end', 'error', ...FRESHNESS_COLUMNS];

/** Creates the command `list`. Its options are the filters of the list, and `--as-of` if the list has a history. */
export function createListCommand(list: List): Command {
  return defineCommand({
    summary: `List ${list.many}${describeOrder(list)}`,
    options: {
      ...createFilterOptions(list),
      ...(hasHistory(list) && { asOf: AS_OF }),
      limit: defineRowLimit(DEFAULT_LIMIT),
    },
    formats: ROW_FORMATS,
    run: (context, { asOf, limit, ...given }) =>
      printList(context, list, {
        given,
        at: asOf?.until ?? null,
        limit: limit || null,
      }),
  });
}

const AS_OF = definePastDate('as of the end of');

function describeOrder({ order: [first] }: List): string {
  if (first?.[1] !== 'desc') return '';
  return first[0] === 'amount_micro' ? ', largest first' : ', newest first';
}

/** Whether the list can be shown as of an instant: it belongs to organizations, each known since its first complete read. */
function hasHistory({ past, resource, filters }: List): boolean {
  return past !== null && resource !== null && resource !== 'projects' && 'organization_id' in filters;
}

interface ListArguments {
  /** The values of the filters by option name. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly at: string | null;
  readonly limit: number | null;
}

async function printList(
  context: CommandContext,
  list: List,
  { given, at, limit }: ListArguments,
): Promise<void> {
  const reader = await context.openReader();
  const asked = await toListRequest(context, list, { given, at });
  const organizationId = textOf(asked, 'organization_id');
  const then = at === null ? asked : await restrictToKnown(context, asked, at, organizationId);
  const rows = streamRows(reader, then, limit);
  const sums =
    at === null && list.resource !== null ? await sumFreshness(reader, list.resource, organizationId) : [];
  const unread = sums.reduce((sum, each) => sum + (each.state === 'never_read' ? each.resources : 0), 0);
  const isUnread = unread > 0 && sums.every(each => each.as_of === null);
  const isAll = at === null && asked.filters.length === 0;
  const emptyMessage = isAll || isUnread ? list.empty : `No ${list.many} match these filters.`;
  const states = at === null ? await readStates(reader, list.resource, organizationId) : null;
  const isStated = states !== null && !(context.format === 'table' && states.areAllFresh);
  const columns = isStated ? [...asked.list.columns, ...FRESHNESS_COLUMNS] : asked.list.columns;
  const importantColumns = [...columns.slice(0, 1), list.named, ...IMPORTANT_COLUMNS];
  const shape = { importantColumns, tonneColumns: ['amount_exact'], emptyMessage };
  const shown = await context.printRows(columns, states === null ? rows : withFreshness(rows, states), shape);
  const many = formatCount(unread, 'organization');
  if (isUnread)
    throw createCheckError(
      `This list was never read completely for ${many}, so its rows are unknown.`,
      'See "carbon-mirror status".',
    );
  if (shown === 0 && !isUnread) context.printNotice(...(await explainNothing(reader, asked)));
  if (unread > 0) context.printNotice(`Missing here: ${many} whose list was never read completely.`);
  if (shown === limit) context.printNotice(`Showing ${shown}. Use --limit 0 for all.`);
}

/** Restricts the request to organizations whose list was known at the instant, and reports the others. */
async function restrictToKnown(
  context: CommandContext,
  asked: Asked,
  at: string,
  organizationId: string | null,
): Promise<Asked> {
  const resource = asked.list.resource ?? '';
  const all = await readKnownAt(await context.openReader(), { resource, at, organizationId });
  const among = requireKnownOrganizations(context, all, resource);
  context.printNotice(`As observed by ${at}.`, ...sayOldest(all));
  const column = asked.list.filters['organization_id']?.column ?? '';
  return { ...asked, where: [...asked.where, { column, among }] };
}
