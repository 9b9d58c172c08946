import type { Row } from '../../store/contract/tables.js';
import { JOBS } from '../../query/lists/lists.js';
import { readNumbered } from '../../query/lists/read.js';
import { button } from '../actions/button.js';
import type { Page } from '../page.js';
import { facts } from '../components/facts.js';
import { head } from '../components/head.js';
import { html, type Html } from '../components/html.js';
import { JOB_KIND_MEANINGS } from '../components/terms.js';
import { badge } from '../components/words.js';
import { missing } from './by-id.js';

export const JOB: Page = {
  path: '/jobs/:id',
  show: async ask => {
    const job = await readNumbered(ask.reader, JOBS, ask.params['id'] ?? '');
    if (job === null) return missing(JOBS, ask.params['id']);
    const title = `Job ${String(job['id'])}`;
    const body = html`${head(['/jobs', 'Jobs'], `${title}: ${String(job['kind'])}`, html`${badge(String(job['state']))} ${meaningOf(job)}`)}
<section id="facts" class="card" data-live>${facts(job, ask, job['state'] === 'done' ? [...KEPT, 'last_error'] : KEPT)}${acts(job, ask.canAct)}</section>
<section class="card"><details><summary>Technical details</summary>${facts(job, ask)}</details></section>`;
    return { title, body };
  },
};

function meaningOf(job: Row): string {
  const meaning = JOB_KIND_MEANINGS[String(job['kind'])];
  return meaning === undefined ? '' : `This job ${meaning}.`;
}

/** How the queue keeps it. */
const KEPT = ['id', 'kind', 'state', 'dedupe_key', 'payload', 'claim', 'only_duplicates_asked'];

/** A failed job goes on by a person's wish alone; one that is paused by a new sync of its organization. */
function acts(job: Row, canAct: boolean): Html | false {
  if (job['state'] === 'failed') return button(canAct, `/jobs/${String(job['id'])}/retry`, 'Retry');
  const organization = job['organization_id'];
  if (job['state'] !== 'paused' || typeof organization !== 'string') return false;
  return button(canAct, '/read-now', 'Read now', { organization_id: organization });
}
