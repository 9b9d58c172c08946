import {
  CHANGE_COLUMNS,
  CHANGED,
  type ChangeRangeRequest,
  newestInSql,
} from '../../query/history/changes.js';
import { describeTotals } from '../../query/answer/describe-totals.js';
import { collectRows } from '../../query/answer/answer.js';
import { answerChanges, answerNewestChanges } from '../../query/history/answer-changes.js';
import { readChoices } from '../../query/names.js';
import { parseTimeRange } from '../../text/time-range.js';
import { describeWrongWord, findSpelling } from '../../text/spelling.js';
import { findChosenOrganization } from '../filter-fault.js';
import { renderFileLinks, createFilePages } from '../downloads.js';
import type { ConsoleRequest, PageFault, ConsolePage } from '../page.js';
import { renderAnswerNotes } from '../components/answer.js';
import { withQuery } from '../components/as-of.js';
import { createDateField, renderChoice, renderFilterBar } from '../components/filter-bar.js';
import { renderChangeFeed, groupChanges } from '../components/change-feed.js';
import { html, type Html } from '../components/html.js';
import { formatDay, renderInstant } from '../components/instants.js';

/** The changes that a URL asks for. */
interface ChangesPageRequest extends ChangeRangeRequest {
  readonly since: string;
  readonly until: string;
}

const TITLE = 'Changes';
const PATH = '/changes';
const DEFAULT_SINCE = '24h';
const DEFAULT_UNTIL = 'now';
const PAGE_SIZE = 100;
const PARAMETERS = ['since', 'until', 'organization_id', 'resource'];

/** The page of changes between two instants, and its downloads. */
export const CHANGES: readonly ConsolePage[] = [
  {
    path: PATH,
    parameters: [...PARAMETERS, 'before'],
    render: async request => {
      const changesRequest = await parseChangesRequest(request);
      if ('fault' in changesRequest)
        return {
          title: TITLE,
          body: html`<h1>${changesRequest.fault}</h1>${await renderChangeFilters(request)}`,
        };
      return { title: TITLE, body: await renderChanges(request, changesRequest) };
    },
  },
  ...createFilePages('changes', { parameters: PARAMETERS }, async request => {
    const changesRequest = await parseChangesRequest(request);
    if ('fault' in changesRequest) return changesRequest;
    const answer = await answerChanges(request.reader, changesRequest, null);
    return { rows: answer.rows, columns: CHANGE_COLUMNS, notes: answer };
  }),
];

/**
 * Parses the time range, resource and organization of the page of changes from its URL. Returns an error message for the visitor (a
 * fault) if a value is invalid.
 */
async function parseChangesRequest({
  reader,
  query,
  now,
}: ConsoleRequest): Promise<ChangesPageRequest | PageFault> {
  const since = parseTimeRange(query.get('since') || DEFAULT_SINCE, now);
  const until = parseTimeRange(query.get('until') || DEFAULT_UNTIL, now);
  if ('fault' in since) return since;
  if ('fault' in until) return until;
  if (since.since > until.until)
    return { fault: `The range ends at ${until.until}, before it starts at ${since.since}.` };
  const chosenResource = query.get('resource') || null;
  const resource = chosenResource === null ? null : findSpelling(chosenResource, CHANGED);
  if (chosenResource !== null && resource === null)
    return { fault: describeWrongWord(chosenResource, CHANGED) };
  const organizationId = await findChosenOrganization(reader, query);
  if (organizationId !== null && typeof organizationId !== 'string') return organizationId;
  return {
    organizationId,
    resource,
    since: since.since,
    until: until.until,
  };
}

/** Renders one page of changes of rows, newest first, with links to the newest and to older changes, and with its SQL query. */
async function renderChanges(request: ConsoleRequest, changesRequest: ChangesPageRequest): Promise<Html> {
  const { reader, query, now } = request;
  const cursor = query.get('before') ?? '';
  const before = /^\d{1,15}$/.test(cursor) ? Number(cursor) : null;
  const answer = await answerNewestChanges(reader, changesRequest, { before, limit: PAGE_SIZE });
  const { totals, next } = answer;
  const changes = await collectRows(answer.rows);
  const days = new Set([changesRequest.since, changesRequest.until].map(formatDay));
  return html`<div class="head"><h1 id="sentence" data-live>${describeTotals(totals, before === null ? 'change' : 'older change')}, ${[...days].join(' to ')}</h1>
${await renderChangeFilters(request)}</div>
${renderAnswerNotes(answer, now)}
<section id="rows" data-live>${renderChangeFeed('Changes, newest first', groupChanges(changes), { now, captionExtra: renderFileLinks(PATH, query, { before: null }) })}
<p class="links">${before !== null && html`<a href="${withQuery(PATH, query, { before: null })}">Newest</a>`}
${next !== null && html`<a href="${withQuery(PATH, query, { before: String(next) })}" rel="next">Older</a>`}</p></section>
<p id="span" class="lead" data-live>Observed from ${renderInstant(changesRequest.since)} to ${renderInstant(changesRequest.until)}. The registry may have changed earlier. Changes undone between two reads are not recorded.</p>
<details><summary>SQL of this page</summary><pre>${newestInSql(reader, changesRequest, before, PAGE_SIZE)}</pre></details>`;
}

interface TimeRangePreset {
  readonly label: string;
  readonly since: string;
  readonly until: string;
}

/** Returns the predefined time ranges of the page, such as "Last quarter". */
function listTimeRangePresets(now: number): readonly TimeRangePreset[] {
  const [year, month] = [new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()];
  const formatMonthOfYear = (index: number) => new Date(Date.UTC(year, index, 1)).toISOString().slice(0, 7);
  const lastQuarter = month - (month % 3) - 3;
  const lastYear = String(year - 1);
  return [
    { label: 'Today', since: new Date(now).toISOString().slice(0, 10), until: DEFAULT_UNTIL },
    { label: 'This month', since: formatMonthOfYear(month), until: DEFAULT_UNTIL },
    {
      label: 'Last quarter',
      since: formatMonthOfYear(lastQuarter),
      until: formatMonthOfYear(lastQuarter + 2),
    },
    { label: lastYear, since: lastYear, until: lastYear },
  ];
}

/** Renders the links to predefined time ranges, such as "Last quarter", and the filter form of the page of changes. */
async function renderChangeFilters({ reader, query, now }: ConsoleRequest): Promise<Html> {
  const organizations = await readChoices(reader, 'organizations', null);
  const resources = CHANGED.map(value => ({ value, label: value.replaceAll('_', ' ') }));
  return html`<span id="choices" class="choices" data-live>${listTimeRangePresets(now).map(
    ({ label, since, until }) =>
      html`<a href="${withQuery(PATH, query, { since, until, before: null })}"${query.get('since') === since && html` aria-current="true"`}>${label}</a>`,
  )}</span>
${renderFilterBar(PATH, [
  createDateField({ query, now }, 'since', { edge: 'start', example: DEFAULT_SINCE }),
  createDateField({ query, now }, 'until', { edge: 'end', example: DEFAULT_UNTIL }),
  {
    label: 'organization',
    input: renderChoice('organization_id', organizations, query.get('organization_id')),
  },
  { label: 'resource', input: renderChoice('resource', resources, query.get('resource')) },
])}`;
}
