import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { ask } from '../../query/lists/ask.js';
import type { Filter } from '../../query/lists/filter.js';
import type { Asked, List } from '../../query/lists/list.js';
import { isThere, readNumbered, streamRows } from '../../query/lists/read.js';
import { readKnownAt, sayOldest } from '../../query/history/as-of.js';
import { FRESHNESS_COLUMNS, readStates, sumFreshness, withFreshness } from '../../query/freshness/read.js';
import { counted } from '../../text/numbers.js';
import { type Command, command, ROWS } from '../command.js';
import type { Context } from '../context.js';
import { checkFault, notThereFault, usageFault } from '../exit.js';
import { idsKnown, installationIn, organizationIn } from '../find/in-mirror.js';
import {
  choice,
  date,
  flag,
  limit,
  ORGANIZATION,
  readNumber,
  type Taken,
  text as valued,
} from '../options.js';

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

type Option = Taken<string | boolean | undefined>;

function filterOptions({ filters }: List): Record<string, Option> {
  const options = Object.values(filters).flatMap(filter =>
    filter.option === null ? [] : [[filter.option, optionOf(filter)] as const],
  );
  return Object.fromEntries(options);
}

const SHOWN: Readonly<Record<string, string>> = { installation: 'name', year: 'year' };

function optionOf(filter: Filter): Option {
  const { fits, says } = filter;
  if (fits === 'organization') return ORGANIZATION;
  if (fits === 'flag') return flag(says);
  if (fits === 'choice') return choice(filter.option ?? '', says, filter.choices);
  return valued(SHOWN[fits] ?? 'text', says);
}

interface Wanted {
  /** By the names of options. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly at: string | null;
  readonly most: number | null;
}

async function printList(context: Context, list: List, { given, at, most }: Wanted): Promise<void> {
  const reader = await context.reader();
  const texts = await textsOf(reader, list, given);
  const asked = ask(list, { of: name => texts[name] ?? null, at });
  if ('fault' in asked) throw usageFault(asked.fault);
  const organizationId = texts['organization_id'] ?? null;
  const then = at === null ? asked : await ofKnown(context, asked, at, organizationId);
  const rows = streamRows(reader, then, most);
  const sums =
    at === null && list.resource !== null ? await sumFreshness(reader, list.resource, organizationId) : [];
  const unread = sums.reduce((sum, each) => sum + (each.state === 'never_read' ? each.resources : 0), 0);
  const isUnread = unread > 0 && sums.every(each => each.as_of === null);
  const isAll = at === null && Object.keys(texts).length === 0;
  const none = isAll || isUnread ? list.empty : `No ${list.one} is as asked for.`;
  const states = at === null ? await readStates(reader, list.resource, organizationId) : null;
  const isStated = states !== null && !(context.format === 'table' && states.areAllFresh);
  const columns = isStated ? [...asked.list.columns, ...FRESHNESS_COLUMNS] : asked.list.columns;
  const keep = [...columns.slice(0, 1), list.named, ...LOOKED_FOR];
  const shape = { keep, tonnes: ['amount_exact'], none };
  const shown = await context.rows(columns, states === null ? rows : withFreshness(rows, states), shape);
  const many = `${counted(unread, 'organization')} that ${unread === 1 ? 'was' : 'were'} never read completely`;
  if (isUnread)
    throw checkFault(
      `This list is of ${many}: nothing is known of what they have.`,
      'See "carbon-mirror status".',
    );
  if (unread > 0) context.say(`Not in this list: ${many}.`);
  if (shown === most) context.say(`Shown: ${shown}. There may be more: --limit 0 shows all.`);
}

/** A row of a list that is called by its number. */
export async function findNumbered(context: Context, list: List, id: string): Promise<Row> {
  const found = await readNumbered(
    await context.reader(),
    list,
    readNumber(`The number of the ${list.one}`, id),
  );
  if (found !== null) return found;
  throw notThereFault(
    `There is no ${list.one} ${id}.`,
    `See "carbon-mirror ${list.name} list"; what is over is kept for RETENTION_DAYS.`,
  );
}

/** What was given for each filter, by its name in an address. */
async function textsOf(reader: Reader, list: List, given: Wanted['given']): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, filter] of Object.entries(list.filters)) {
    const text = filter.option === null ? undefined : given[filter.option];
    if (text === true) texts[name] = 'yes';
    if (typeof text === 'string') texts[name] = await idOf(reader, list, filter, text);
  }
  return texts;
}

/** Rows of the mirror's own stay after what they were for was purged, and may come before it is read. */
async function idOf(reader: Reader, list: List, { fits, column }: Filter, text: string): Promise<string> {
  if (fits !== 'organization' && fits !== 'installation') return text;
  if (list.entry === null && (await isThere(reader, list, column, text))) return text;
  return fits === 'organization' ? await organizationIn(reader, text) : await installationIn(reader, text);
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
