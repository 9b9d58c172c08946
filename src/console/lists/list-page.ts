import type { Row, Value } from '../../store/contract/tables.js';
import { findOwnerColumn } from '../../resources/entry.js';
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
import { formatCount, pluralize, formatWithCommas } from '../../text/numbers.js';
import { formatTonnes } from '../../text/tonnes.js';
import type { PageRequest, PageFault, ConsolePage } from '../page.js';
import { describeFilterFault } from '../name-fault.js';
import { AS_OF, withAsOf, withQuery } from '../components/as-of.js';
import { renderCell, isNumericColumn, renderDetailLink } from '../components/cell.js';
import { renderFreshness, renderGaps, renderFreshnessState } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { renderChoice, renderFilterBar } from '../components/filters.js';
import { renderTable } from '../components/table.js';
import { renderTermLabel } from '../components/terms.js';
import { toHeading, toLabel, describeRowsWithoutAmount } from '../components/formats.js';
import { renderFileLinks, createFilePages } from './files.js';

const PAGE_SIZE = 50;

/** Creates the page of a list and its downloads. The rows may take long, so they follow the filters. */
export function createListPages(list: List): readonly ConsolePage[] {
  const { name, title, past } = list;
  const question = { hasHistory: past !== null, parameters: Object.keys(list.filters) };
  const page: ConsolePage = {
    path: `/${name}`,
    ...question,
    parameters: [...question.parameters, 'after'],
    render: async request => {
      const listRequest = await parseListRequest(list, request);
      if ('fault' in listRequest) return listRequest;
      const choices = await readFilterChoices(list, request);
      return {
        title,
        body: html`<h1>${title}</h1>
${renderFilters(list, listRequest, request, choices)}`,
        renderRest: () => renderRows(listRequest, request, choices),
      };
    },
  };
  const files = createFilePages(name, question, async request => {
    const listRequest = await parseListRequest(list, request);
    if ('fault' in listRequest) return listRequest;
    const { reader, at } = request;
    const states = at === null ? await readStates(reader, list.resource, null) : null;
    const { listRequest: then, gaps } = await restrictToKnownLists(listRequest, request);
    if (gaps.length > 0 && knownIn(gaps).length === 0)
      return { fault: 'Nothing is known about this list at that time.' };
    const rows = streamRows(reader, then);
    const { columns } = listRequest.list;
    if (states === null) return { rows, columns };
    return { rows: withFreshness(rows, states), columns: [...columns, ...FRESHNESS_COLUMNS] };
  });
  return [page, ...files];
}

/** Parses the filters of a URL. */
async function parseListRequest(
  list: List,
  { reader, query, at, now }: PageRequest,
): Promise<ListRequest | PageFault> {
  const listRequest = await ask(reader, list, { of: name => query.get(name), at, now });
  return 'fault' in listRequest ? { fault: describeFilterFault(listRequest) } : listRequest;
}

/** Restricts an as-of request to organizations whose list was known then; returns the known gaps as well. */
async function restrictToKnownLists(
  listRequest: ListRequest,
  { reader, at }: Pick<PageRequest, 'reader' | 'at'>,
) {
  const { resource, entry } = listRequest.list;
  const column = entry && findOwnerColumn(entry);
  if (at === null || resource === null || column === null) return { listRequest, gaps: [] };
  const organizationId = textOf(listRequest, 'organization_id');
  const gaps = await readKnownAt(reader, { resource, at, organizationId });
  return {
    listRequest: { ...listRequest, where: [...listRequest.where, { column, among: knownIn(gaps) }] },
    gaps,
  };
}

async function renderRows(all: ListRequest, request: PageRequest, choices: FilterChoices): Promise<Html> {
  const { reader, now, query, at } = request;
  const { listRequest, gaps } = await restrictToKnownLists(all, request);
  const { list } = listRequest;
  const { name, resource } = list;
  const organization = textOf(listRequest, 'organization_id');
  const sums = at === null && resource !== null ? await sumFreshness(reader, resource, organization) : [];
  const isFresh = sums.every(sum => colourOf(sum) === 'good');
  const states = isFresh ? null : await readStates(reader, resource, organization);
  const owner = organization && ((await readNameOf(reader, organization, at)) ?? organization);
  const after = parseCursor(query.get('after'), list.order.length);
  const paged = await readPage(reader, { ...listRequest, after, limit: PAGE_SIZE });
  const says = (filter: string) => {
    const value = textOf(listRequest, filter) ?? '';
    const said = choices.get(filter)?.find(choice => choice.value === value)?.says;
    const isOne = paged.rows.every(row => row['project_id'] === paged.rows[0]?.['project_id']);
    const named = filter === 'project_id' && value !== '' && isOne ? paged.rows[0]?.['project_name'] : null;
    return said ?? String(named ?? value);
  };
  const available =
    name === 'warehouse' && states !== null && paged.sum !== null && paged.count > 0
      ? `, of which ${formatTonnes(await readSumOf(reader, listRequest, states.fresh))} t are available now`
      : '';
  const lead = (text: string, from: string | null, rel: Html | false = false) =>
    html`<a href="${withQuery(`/${name}`, query, { after: from })}"${rel}>${text}</a>`;
  const shown = orderColumns(list).map(column => ({
    ...labelColumn(list, column),
    cell: (row: Row) => renderListCell(list, row, column, { now, at }),
    numeric: isNumericColumn(column),
  }));
  const isShown = states !== null && !states.areAllFresh;
  const stateOf = (row: Row) => renderFreshnessState(states?.standingOf(row) ?? WAITING);
  const columns = isShown ? [...shown, { name: 'Freshness', cell: stateOf }] : shown;
  return html`${at === null && resource !== null && renderFreshness(sums, now)}
<section id="rows" data-live>${renderTable(describeRows(list, paged, { owner, says, available }), columns, paged.rows, { empty: await explainEmptyList(reader, listRequest), captionExtra: renderFileLinks(`/${name}`, query, { after: null }) })}
<p class="links">${query.has('after') && lead('First page', null)}
${paged.next !== null && lead('Next page', Buffer.from(JSON.stringify(paged.next)).toString('base64url'), html` rel="next"`)}</p>
</section>
${gaps.length > 0 && renderGaps(resource ?? '', gaps)}
<details><summary>SQL of this page</summary><pre>${paged.sql}</pre></details>`;
}

/** The column that identifies a row to people, by list. It comes first and links to the detail page. */
const NAME_COLUMNS: Readonly<Record<string, string>> = {
  retirements: 'beneficiary',
  certificates: 'retirement_id',
};
/** Columns of names, with the id column that each replaces. */
const ID_COLUMNS: Readonly<Record<string, string>> = {
  organization_name: 'organization_id',
  project_name: 'project_id',
};

function findNameColumn({ name, columns }: List): string {
  return NAME_COLUMNS[name] ?? columns[0] ?? '';
}

/** Orders the columns for a page: the name first, ids last, without ids whose name is shown. */
function orderColumns(list: List): string[] {
  const first = findNameColumn(list);
  const said = list.columns.flatMap(column => ID_COLUMNS[column] ?? []);
  const others = list.columns.filter(column => column !== first && !said.includes(column));
  const isId = (column: string) => /(^|_)id$/.test(column);
  return [first, ...others.filter(column => !isId(column)), ...others.filter(isId)];
}

function labelColumn(list: List, column: string) {
  const name = toHeading(list.name === 'retirements' && column === 'created_at' ? 'retired' : column);
  return { name, heading: renderTermLabel(column, name) };
}

/** Renders a cell, linked to the page about it. */
function renderListCell(
  list: List,
  row: Row,
  column: string,
  { now, at }: Pick<PageRequest, 'now' | 'at'>,
): Html {
  const value = row[column];
  const content =
    list.name === 'retirements' && column === 'beneficiary' && !value
      ? html`<span class="quiet">unclaimed</span>`
      : renderCell(column, value, now);
  if (list.leads && column === findNameColumn(list)) {
    const path = `/${list.name}/${encodeURIComponent(String(row[list.named]))}`;
    return html`<a href="${withAsOf(path, at)}">${content}</a>`;
  }
  const id = ID_COLUMNS[column] ?? column;
  const named = row[id];
  return renderDetailLink(id, named, value === null ? renderCell(id, named, now) : content, at);
}

interface CaptionOptions {
  readonly owner: string | null;
  readonly says: (name: string) => string;
  readonly available: string;
}

function describeRows(
  { one, filters }: List,
  { count, isCountedToTheEnd, sum }: Paged,
  { owner, says, available }: CaptionOptions,
): string {
  const many = isCountedToTheEnd
    ? formatCount(count, one)
    : `More than ${formatWithCommas(count)} ${pluralize(one)}`;
  const set = Object.keys(filters).filter(name => name !== 'organization_id' && says(name) !== '');
  const how = set.map(name => `${toLabel(name)} ${says(name)}`).join(', ');
  const all = `${many}${owner === null ? '' : ` of ${owner}`}${how && ` (${how})`}`;
  if (sum === null || count === 0) return all;
  return `${all}: ${formatTonnes(sum.amount_micro)} t${available}.${describeRowsWithoutAmount(sum.rows_without_amount)}`;
}

type FilterChoices = ReadonlyMap<string, readonly Choice[] | null>;

const NAMED_CHOICES: Readonly<Record<string, Parameters<typeof readChoices>[1]>> = {
  organization_id: 'organizations',
  project_id: 'projects',
  installation_id: 'installations',
};
const COLUMNS_WITH_FEW_VALUES = ['type', 'vintage'];
/** Too large to look up its distinct values for every page. */
const LARGE_LIST = 'retirements';

async function readFilterChoices(list: List, { reader, at }: PageRequest): Promise<FilterChoices> {
  const choices = new Map<string, readonly Choice[] | null>();
  const word = (value: string) => ({ value, says: value.replaceAll('_', ' ') });
  for (const [name, filter] of Object.entries(list.filters)) {
    const chosen = NAMED_CHOICES[name];
    if (chosen !== undefined) choices.set(name, await readChoices(reader, chosen, at));
    else if (filter.fits === 'choice') choices.set(name, filter.choices.map(word));
    else if (COLUMNS_WITH_FEW_VALUES.includes(name) && list.name !== LARGE_LIST)
      choices.set(name, await readValues(reader, list, filter.column, at));
  }
  return choices;
}

/** Filters that duplicate another; they are shown only if the URL uses them. */
const ALTERNATIVE_FILTERS: Readonly<Record<string, string>> = {
  project: 'project_id',
  ignored: 'verdict',
  year: 'from',
};

function renderFilters(
  list: List,
  listRequest: ListRequest,
  { at }: PageRequest,
  choices: FilterChoices,
): Html | false {
  const isAsked = (name: string) => {
    const other = ALTERNATIVE_FILTERS[name] ?? '';
    return textOf(listRequest, name) === null && other in list.filters && choices.get(other) !== null;
  };
  const all = Object.entries(list.filters).filter(([name]) => !isAsked(name));
  if (all.length === 0) return false;
  return renderFilterBar(
    `/${list.name}`,
    all.map(([name, filter]) => [
      name === 'installation_id' ? 'organization' : toLabel(name),
      renderFilter(name, filter, choices, textOf(listRequest, name)),
    ]),
    html`${at !== null && html`<input type="hidden" name="${AS_OF}" value="${at}">`}${listRequest.filters.length > 0 && html`<a href="${withAsOf(`/${list.name}`, at)}">Clear filters</a>`}`,
  );
}

function renderFilter(name: string, { fits }: Filter, choices: FilterChoices, value: string | null): Html {
  if (fits === 'flag')
    return html`<input type="checkbox" name="${name}" value="yes"${value && html` checked`}>`;
  const isDay = value === null || /^\d{4}-\d{2}-\d{2}$/.test(value);
  if (isDay && (fits === 'from' || fits === 'until'))
    return html`<input type="date" name="${name}" value="${value}">`;
  return renderChoice(name, choices.get(name) ?? null, value);
}

/** Explains why a list is empty and links to the unfiltered list. */
async function explainEmptyList(reader: PageRequest['reader'], listRequest: ListRequest): Promise<Html> {
  const { list, at, filters } = listRequest;
  const all = html`<a href="${withAsOf(`/${list.name}`, at)}">Show all ${list.many}</a>`;
  if (filters.length > 0)
    return html`No ${list.many} match these filters. ${(await explainNothing(reader, listRequest)).map(each => `${each} `)}${all}`;
  return at === null ? html`${list.empty}` : html`No ${list.many} are known at that time.`;
}

/** Parses the cursor of the URL; null if it is not one of ours, so that the first page is shown. */
function parseCursor(text: string | null, length: number): readonly Value[] | null {
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
