import type { Row } from '../../store/contract/tables.js';
import { JOBS } from '../../query/lists/lists.js';
import { readNumbered } from '../../query/lists/rows.js';
import { type ButtonVisitor, renderButton } from '../actions/button.js';
import type { ConsolePage } from '../page.js';
import { renderRowFacts } from '../components/row-facts.js';
import { renderPageHead } from '../components/detail-page.js';
import { html, type Html } from '../components/html.js';
import { JOB_KIND_MEANINGS } from '../components/glossary.js';
import { renderBadge } from '../components/state-badge.js';
import { describeNotFound } from './redirect-by-id.js';

/** The page of a job: what it does, its state and its last error. */
export const JOB: ConsolePage = {
  path: '/jobs/:id',
  render: async request => {
    const job = await readNumbered(request.reader, JOBS, request.params['id'] ?? '');
    if (job === null) return describeNotFound(JOBS, request.params['id']);
    const title = `Job ${String(job['id'])}`;
    const lead = html`${renderBadge(String(job['state']))} ${describeJobKind(job)}`;
    const hiddenColumns = job['state'] === 'done' ? [...TECHNICAL_COLUMNS, 'last_error'] : TECHNICAL_COLUMNS;
    const body = html`${renderPageHead({ href: '/jobs', title: 'Jobs' }, `${title}: ${String(job['kind'])}`, lead)}
<section id="facts" class="card" data-live>${renderRowFacts(job, request, hiddenColumns)}${renderJobButton(job, request)}</section>
<section class="card"><details><summary>Technical details</summary>${renderRowFacts(job, request)}</details></section>`;
    return { title, body };
  },
};

/** Returns a sentence such as "This job reads one organization." */
function describeJobKind(job: Row): string {
  const meaning = JOB_KIND_MEANINGS[String(job['kind'])];
  return meaning === undefined ? '' : `This job ${meaning}.`;
}

/** Columns shown in the title, or under the technical details only. */
const TECHNICAL_COLUMNS = ['id', 'kind', 'state', 'dedupe_key', 'payload', 'claim', 'only_duplicates_asked'];

/** Renders the button "Retry" for a failed job or "Read now" for a paused job. Returns false for any other job. */
function renderJobButton(job: Row, visitor: ButtonVisitor): Html | false {
  if (job['state'] === 'failed') return renderButton(visitor, `/jobs/${String(job['id'])}/retry`, 'Retry');
  const organizationId = job['organization_id'];
  if (job['state'] !== 'paused' || typeof organizationId !== 'string') return false;
  return renderButton(visitor, '/read-now', 'Read now', { organization_id: organizationId });
}
