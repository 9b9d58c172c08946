import type { Row, Value } from '../../store/contract/tables.js';
import { ownerColumn } from '../../resources/entry.js';
import { colourOf, WAITING } from '../../query/freshness/words.js';
import { ask, textOf } from '../../query/lists/ask.js';
import { explainNothing } from '../../query/lists/explain-nothing.js';
import { type Choice, readChoices, readNameOf } from '../../query/names.js';
import type { Filter } from '../../query/lists/filter.js';
import type { List, ListRequest } from '../../query/lists/list.js';
import { readValues } from '../../query/lists/values.js';
import { type Paged, readPage, readSumOf, streamRows } from '../../query/lists/read.js';
import { knownIn, readKnownAt } from '../../query/history/as-of.js';
import { FRESHNESS_COLUMNS, readStates, sumFreshness, withFreshness } from '../../query/freshness/read.js';
import { formatCount, pluralOf, withThousands } from '../../text/numbers.js';
import { formatTonnes } from '../../text/tonnes.js';
import type { Ask, Fault, Page } from '../page.js';
import { sentenceOf } from '../name-fault.js';
import { AS_OF, withAt, withQuery } from '../components/as-of.js';
import { cell, isNumeric, leading } from '../components/cell.js';
import { freshnessOf, gapsOf, standing } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { choose, filterBar } from '../components/filters.js';
import { table } from '../components/table.js';
import { termLabel } from '../components/terms.js';
import { headingOf, labelOf, withoutAmount } from '../components/words.js';
import { filesOf, rowsFiles } from './files.js';

const ROWS = 50;

/** Rows that no index finds take their time: they follow. */
export function listPage(list: List): readonly Page[] {
  const { name, title, past } = list;
  const question = { isDated: past !== null, asks: Object.keys(list.filters) };
  const page: Page = {
    path: `/${name}`,
    ...question,
    asks: [...question.asks, 'after'],
    show: async asking => {
      const asked = await askedBy(list, asking);
      if ('fault' in asked) return asked;
      const choices = await choicesOf(list, asking);
      return {
        title,
        body: html`<h1>${title}</h1>
${fields(list, asked, asking, choices)}`,
        later: () => show(asked, asking, choices),
      };
    },
  };
  const files = rowsFiles(name, question, async asking => {
    const asked = await askedBy(list, asking);
    if ('fault' in asked) return asked;
    const { reader, at } = asking;
    const states = at === null ? await readStates(reader, list.resource, null) : null;
    const { asked: then, gaps } = await ofKnown(asked, asking);
    if (gaps.length > 0 && knownIn(gaps).length === 0)
      return { fault: 'Nothing is known about this list at that time.' };
    const rows = streamRows(reader, then);
    const { columns } = asked.list;
    if (states === null) return { rows, columns };
    return { rows: withFreshness(rows, states), columns: [...columns, ...FRESHNESS_COLUMNS] };
  });
  return [page, ...files];
}

/** What an address asks of a list. */
async function askedBy(list: List, { reader, query, at, now }: Ask): Promise<ListRequest | Fault> {
  const asked = await ask(reader, list, { of: name => query.get(name), at, now });
  return 'fault' in asked ? { fault: sentenceOf(asked) } : asked;
}

/** The same of those whose list was known then, and what is to be said of all. */
async function ofKnown(asked: ListRequest, { reader, at }: Pick<Ask, 'reader' | 'at'>) {
  const { resource, entry } = asked.list;
  const column = entry && ownerColumn(entry);
  if (at === null || resource === null || column === null) return { asked, gaps: [] };
  const organizationId = textOf(asked, 'organization_id');
  const gaps = await readKnownAt(reader, { resource, at, organizationId });
  return { asked: { ...asked, where: [...asked.where, { column, among: knownIn(gaps) }] }, gaps };
}

async function show(all: ListRequest, asking: Ask, choices: Choices): Promise<Html> {
  const { reader, now, query, at } = asking;
  const { asked, gaps } = await ofKnown(all, asking);
  const { list } = asked;
  const { name, resource } = list;
  const organization = textOf(asked, 'organization_id');
  const sums = at === null && resource !== null ? await sumFreshness(reader, resource, organization) : [];
  const isFresh = sums.every(sum => colourOf(sum) === 'good');
  const states = isFresh ? null : await readStates(reader, resource, organization);
  const owner = organization && ((await readNameOf(reader, organization, at)) ?? organization);
  const after = cursorIn(query.get('after'), list.order.length);
  const paged = await readPage(reader, { ...asked, after, limit: ROWS });
  const says = (filter: string) => {
    const value = textOf(asked, filter) ?? '';
    const said = choices.get(filter)?.find(choice => choice.value === value)?.says;
    const isOne = paged.rows.every(row => row['project_id'] === paged.rows[0]?.['project_id']);
    const named = filter === 'project_id' && value !== '' && isOne ? paged.rows[0]?.['project_name'] : null;
    return said ?? String(named ?? value);
  };
  const available =
    name === 'warehouse' && states !== null && paged.sum !== null && paged.count > 0
      ? `, of which ${formatTonnes(await readSumOf(reader, asked, states.fresh))} t are available now`
      : '';
  const lead = (text: string, from: string | null, rel: Html | false = false) =>
    html`<a href="${withQuery(`/${name}`, query, { after: from })}"${rel}>${text}</a>`;
  const shown = shownOf(list).map(column => ({
    ...namesOf(list, column),
    cell: (row: Row) => contentOf(list, row, column, { now, at }),
    numeric: isNumeric(column),
  }));
  const isShown = states !== null && !states.areAllFresh;
  const stateOf = (row: Row) => standing(states?.standingOf(row) ?? WAITING);
  const columns = isShown ? [...shown, { name: 'Freshness', cell: stateOf }] : shown;
  return html`${at === null && resource !== null && freshnessOf(sums, now)}
<section id="rows" data-live>${table(caption(list, paged, { owner, says, available }), columns, paged.rows, { empty: await emptyWords(reader, asked), beside: filesOf(`/${name}`, query, { after: null }) })}
<p class="links">${query.has('after') && lead('First page', null)}
${paged.next !== null && lead('Next page', Buffer.from(JSON.stringify(paged.next)).toString('base64url'), html` rel="next"`)}</p>
</section>
${gaps.length > 0 && gapsOf(resource ?? '', gaps)}
<details><summary>SQL of this page</summary><pre>${paged.sql}</pre></details>`;
}

/** By the name of the list: the column that names a row to people. It comes first, and leads to its page. */
const NAMES: Readonly<Record<string, string>> = {
  retirements: 'beneficiary',
  certificates: 'retirement_id',
};
/** A name stands for an id. */
const NAMED: Readonly<Record<string, string>> = {
  organization_name: 'organization_id',
  project_name: 'project_id',
};

function nameIn({ name, columns }: List): string {
  return NAMES[name] ?? columns[0] ?? '';
}

/** The columns of a list as a page has them: the name first, ids last, and none whose name stands there. */
function shownOf(list: List): string[] {
  const first = nameIn(list);
  const said = list.columns.flatMap(column => NAMED[column] ?? []);
  const others = list.columns.filter(column => column !== first && !said.includes(column));
  const isId = (column: string) => /(^|_)id$/.test(column);
  return [first, ...others.filter(column => !isId(column)), ...others.filter(isId)];
}

function namesOf(list: List, column: string) {
  const name = headingOf(list.name === 'retirements' && column === 'created_at' ? 'retired' : column);
  return { name, heading: termLabel(column, name) };
}

/** A cell of a row, which leads to what it names. */
function contentOf(list: List, row: Row, column: string, { now, at }: Pick<Ask, 'now' | 'at'>): Html {
  const value = row[column];
  const content =
    list.name === 'retirements' && column === 'beneficiary' && !value
      ? html`<span class="quiet">unclaimed</span>`
      : cell(column, value, now);
  if (list.leads && column === nameIn(list)) {
    const path = `/${list.name}/${encodeURIComponent(String(row[list.named]))}`;
    return html`<a href="${withAt(path, at)}">${content}</a>`;
  }
  const id = NAMED[column] ?? column;
  const named = row[id];
  return leading(id, named, value === null ? cell(id, named, now) : content, at);
}

interface Captioned {
  readonly owner: string | null;
  readonly says: (name: string) => string;
  readonly available: string;
}

function caption(
  { one, filters }: List,
  { count, isCountedToTheEnd, sum }: Paged,
  { owner, says, available }: Captioned,
): string {
  const many = isCountedToTheEnd
    ? formatCount(count, one)
    : `More than ${withThousands(count)} ${pluralOf(one)}`;
  const set = Object.keys(filters).filter(name => name !== 'organization_id' && says(name) !== '');
  const how = set.map(name => `${labelOf(name)} ${says(name)}`).join(', ');
  const all = `${many}${owner === null ? '' : ` of ${owner}`}${how && ` (${how})`}`;
  if (sum === null || count === 0) return all;
  return `${all}: ${formatTonnes(sum.amount_micro)} t${available}.${withoutAmount(sum.rows_without_amount)}`;
}

type Choices = ReadonlyMap<string, readonly Choice[] | null>;

const CHOSEN: Readonly<Record<string, Parameters<typeof readChoices>[1]>> = {
  organization_id: 'organizations',
  project_id: 'projects',
  installation_id: 'installations',
};
const FEW = ['type', 'vintage'];
/** So many that looking for what stands in them takes its time. */
const MANY = 'retirements';

async function choicesOf(list: List, { reader, at }: Ask): Promise<Choices> {
  const choices = new Map<string, readonly Choice[] | null>();
  const word = (value: string) => ({ value, says: value.replaceAll('_', ' ') });
  for (const [name, filter] of Object.entries(list.filters)) {
    const chosen = CHOSEN[name];
    if (chosen !== undefined) choices.set(name, await readChoices(reader, chosen, at));
    else if (filter.fits === 'choice') choices.set(name, filter.choices.map(word));
    else if (FEW.includes(name) && list.name !== MANY)
      choices.set(name, await readValues(reader, list, filter.column, at));
  }
  return choices;
}

/** What another field asks as well: it is shown where an address asks so. */
const ASKED_BY: Readonly<Record<string, string>> = {
  project: 'project_id',
  ignored: 'verdict',
  year: 'from',
};

function fields(list: List, asked: ListRequest, { at }: Ask, choices: Choices): Html | false {
  const isAsked = (name: string) => {
    const other = ASKED_BY[name] ?? '';
    return textOf(asked, name) === null && other in list.filters && choices.get(other) !== null;
  };
  const all = Object.entries(list.filters).filter(([name]) => !isAsked(name));
  if (all.length === 0) return false;
  return filterBar(
    `/${list.name}`,
    all.map(([name, filter]) => [
      name === 'installation_id' ? 'organization' : labelOf(name),
      field(name, filter, choices, textOf(asked, name)),
    ]),
    html`${at !== null && html`<input type="hidden" name="${AS_OF}" value="${at}">`}${asked.filters.length > 0 && html`<a href="${withAt(`/${list.name}`, at)}">Clear filters</a>`}`,
  );
}

function field(name: string, { fits }: Filter, choices: Choices, value: string | null): Html {
  if (fits === 'flag')
    return html`<input type="checkbox" name="${name}" value="yes"${value && html` checked`}>`;
  const isDay = value === null || /^\d{4}-\d{2}-\d{2}$/.test(value);
  if (isDay && (fits === 'from' || fits === 'until'))
    return html`<input type="date" name="${name}" value="${value}">`;
  return choose(name, choices.get(name) ?? null, value);
}

/** Why the list is empty, and what would fill it. */
async function emptyWords(reader: Ask['reader'], asked: ListRequest): Promise<Html> {
  const { list, at, filters } = asked;
  const all = html`<a href="${withAt(`/${list.name}`, at)}">Show all ${list.many}</a>`;
  if (filters.length > 0)
    return html`No ${list.many} match these filters. ${(await explainNothing(reader, asked)).map(each => `${each} `)}${all}`;
  return at === null ? html`${list.empty}` : html`No ${list.many} are known at that time.`;
}

/** Null where it is none of ours: then the first page is shown. */
function cursorIn(text: string | null, length: number): readonly Value[] | null {
  if (text === null) return null;
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(values) && values.length === length && values.every(isValue) ? values : null;
  } catch {
    return null;
  }
}

function isValue(value: unknown): value is Value {
  return value === null || typeof value === 'string' || typeof value === 'number';
}
