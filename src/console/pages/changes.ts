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
import { renderFileLinks, createFilePages } from '../lists/files.js';
import type { PageRequest, PageFault, ConsolePage } from '../page.js';
import { withQuery } from '../components/as-of.js';
import { renderChoice, renderFilterBar } from '../components/filters.js';
import { renderChangeFeed, groupChanges } from '../components/changes.js';
import { html, type Html } from '../components/html.js';
import { formatDay, renderInstant } from '../components/formats.js';
import { formatCount } from '../../text/numbers.js';

interface ChangesRequest extends ChangesAsked {
  readonly since: string;
  readonly until: string;
}

const TITLE = 'Changes';
const PATH = '/changes';
const SINCE = '24h';
const UNTIL = 'now';
const ROWS = 100;
const PARAMETERS = ['since', 'until', 'organization_id', 'resource'];

export const CHANGES: readonly ConsolePage[] = [
  {
    path: PATH,
    parameters: [...PARAMETERS, 'before'],
    render: async request => {
      const changesRequest = await parseChangesRequest(request);
      if ('fault' in changesRequest)
        return { title: TITLE, body: html`<h1>${changesRequest.fault}</h1>${await renderFilters(request)}` };
      return { title: TITLE, body: await renderChanges(request, changesRequest) };
    },
  },
  ...createFilePages('changes', { parameters: PARAMETERS }, async request => {
    const changesRequest = await parseChangesRequest(request);
    return 'fault' in changesRequest
      ? changesRequest
      : { rows: readChanges(request.reader, changesRequest), columns: CHANGE_COLUMNS };
  }),
];

async function parseChangesRequest({ reader, query, now }: PageRequest): Promise<ChangesRequest | PageFault> {
  const since = parseTimeRange(query.get('since') || SINCE, now);
  const until = parseTimeRange(query.get('until') || UNTIL, now);
  if ('fault' in since) return since;
  if ('fault' in until) return until;
  if (since.since > until.until)
    return { fault: `The range ends at ${until.until}, before it starts at ${since.since}.` };
  const given = query.get('resource') || null;
  const resource = given === null ? null : findSpelling(given, CHANGED);
  if (given !== null && resource === null) return { fault: describeWrongWord(given, CHANGED) };
  const organizationId = await findChosenOrganization(reader, query);
  if (organizationId !== null && typeof organizationId !== 'string') return organizationId;
  return {
    organizationId,
    resource,
    since: since.since,
    until: until.until,
  };
}

async function renderChanges(request: PageRequest, changesRequest: ChangesRequest): Promise<Html> {
  const { reader, query, now } = request;
  const newer = query.get('before') ?? '';
  const before = /^\d{1,15}$/.test(newer) ? Number(newer) : null;
  const found = await readNewest(reader, changesRequest, before, ROWS + 1);
  const changes = found.slice(0, ROWS);
  const last = found.length > ROWS ? changes.at(-1) : undefined;
  const days = new Set([changesRequest.since, changesRequest.until].map(formatDay));
  return html`<h1 id="sentence" data-live>${describeChangesCount(found.length, before !== null)}, ${[...days].join(' to ')}</h1>
${await renderFilters(request)}
<section id="rows" data-live>${renderChangeFeed('Changes, newest first', groupChanges(changes), { now, captionExtra: renderFileLinks(PATH, query, { before: null }) })}
<p class="links">${before !== null && html`<a href="${withQuery(PATH, query, { before: null })}">Newest</a>`}
${last !== undefined && html`<a href="${withQuery(PATH, query, { before: String(last.number) })}" rel="next">Older</a>`}</p></section>
<p id="span" class="lead" data-live>Observed from ${renderInstant(changesRequest.since)} to ${renderInstant(changesRequest.until)}. The registry may have changed earlier. Changes undone between two reads are not recorded.</p>
<details><summary>SQL of this page</summary><pre>${newestInSql(reader, changesRequest, before, ROWS)}</pre></details>`;
}

/** Describes the number of changes; newer pages are not counted. */
function describeChangesCount(count: number, isOlder: boolean): string {
  const one = isOlder ? 'older change' : 'change';
  if (count > ROWS) return `More than ${ROWS} ${one}s`;
  if (count === 0) return isOlder ? 'No older changes' : 'No changes';
  return formatCount(count, one);
}

/** Returns common time ranges, as labels and URL values. */
function listPresets(now: number): (readonly [label: string, since: string, until: string])[] {
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

async function renderFilters({ reader, query, now }: PageRequest): Promise<Html> {
  const organizations = await readChoices(reader, 'organizations', null);
  const what = CHANGED.map(value => ({ value, says: value.replaceAll('_', ' ') }));
  return html`<p id="choices" class="choices" data-live>${listPresets(now).map(
    ([label, since, until]) =>
      html`<a href="${withQuery(PATH, query, { since, until, before: null })}"${query.get('since') === since && html` aria-current="true"`}>${label}</a>`,
  )}</p>
${renderFilterBar(PATH, [
  ['since', html`<input name="since" value="${query.get('since')}" placeholder="${SINCE}">`],
  ['until', html`<input name="until" value="${query.get('until')}" placeholder="${UNTIL}">`],
  ['organization', renderChoice('organization_id', organizations, query.get('organization_id'))],
  ['resource', renderChoice('resource', what, query.get('resource'))],
])}`;
}
