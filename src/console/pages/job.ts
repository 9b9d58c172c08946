import type { Row } from '../../store/contract/tables.js';
import { JOBS } from '../../query/lists/lists.js';
import { readNumbered } from '../../query/lists/read.js';
import { renderButton } from '../actions/button.js';
import type { ConsolePage } from '../page.js';
import { renderRowFacts } from '../components/facts.js';
import { renderPageHead } from '../components/head.js';
import { html, type Html } from '../components/html.js';
import { JOB_KIND_MEANINGS } from '../components/terms.js';
import { renderBadge } from '../components/formats.js';
import { reportMissing } from './by-id.js';

export const JOB: ConsolePage = {
  path: '/jobs/:id',
  render: async request => {
    const job = await readNumbered(request.reader, JOBS, request.params['id'] ?? '');
    if (job === null) return reportMissing(JOBS, request.params['id']);
    const title = `Job ${String(job['id'])}`;
    const body = html`${renderPageHead(['/jobs', 'Jobs'], `${title}: ${String(job['kind'])}`, html`${renderBadge(String(job['state']))} ${describeKind(job)}`)}
<section id="facts" class="card" data-live>${renderRowFacts(job, request, job['state'] === 'done' ? [...QUEUE_COLUMNS, 'last_error'] : QUEUE_COLUMNS)}${renderJobButton(job, request.canAct)}</section>
<section class="card"><details><summary>Technical details</summary>${renderRowFacts(job, request)}</details></section>`;
    return { title, body };
  },
};

function describeKind(job: Row): string {
  const meaning = JOB_KIND_MEANINGS[String(job['kind'])];
  return meaning === undefined ? '' : `This job ${meaning}.`;
}

/** Columns shown under the technical details only. */
const QUEUE_COLUMNS = ['id', 'kind', 'state', 'dedupe_key', 'payload', 'claim', 'only_duplicates_asked'];

/** Renders the button that continues a job: retry for a failed one, a new read for a paused one. */
function renderJobButton(job: Row, canAct: boolean): Html | false {
  if (job['state'] === 'failed') return renderButton(canAct, `/jobs/${String(job['id'])}/retry`, 'Retry');
  const organization = job['organization_id'];
  if (job['state'] !== 'paused' || typeof organization !== 'string') return false;
  return renderButton(canAct, '/read-now', 'Read now', { organization_id: organization });
}
