import type { Row } from '../../engines/contract/tables.js';
import { type DeliveryDetail, readDelivery } from '../../query/inbox.js';
import { type Ask, page, type Shown } from '../page.js';
import { asSent, facts } from '../parts/facts.js';
import { html, type Html } from '../parts/html.js';
import { badge, shown } from '../parts/words.js';

const NUMBER = /^\d{1,15}$/;

export const DELIVERY = page('/deliveries/:id', read, show);

async function read({ reader, params }: Ask): Promise<DeliveryDetail | null> {
  const { id = '' } = params;
  return NUMBER.test(id) ? await readDelivery(reader, Number(id)) : null;
}

function show({ delivery, signedData }: DeliveryDetail, { now }: Ask): Shown {
  const body = html`<h1 id="sentence" data-live>Delivery ${shown(delivery['id'])}: ${shown(delivery['event'])} ${badge(String(delivery['verdict']))}</h1>
<section id="life" data-live>${life(delivery)}${facts(delivery, now, ['digest', 'text_id'])}</section>
${signedData === null ? html`<p>Its text is no longer kept.</p>` : asSent('The signed text', decoded(signedData))}`;
  return { title: `Delivery ${String(delivery['id'])}`, body };
}

function life(delivery: Row): Html {
  const job = delivery['job_id'];
  if (job === null) return html`<p>It asked for nothing: ${shown(delivery['reason'])}</p>`;
  return html`<p><a href="/jobs/${shown(job)}">Job ${shown(job)}</a> answers it: ${badge(String(delivery['final_state'] ?? delivery['job_state'] ?? 'unknown'))} ${shown(delivery['outcome'])}</p>`;
}

/** What was signed is base64 of a text; where it is none, it is shown as it came. */
function decoded(signedData: string): string {
  const text = Buffer.from(signedData, 'base64').toString();
  return text.includes('\uFFFD') || text === '' ? signedData : text;
}
