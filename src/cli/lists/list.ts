import { textOf } from '../../query/lists/ask.js';
import { explainNothing } from '../../query/lists/explain-nothing.js';
import type { Asked, List } from '../../query/lists/list.js';
import { streamRows } from '../../query/lists/read.js';
import { readKnownAt, sayOldest } from '../../query/history/as-of.js';
import { FRESHNESS_COLUMNS, readStates, sumFreshness, withFreshness } from '../../query/freshness/read.js';
import { formatCount } from '../../text/numbers.js';
import { type Command, command, ROWS } from '../command.js';
import type { Context } from '../context.js';
import { checkFault } from '../exit.js';
import { idsKnown } from '../find/in-mirror.js';
import { date, limit } from '../options.js';
import { askOf, filterOptions } from './filters.js';

const MOST = 100;
/** What a person looks for in a list, beside what its rows are called. */
const LOOKED_FOR = ['amount_exact', 'end', 'error', ...FRESHNESS_COLUMNS];

/** `list`: the filters of a list are its options, and so is an instant where it has a past. */
export function listCommand(list: List): Command {
  return command({
    says: `List ${list.many}${orderOf(list)}`,
    options: { ...filterOptions(list), ...(isDated(list) && { asOf: AS_OF }), limit: limit(MOST) },
    prints: ROWS,
    run: (context, { asOf, limit: most, ...given }) =>
      printList(context, list, { given, at: typeof asOf === 'object' ? asOf.to : null, most: most || null }),
  });
}

const AS_OF = date('as they stood then: the end of');

function orderOf({ order: [first] }: List): string {
  if (first?.[1] !== 'desc') return ' of the mirror';
  return first[0] === 'amount_micro' ? ', largest first' : ', newest first';
}

/** What belongs to organizations was known of each since its first complete read. */
function isDated({ past, resource, filters }: List): boolean {
  return past !== null && resource !== null && resource !== 'projects' && 'organization_id' in filters;
}

interface Wanted {
  /** By the names of options. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly at: string | null;
  readonly most: number | null;
}

async function printList(context: Context, list: List, { given, at, most }: Wanted): Promise<void> {
  const reader = await context.reader();
  const asked = await askOf(context, list, { given, at });
  const organizationId = textOf(asked, 'organization_id');
  const then = at === null ? asked : await ofKnown(context, asked, at, organizationId);
  const rows = streamRows(reader, then, most);
  const sums =
    at === null && list.resource !== null ? await sumFreshness(reader, list.resource, organizationId) : [];
  const unread = sums.reduce((sum, each) => sum + (each.state === 'never_read' ? each.resources : 0), 0);
  const isUnread = unread > 0 && sums.every(each => each.as_of === null);
  const isAll = at === null && asked.filters.length === 0;
  const none = isAll || isUnread ? list.empty : `No ${list.one} is as asked for.`;
  const states = at === null ? await readStates(reader, list.resource, organizationId) : null;
  const isStated = states !== null && !(context.format === 'table' && states.areAllFresh);
  const columns = isStated ? [...asked.list.columns, ...FRESHNESS_COLUMNS] : asked.list.columns;
  const keep = [...columns.slice(0, 1), list.named, ...LOOKED_FOR];
  const shape = { keep, tonnes: ['amount_exact'], none };
  const shown = await context.rows(columns, states === null ? rows : withFreshness(rows, states), shape);
  const many = `${formatCount(unread, 'organization')} that ${unread === 1 ? 'was' : 'were'} never read completely`;
  if (isUnread)
    throw checkFault(
      `This list is of ${many}: nothing is known of what they have.`,
      'See "carbon-mirror status".',
    );
  if (shown === 0 && !isUnread) context.say(...(await explainNothing(reader, asked)));
  if (unread > 0) context.say(`Not in this list: ${many}.`);
  if (shown === most) context.say(`Shown: ${shown}. There may be more: --limit 0 shows all.`);
}

/** The same of those that were known at its instant. */
async function ofKnown(
  context: Context,
  asked: Asked,
  at: string,
  organizationId: string | null,
): Promise<Asked> {
  const resource = asked.list.resource ?? '';
  const all = await readKnownAt(await context.reader(), { resource, at, organizationId });
  const among = idsKnown(context, all, resource);
  context.say(`As observed by ${at}.`, ...sayOldest(all));
  const column = asked.list.filters['organization_id']?.column ?? '';
  return { ...asked, where: [...asked.where, { column, among }] };
}
