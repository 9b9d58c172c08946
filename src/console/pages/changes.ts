import {
  CHANGE_COLUMNS,
  CHANGED,
  type ChangesAsked,
  newestInSql,
  readChanges,
  readNewest,
} from '../../query/history/changes.js';
import { readChoices } from '../../query/names.js';
import { parseTimeRange } from '../../text/time-range.js';
import { describeWrongWord, findSpelling } from '../../text/vocabulary.js';
import { findChosenOrganization } from '../name-fault.js';
import { filesOf, rowsFiles } from '../lists/files.js';
import type { Ask, Fault, Page } from '../page.js';
import { withQuery } from '../components/as-of.js';
import { choose, filterBar } from '../components/filters.js';
import { feed, groupsOf } from '../components/changes.js';
import { html, type Html } from '../components/html.js';
import { dayWords, moment } from '../components/words.js';
import { formatCount } from '../../text/numbers.js';

interface Asked extends ChangesAsked {
  readonly since: string;
  readonly until: string;
}

const TITLE = 'Changes';
const PATH = '/changes';
const SINCE = '24h';
const UNTIL = 'now';
const ROWS = 100;
const ASKS = ['since', 'until', 'organization_id', 'resource'];

export const CHANGES: readonly Page[] = [
  {
    path: PATH,
    asks: [...ASKS, 'before'],
    show: async ask => {
      const asked = await askedIn(ask);
      if ('fault' in asked) return { title: TITLE, body: html`<h1>${asked.fault}</h1>${await form(ask)}` };
      return { title: TITLE, body: await showChanges(ask, asked) };
    },
  },
  ...rowsFiles('changes', { asks: ASKS }, async ask => {
    const asked = await askedIn(ask);
    return 'fault' in asked ? asked : { rows: readChanges(ask.reader, asked), columns: CHANGE_COLUMNS };
  }),
];

async function askedIn({ reader, query, now }: Ask): Promise<Asked | Fault> {
  const since = parseTimeRange(query.get('since') || SINCE, now);
  const until = parseTimeRange(query.get('until') || UNTIL, now);
  if ('fault' in since) return since;
  if ('fault' in until) return until;
  if (since.from > until.to)
    return { fault: `The range ends at ${until.to}, before it starts at ${since.from}.` };
  const given = query.get('resource') || null;
  const resource = given === null ? null : findSpelling(given, CHANGED);
  if (given !== null && resource === null) return { fault: describeWrongWord(given, CHANGED) };
  const organizationId = await findChosenOrganization(reader, query);
  if (organizationId !== null && typeof organizationId !== 'string') return organizationId;
  return {
    organizationId,
    resource,
    since: since.from,
    until: until.to,
  };
}

async function showChanges(ask: Ask, asked: Asked): Promise<Html> {
  const { reader, query, now } = ask;
  const newer = query.get('before') ?? '';
  const before = /^\d{1,15}$/.test(newer) ? Number(newer) : null;
  const found = await readNewest(reader, asked, before, ROWS + 1);
  const changes = found.slice(0, ROWS);
  const last = found.length > ROWS ? changes.at(-1) : undefined;
  const days = new Set([asked.since, asked.until].map(dayWords));
  return html`<h1 id="sentence" data-live>${sentence(found.length, before !== null)}, ${[...days].join(' to ')}</h1>
${await form(ask)}
<section id="rows" data-live>${feed('Changes, newest first', groupsOf(changes), { now, beside: filesOf(PATH, query, { before: null }) })}
<p class="links">${before !== null && html`<a href="${withQuery(PATH, query, { before: null })}">Newest</a>`}
${last !== undefined && html`<a href="${withQuery(PATH, query, { before: String(last.number) })}" rel="next">Older</a>`}</p></section>
<p id="span" class="lead" data-live>Observed from ${moment(asked.since)} to ${moment(asked.until)}. The registry may have changed earlier. Changes undone between two reads are not recorded.</p>
<details><summary>SQL of this page</summary><pre>${newestInSql(reader, asked, before, ROWS)}</pre></details>`;
}

/** What is newer than a page is not counted on it. */
function sentence(count: number, isOlder: boolean): string {
  const one = isOlder ? 'older change' : 'change';
  if (count > ROWS) return `More than ${ROWS} ${one}s`;
  if (count === 0) return isOlder ? 'No older changes' : 'No changes';
  return formatCount(count, one);
}

/** Spans that people ask for, by the words that stand in an address. */
function presets(now: number): (readonly [says: string, since: string, until: string])[] {
  const [year, month] = [new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()];
  const monthName = (place: number) => new Date(Date.UTC(year, place, 1)).toISOString().slice(0, 7);
  const quarter = month - (month % 3) - 3;
  return [
    ['Today', new Date(now).toISOString().slice(0, 10), UNTIL],
    ['This month', monthName(month), UNTIL],
    ['Last quarter', monthName(quarter), monthName(quarter + 2)],
    [String(year - 1), String(year - 1), String(year - 1)],
  ];
}

async function form({ reader, query, now }: Ask): Promise<Html> {
  const organizations = await readChoices(reader, 'organizations', null);
  const what = CHANGED.map(value => ({ value, says: value.replaceAll('_', ' ') }));
  return html`<p id="choices" class="choices" data-live>${presets(now).map(
    ([says, since, until]) =>
      html`<a href="${withQuery(PATH, query, { since, until, before: null })}"${query.get('since') === since && html` aria-current="true"`}>${says}</a>`,
  )}</p>
${filterBar(PATH, [
  ['since', html`<input name="since" value="${query.get('since')}" placeholder="${SINCE}">`],
  ['until', html`<input name="until" value="${query.get('until')}" placeholder="${UNTIL}">`],
  ['organization', choose('organization_id', organizations, query.get('organization_id'))],
  ['resource', choose('resource', what, query.get('resource'))],
])}`;
}
