import type { Row } from '../../engines/contract/tables.js';
import { readJob } from '../../query/inbox.js';
import { type Ask, page, type Shown } from '../page.js';
import { facts } from '../parts/facts.js';
import { html } from '../parts/html.js';
import { badge, shown } from '../parts/words.js';

const NUMBER = /^\d{1,15}$/;

export const JOB = page('/jobs/:id', read, show);

async function read({ reader, params }: Ask): Promise<Row | null> {
  const { id = '' } = params;
  return NUMBER.test(id) ? await readJob(reader, Number(id)) : null;
}

function show(job: Row, { now }: Ask): Shown {
  const id = String(job['id']);
  const body = html`<h1 id="sentence" data-live>Job ${id}: ${shown(job['kind'])} ${badge(String(job['state']))}</h1>
<section id="facts" data-live>${facts(job, now)}</section>`;
  return { title: `Job ${id}`, body };
}
