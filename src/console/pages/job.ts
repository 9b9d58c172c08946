import type { Row } from '../../store/contract/tables.js';
import { JOBS } from '../../query/lists/lists.js';
import { readNumbered } from '../../query/lists/read.js';
import { button } from '../actions/button.js';
import { type Ask, page, type Shown } from '../page.js';
import { facts } from '../components/facts.js';
import { head } from '../components/head.js';
import { html, type Html } from '../components/html.js';
import { badge, shown } from '../components/words.js';

const NUMBER = /^\d{1,15}$/;

export const JOB = page('/jobs/:id', read, show);

async function read({ reader, params }: Ask): Promise<Row | null> {
  const { id = '' } = params;
  return NUMBER.test(id) ? await readNumbered(reader, JOBS, Number(id)) : null;
}

function show(job: Row, { now, canAct }: Ask): Shown {
  const id = String(job['id']);
  const body = html`${head(['/jobs', 'Jobs'], html`Job ${id}: ${shown(job['kind'])}`, badge(String(job['state'])))}
<section id="facts" class="card" data-live>${facts(job, { now })}${acts(job, canAct)}</section>`;
  return { title: `Job ${id}`, body };
}

/** A failed job goes on by a person's wish alone; one that is paused by a new sync of its organization. */
function acts(job: Row, canAct: boolean): Html | false {
  if (job['state'] === 'failed') return button(canAct, `/jobs/${String(job['id'])}/retry`, 'Try it again');
  const organization = job['organization_id'];
  if (job['state'] !== 'paused' || typeof organization !== 'string') return false;
  return button(canAct, '/read-now', 'Read now', { organization_id: organization });
}
