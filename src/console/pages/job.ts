import type { Row } from '../../store/contract/tables.js';
import { readSyncsOfJob } from '../../query/inbox/deliveries.js';
import { JOBS } from '../../query/lists/list-definitions.js';
import { readNumbered } from '../../query/lists/read-rows.js';
import { type ButtonVisitor, renderButton } from '../actions/button.js';
import type { ConsolePage } from '../page.js';
import { renderRowFacts } from '../components/row-facts.js';
import { renderPageHead, renderTimeline, type TimelineEntry } from '../components/detail-page.js';
import { html, type Html } from '../components/html.js';
import { JOB_KIND_MEANINGS } from '../components/glossary.js';
import { renderAge, renderInstant } from '../components/instants.js';
import { findStateColour, renderBadge } from '../components/badges.js';
import { getText } from '../components/table-cell.js';
import { describeReads, formatElapsed } from './delivery-timeline.js';
import { describeNotFound } from './redirect-by-id.js';

/** The page of a job: what it does, and a timeline from its request to the changes. */
export const JOB: ConsolePage = {
  path: '/jobs/:id',
  render: async request => {
    const { reader, now } = request;
    const job = await readNumbered(reader, JOBS, request.params['id'] ?? '');
    if (job === null) return describeNotFound(JOBS, request.params['id']);
    const [organizationId, organizationName] = [
      getText(job, 'organization_id'),
      getText(job, 'organization_name'),
    ];
    const syncs =
      organizationId === null ? [] : await readSyncsOfJob(reader, organizationId, Number(job['id']));
    const state = String(job['state']);
    const owner = organizationName ?? organizationId;
    const title = `Job ${String(job['id'])}: ${String(job['kind'])}${owner === null ? '' : ` of ${owner}`}`;
    const lead = html`${state !== 'done' && renderBadge(state)} ${describeJobKind(job)}`;
    const timeline = renderTimeline([...listJobEvents(job, now), ...describeReads(syncs, state)]);
    const body = html`${renderPageHead({ href: '/jobs', title: 'Jobs' }, title, lead)}
<div class="columns"><section id="life" class="card" data-live><h2>Timeline</h2>${timeline}
${renderJobButton(job, request)}</section>
<div class="stack"><section id="facts" class="card" data-live><h2>Details</h2>${renderRowFacts(job, request, TECHNICAL_COLUMNS)}</section>
<section class="card"><details><summary>Technical details</summary>${renderRowFacts(job, request)}</details></section></div></div>`;
    return { title, body };
  },
};

/** Returns a sentence about the kind of a job, such as "This job reads one organization." */
function describeJobKind(job: Row): string {
  const meaning = JOB_KIND_MEANINGS[String(job['kind'])];
  return meaning === undefined ? '' : `This job ${meaning}.`;
}

/** Columns shown in the title and the timeline, or under the technical details only. */
const TECHNICAL_COLUMNS =
  'id kind state dedupe_key payload claim only_duplicates_asked created_at run_at started_at finished_at last_error outcome end'.split(
    ' ',
  );

/** Words for the origin of a job, by its trigger. */
const REQUESTED_BY: Readonly<Record<string, string>> = {
  delivery: 'by a delivery',
  schedule: 'by the schedule',
  worker: 'by the worker',
  person: 'by a person',
};

/** Returns the timeline entries of a job, from its request to its end. */
function listJobEvents(job: Row, now: number): TimelineEntry[] {
  const [createdAt, startedAt, finishedAt] = ['created_at', 'started_at', 'finished_at'].map(column =>
    getText(job, column),
  );
  const state = String(job['state']);
  const createEvent = (
    name: string,
    at: string | null | undefined,
    details: string,
    colour: TimelineEntry['colour'] = 'good',
  ): TimelineEntry[] =>
    at === null || at === undefined
      ? []
      : [
          {
            colour,
            title: html`<strong>${name}</strong> ${renderInstant(at)}`,
            details: html`${renderAge(at, now)}${details !== '' && `, ${details}`}`,
          },
        ];
  const wait = formatElapsed(createdAt ?? '', startedAt ?? '');
  const error = getText(job, 'last_error');
  const isUpcoming = state === 'waiting' || state === 'paused';
  return [
    ...createEvent('Requested', createdAt, REQUESTED_BY[String(job['trigger'])] ?? ''),
    ...createEvent(
      'Started',
      startedAt,
      `attempt ${String(job['attempts'])}${wait === null ? '' : ` after ${wait}`}`,
    ),
    ...createEvent(
      END_NAMES[state] ?? 'Finished',
      finishedAt,
      state === 'done' ? (getText(job, 'end') ?? '') : (error ?? ''),
      findStateColour(state),
    ),
    ...createEvent(
      state === 'paused' ? 'Paused until' : 'Scheduled for',
      isUpcoming ? getText(job, 'run_at') : null,
      getText(job, 'end') ?? '',
      findStateColour(state),
    ),
  ];
}

const END_NAMES: Readonly<Record<string, string>> = { done: 'Done', failed: 'Failed' };

/** Renders the button "Retry" for a failed job or "Read now" for a paused job. Returns false for any other job. */
function renderJobButton(job: Row, visitor: ButtonVisitor): Html | false {
  if (job['state'] === 'failed') return renderButton(visitor, `/jobs/${String(job['id'])}/retry`, 'Retry');
  const organizationId = job['organization_id'];
  if (job['state'] !== 'paused' || typeof organizationId !== 'string') return false;
  return renderButton(visitor, '/read-now', 'Read now', { organization_id: organizationId });
}
