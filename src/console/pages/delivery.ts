import type { Row } from '../../store/contract/tables.js';
import { readSignedText, readSyncsOf } from '../../query/inbox/deliveries.js';
import { DELIVERIES } from '../../query/lists/lists.js';
import { readNumbered } from '../../query/lists/read.js';
import { button } from '../actions/button.js';
import type { Ask, Page, Shown } from '../page.js';
import { asSent, facts } from '../components/facts.js';
import { head } from '../components/head.js';
import { html } from '../components/html.js';
import { badge, shown } from '../components/words.js';
import { missing } from './by-id.js';
import { effectsOf, isWhole, life } from './delivery-timeline.js';

export const DELIVERY: Page = {
  path: '/deliveries/:id',
  show: async ask => {
    const delivery = await readNumbered(ask.reader, DELIVERIES, ask.params['id'] ?? '');
    return delivery === null ? missing(DELIVERIES, ask.params['id']) : await show(delivery, ask);
  },
};

async function show(delivery: Row, { reader, now, canAct }: Ask): Promise<Shown> {
  const { id, event, organization_name: owner, verdict, end } = delivery;
  const { job_id: own, merged_into: merged, organization_id: organizationId, job_state: state } = delivery;
  const jobId = merged ?? own;
  const isOpen = typeof state === 'string' && state !== 'done';
  /** None where it asked for nothing, or nobody knows yet whose it is. */
  const reads =
    typeof jobId === 'number' && typeof organizationId === 'string'
      ? await readSyncsOf(reader, organizationId, jobId)
      : [];
  const signedData = await readSignedText(reader, delivery);
  const title = `${String(event ?? 'Delivery')}${owner === null ? '' : ` of ${String(owner)}`}`;
  const effects = reads.every(isWhole) ? effectsOf(reads) : [];
  const came = effects.length > 0 ? effects.join(', ') : end;
  const body = html`${head(['/deliveries', 'Deliveries'], title, html`${badge(String(verdict))}${isOpen && badge(state)} Delivery ${shown(id)}${came !== null && html`: ${shown(came)}`}`)}
<div class="columns"><section id="life" class="card" data-live><h2>Timeline</h2>${life(delivery, reads, now)}
${typeof organizationId === 'string' && button(canAct, '/read-now', 'Read now', { organization_id: organizationId })}</section>
<div class="stack"><section id="came" class="card" data-live><h2>Payload</h2>${facts(delivery, { now }, WITHOUT)}</section>
<section class="card"><details><summary>Technical details</summary>${facts(delivery, { now })}</details>
${signedData === null ? html`<p>The signed text was deleted after its retention period.</p>` : asSent('Signed text', decoded(signedData))}</section></div></div>`;
  return { title: `Delivery ${String(id)}`, body };
}

/** What stands above it and in the timeline, and how it is kept. */
const WITHOUT =
  'id received_at signed_text_sha256 stored_text_id end verdict ignored_reason outcome secret_index job_id job_state claim started_at finished_at'.split(
    ' ',
  );

/** What was signed is base64 of a text; where it is none, it is shown as it came. */
function decoded(signedData: string): string {
  const text = Buffer.from(signedData, 'base64').toString();
  return text.includes('\uFFFD') || text === '' ? signedData : text;
}
